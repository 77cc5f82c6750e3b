import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../shared/project.js';
import { renderedSettings } from './table.js';

writeFileSync(join(projectRoot, 'docs', 'settings.md'), renderedSettings(projectRoot));
