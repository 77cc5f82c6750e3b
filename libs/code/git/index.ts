export { git, type GitCall, GitError, gitSays, gitText } from './process/git.js';
export { gitVersion, whyNoGit } from './process/version.js';
export { JAIL_FOLDERS, type JailProgram } from './process/jail.js';
export {
  push,
  type PushEnd,
  type PushedRef,
  type ReachedRemote,
  readRefs,
  type Remote,
  type RemoteCredentials,
  withRemote,
} from './remote/remote.js';
export { CheckedOut } from './remote/checked-out.js';
export { RemoteUnavailable, UnusableRepository } from './remote/unusable.js';
export { Mirror } from './repository/mirror.js';
export { withLock } from './repository/folder-lock.js';
export { commitOf, makeBare } from './repository/folders.js';
export { MAX_PUSH_MB, RunRepository } from './repository/run-repository.js';
export { whyUnsupported } from './repository/unsupported.js';
export type { CommitWords } from './work/create-commit.js';
export { Snapshots } from './work/snapshots.js';
export { checkOutClean, type Identity, makeWorkFolder } from './work/work-folder.js';
export {
  changedWithin,
  changedWithMarks,
  type ChangeSize,
  MAX_PATCH_BYTES,
  measureChange,
  mergeBase,
  patchOf,
} from './landing/diff.js';
export { type Integrated, integrate, type MergeMethod } from './landing/integrate.js';
export {
  type ChangeRefs,
  findLanded,
  land,
  type Landed,
  type LandingChange,
  type LandingParts,
  type RedProof,
  removeRefs,
  type TargetEnd,
  type Wait,
  whyUnproven,
} from './landing/land.js';
export { mergeTarget, type TargetMerge } from './landing/merge-target.js';
export { type Admission, GitProxy, type GitProxyOptions } from './proxy/git-proxy.js';
