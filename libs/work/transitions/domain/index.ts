export {
  AGENT_LIFECYCLES,
  AGENT_STATUSES,
  type AgentLifecycle,
  type AgentStatus,
  legalAgentTransitions,
} from './agent-state.js';
export {
  errorAlone,
  type FailureClass,
  type RetryPolicy,
  FAILURE_CLASSES,
  type RunFailure,
} from './failure.js';
export { type LockedTask } from './locked-task.js';
export { type Transition, type RunTransition } from './transition.js';
export { planFailure, type FailurePlan } from './failure-handling.js';
export { planFreeRelease, planRelease, type ReleasePlan } from './release.js';
export { LIVE_RUN_STATES, type RunState, RUN_STATES } from './run-state.js';
export {
  TASK_EDGES,
  TASK_PHASES,
  TASK_STATUSES,
  legalTaskTransitions,
  type TaskStatus,
  mayTransition,
  ABORT_REASONS,
  type AbortReason,
  PAUSED_FOR,
  type PausedFor,
} from './task-state.js';
