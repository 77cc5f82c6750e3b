export { checkInvariants } from './check.js';
export type { Outcome } from './invariant.js';
export { checkRebuildable } from './rebuildable.js';
