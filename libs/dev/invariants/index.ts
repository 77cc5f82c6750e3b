export { checkArtifactFiles } from './checks/artifact-files.js';
export { checkInvariants } from './checks/check.js';
export type { Outcome } from './checks/invariant.js';
export { checkRebuildable } from './checks/rebuildable.js';
