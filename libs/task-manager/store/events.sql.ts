const TASK_EVENT = `SELECT workspace_id, 'task.status_changed', 'task', id, version, jsonb_build_object(
    'event', 'task.status_changed', 'taskId', id, 'previousStatus', previous_status, 'newStatus', status,
    'workspaceId', workspace_id, 'timestamp', now(), 'version', version, 'runId', run_id,
    'agentId', agent_id, 'reason', reason, 'retryAt', retry_at) FROM task_moved`;

const RUN_EVENT = `SELECT workspace_id, 'run.state_changed', 'run', id, version, jsonb_build_object(
    'event', 'run.state_changed', 'runId', id, 'taskId', task_id, 'agentId', agent_id,
    'generation', generation, 'previousState', previous_state, 'newState', state,
    'workspaceId', workspace_id, 'timestamp', now(), 'version', version, 'reason', end_reason) FROM run_moved`;

/** One event for each move of the task door and of the run door, in one INSERT: both doors' last CTE. */
export const ANNOUNCED = `announced AS (
  INSERT INTO outbox_events (workspace_id, type, subject_kind, subject_id, subject_version, payload)
  ${TASK_EVENT}
  UNION ALL
  ${RUN_EVENT}
)`;
