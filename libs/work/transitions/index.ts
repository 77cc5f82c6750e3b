export * from './domain/index.js';
export { agentTransition } from './store/agent-transition.sql.js';
export { journaled, journalRow, logLine } from './store/journal.sql.js';
export {
  awaitsRetry,
  capabilityKeyOf,
  endedBadly,
  endedWell,
  DEADLINE_GRACE,
  hasDeadline,
  isCancellation,
  isOverdue,
  isPausedForResource,
  isClosed,
  isAtWork,
  isInFleet,
  isLeased,
  isLiveRun,
  isOpen,
  isOver,
  isReady,
  isSuspended,
  isUnserved,
  isWaiting,
  keyWith,
  mayHaveRun,
  mayStillRun,
  heartbeatExpected,
  livesByHeartbeats,
  NO_HEARTBEAT,
  promisesHeartbeat,
  promisesNoHeartbeat,
  serves,
  suspendedKey,
  waitsForAnswer,
  waitsForReview,
  unmetWith,
} from './store/conditions.sql.js';
export {
  BUDGET_RECOUNT,
  HELD_COLUMNS,
  HOLDS_GIVEN_UP,
  HOLDS_NOTED,
  isActiveBudget,
  scopesOf,
  takeHolds,
} from './store/holds.sql.js';
export { isInUse } from './store/is-in-use.sql.js';
export { TASK_COUNTS, type TaskCounts } from './store/task-counts.sql.js';
export { lockLeasedTask } from './store/leased-tasks.sql.js';
export { detachRuns } from './store/detach-runs.sql.js';
export { lockTasks, LOCKED_TASK_COLUMNS } from './store/lock-tasks.sql.js';
export { type TransitionedAgent } from './store/transition-agents.sql.js';
export { transitionAgent, transitionAgents } from './store/transition-agents.js';
export { applyTransitions, applyPlans } from './store/apply-transitions.js';
export { asFew, asFilter } from './store/plan-hints.sql.js';
export {
  runStart,
  runTransition,
  runMayGo,
  AGENT_RECOUNT,
  runTransitionWithoutEnd,
} from './store/run-transition.sql.js';
export { recordOfChange } from './store/task-changed.sql.js';
export { taskTransition } from './store/task-transition.sql.js';
export {
  countByWorkspace,
  EVERYWHERE,
  type Finding,
  NOTHING,
  type SweepResult,
  sweepResult,
  type SweepScope,
  together,
  wakeClaims,
} from './sweeps/sweeps.js';
