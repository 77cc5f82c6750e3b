import { join } from 'node:path';
import { projectRoot } from '#lib/kernel';

/** The folders of installed agents, as `npm start` and `drover agent install` have them. */
export const AGENTS = process.env['DROVER_AGENTS'] || join(projectRoot, '.cache', 'agents');
