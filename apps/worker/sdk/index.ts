export { FinalError, ProviderLimitError, RunStopped } from './errors.js';
export type {
  AnyTaskHandler,
  JsonObject,
  Question,
  StopOrder,
  Task,
  TaskContext,
  TaskHandler,
  TaskLog,
  Usage,
  WorkerOptions,
} from './types.js';
export { Worker } from './worker.js';
