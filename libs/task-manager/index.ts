export { LIVE_RUN_STATES, RUN_EDGES, type RunState } from './domain/run-state.js';
export { TASK_EDGES, TASK_STATUSES, type TaskStatus } from './domain/task-state.js';
export type { Swept, TaskSweeps } from './recovery-port.js';
export { TaskRecovery } from './recovery/task-recovery.js';
export { TaskManagerModule } from './task-manager.module.js';
