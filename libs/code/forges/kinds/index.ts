import type { ForgeName } from '../domain/forge-names.js';
import type { Forge, ForgeParts } from './forge.js';
import { gitea } from './gitea.js';
import { github } from './github.js';

/** The forges that Drover knows. */
export const KINDS: Record<Exclude<ForgeName, 'none'>, (parts: ForgeParts) => Forge> = {
  gitea,
  github,
};
