export { checkInvariants, INVARIANTS } from './check.js';
export type { Invariant, Outcome, Violation } from './invariant.js';
export { checkRebuildable, type ValkeyPlace } from './rebuildable.js';
