export * from './domain/index.js';
export type {
  CommitStatus,
  Forge,
  ForgeCheck,
  ForgeChecks,
  ForgeEvent,
  ForgeFinding,
  LineComment,
  MergeEnd,
  PullRequest,
  StatusState,
  WantedOfForge,
} from './kinds/forge.js';
export { STATUS_NAME } from './kinds/forge.js';
export { ForgeRefusal, ForgeUnavailable } from './requests/failures.js';
export { ForgeLimits } from './requests/polite-fetch.js';
export { type ForgeAccess, openForge } from './requests/open-forge.js';
export {
  type End,
  finish,
  type FoundPullRequest,
  refuseOtherTarget,
  synchronise,
  unlessMissing,
  type WantedPullRequest,
} from './syncing/synchronise.js';
export { type Unchecked, whyUnchecked } from './syncing/required-checks.js';
