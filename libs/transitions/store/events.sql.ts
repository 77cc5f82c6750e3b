const TASK_EVENT = `SELECT workspace_id, 'task.status_changed', 'task', id, version, jsonb_build_object(
    'event', 'task.status_changed', 'taskId', id, 'previousStatus', previous_status, 'newStatus', status,
    'workspaceId', workspace_id, 'timestamp', now(), 'version', version, 'runId', run_id,
    'agentId', agent_id, 'reason', reason, 'retryAt', retry_at) FROM task_moved`;

const RUN_EVENT = `SELECT workspace_id, 'run.state_changed', 'run', id, version, jsonb_build_object(
    'event', 'run.state_changed', 'runId', id, 'taskId', task_id, 'agentId', agent_id,
    'generation', generation, 'previousState', previous_state, 'newState', state,
    'workspaceId', workspace_id, 'timestamp', now(), 'version', version, 'reason', end_reason) FROM run_moved`;

const SOURCES = {
  tasks: TASK_EVENT,
  runs: RUN_EVENT,
  both: `${TASK_EVENT}\n  UNION ALL\n  ${RUN_EVENT}`,
};

/** The last CTE of a statement that went through the doors: one event for each row that they moved. */
export function announced(what: keyof typeof SOURCES): string {
  return `announced AS (
  INSERT INTO outbox_events (workspace_id, type, subject_kind, subject_id, subject_version, payload)
  ${SOURCES[what]}
)`;
}
