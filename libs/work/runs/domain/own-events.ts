/**
 * Events of a task's log that only the server writes. An agent that could write them would forge
 * history.
 */
export const OWN_EVENTS = [
  'task_created',
  'task_updated',
  'state_transition',
  'dependencies_changed',
  'dependencies_met',
  'progress_update',
  'checkpoint',
  'session_output',
  'hung_warning',
  'question_asked',
  'question_answered',
  'question_expired',
  'budget_alert',
  'split_brain_conflict',
  'state_repaired',
  'log_limit_reached',
] as const;
