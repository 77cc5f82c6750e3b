export { LIVE_RUN_STATES, RUN_EDGES, type RunState } from './domain/run-state.js';
export { TASK_EDGES, TASK_STATUSES, type TaskStatus } from './domain/task-state.js';
export { type FailureClass } from './domain/failure.js';
export type { Allowance } from './domain/plan-assignments.js';
export { type SpawnAllowance, TaskAssignment } from './assignment/task-assignment.js';
export type { SpawnFacts } from './domain/explain-facts.js';
export { SpawnOutlook, type SpawnOutlookSource } from './queries/spawn-outlook.js';
export { LostSessions } from './recovery/lost-sessions.js';
export { Claiming } from './runs/claiming.js';
export { hasNews, warnedIn } from './runs/news.js';
export { RunReports } from './runs/run-reports.js';
export type { Reporter } from './runs/reporter.js';
export {
  EVERYWHERE,
  type Finding,
  type StateSweeps,
  type SweepScope,
  type Swept,
  type TaskSweeps,
} from './recovery-port.js';
export { together } from './recovery/swept.js';
export { StateRecovery } from './recovery/state-recovery.js';
export { noteConflictsOfSessions } from './store/conflicts.sql.js';
export { pruneCapabilitySets } from './store/prune-capability-sets.sql.js';
export { TaskParking } from './parking/task-parking.js';
export { TaskRecovery } from './recovery/task-recovery.js';
export { type HeldRow, HeldSecrets } from './sealing/held-secrets.js';
export { Resealing, type Resealed } from './sealing/resealing.js';
export { TaskSealer } from './sealing/task-sealer.js';
export { TaskManagerModule } from './task-manager.module.js';
