export * from './drivers/driver.js';
export { DRIVER_KINDS, Drivers } from './drivers/drivers.js';
export { cleanText, copyStart, shorten } from './output/clean-text.js';
export { keepLine, keepText, type KeptLine, MAX_LINE } from './output/kept-line.js';
export { LineSplitter } from './output/line-splitter.js';
export { Redactor, secretsIn } from './output/redactor.js';
export {
  describeExit,
  MAX_MESSAGE,
  reportsFullHeap,
  wasRefusedSpace,
} from './process/exit-facts.js';
export {
  type AbandonedOptions,
  makeOwned,
  makeOwnedTemporary,
  removeAbandoned,
} from './process/owned-folder.js';
export {
  isAlive,
  killTree,
  listProcesses,
  ownRef,
  type ProcessRef,
  readProcess,
} from './process/process-tree.js';
export {
  type AccountRange,
  type Accounts,
  accountsIn,
  accountWithin,
  whyNoAccounts,
} from './process/accounts.js';
export { bootId as machineBootId, type SessionUser } from './process/session-folder.js';
export { addFileBelow } from './files/add-file-below.js';
export {
  copyFileBelow,
  type FilesBelow,
  listFilesBelow,
  markFileBelow,
  readFileBelow,
} from './files/folder-files.js';
export { readRegularFile } from './files/regular-file.js';
export { removeTree } from './files/remove-tree.js';
export type { SessionSignal } from './files/signals-file.js';
export { countsBySandbox } from './sandbox/apply-limits.js';
export { type ControlGroups, findGroups } from './sandbox/control-group.js';
export {
  capLimits,
  LOWEST_LIMITS,
  NO_LIMITS,
  readLimits,
  type SessionLimits,
} from './sandbox/limits.js';
export { findQuotas, type FolderQuotas } from './sandbox/folder-quota.js';
export { measureFolder } from './sandbox/folder-size.js';
export { listenForSession } from './sandbox/listen-for-session.js';
export { whyNoSession } from './sandbox/open-sandbox.js';
export type { Sandbox, SandboxProgram } from './sandbox/sandbox.js';
