export { cleanText, copyStart, shorten } from './output/clean-text.js';
export { LineSplitter } from './output/line-splitter.js';
export { looksSecret, Redactor, secretsIn } from './output/redactor.js';
export { tellingLine } from './output/telling-line.js';
export { Throttle } from './output/throttle.js';
export { endStrays, type Strays } from './process/end-strays.js';
export { signalOf, tellsOfFullHeap } from './process/exit-facts.js';
export { countOomKills } from './process/oom-evidence.js';
export { ProcessRuntime, type ProcessRuntimeOptions } from './process/process-runtime.js';
export {
  isAlive,
  killTree,
  listProcesses,
  membersOf,
  type ProcessInfo,
  type ProcessRef,
  type ProcessTree,
  readProcess,
  signalTree,
} from './process/process-tree.js';
export type { SessionUser } from './process/session-folder.js';
export { explainSpawnFailure, type SpawnFailure } from './process/spawn-failure.js';
export { readRegularFile, type RegularFile } from './regular-file.js';
export { removeTree } from './remove-tree.js';
export * from './runtime.js';
export { appendSignal, type SessionSignal } from './signals-file.js';
