// Rows that make tasks wait, as the tests insert them.

/** $1 workspace, $2 agent, $3 run, $4 the task that it holds. */
export const HELD_RUN = `WITH counted AS (UPDATE agents SET live_runs = 1
  WHERE workspace_id = $1 AND id = $2),
     task AS (UPDATE agent_tasks SET status = 'ASSIGNED', run_id = $3, agent_id = $2,
       assigned_at = now() WHERE workspace_id = $1 AND id = $4)
     INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
       lease_expires_at)
     VALUES ($1, $3, $4, $2, 1, 180, now() + interval '180 s')`;

/** $1 workspace, $2 run, $3 task, $4 agent: a session that is retried. */
export const SPAWN = `INSERT INTO session_spawns (workspace_id, run_id, task_id, agent_id, attempts,
  last_error)
     VALUES ($1, $2, $3, $4, 3, 'no_answer: password=geheim')`;

/** $1 workspace, $2 task: a question that fails it tomorrow. */
export const QUESTION = `INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt,
  free_text, deadline_at, on_deadline)
     VALUES ($1, uuidv7(), $2, uuidv7(), uuidv7(), 'Which?', true, now() + interval '1 day',
       'fail')`;

/** $1 id, $2 capacity, $3 whether it drains. */
export const GATEWAY = `INSERT INTO gateways (id, boot_id, started_at, capacity, running, queued,
  draining)
     VALUES ($1::text, $1::text::uuid, now(), $2, 0, 0, $3)`;

/** $1 workspace, $2 number of tasks that wait before the examined one. */
export const WAITING = `INSERT INTO agent_tasks (workspace_id, id, title, task_type, ready_at)
     SELECT $1, uuidv7(), 'Before', 'other', now() - interval '1 day' FROM generate_series(1, $2)`;

/** The columns of a task that waits for its start, or for a slot of its concurrency key. */
export const AWAITS = {
  start: `start_at = now() + interval '1 hour', waits_for_start = true, unmet_dependencies = 1, ready_at = NULL,
    debounce_key = 'save'`,
  expiry: `queue_expires_at = now() + interval '1 hour'`,
  retry: `status = 'ABORTED', aborted_at = now(), abort_reason = 'oom', retry_count = 2,
    retry_at = now() + interval '1 hour'`,
  none: `status = 'FAILED', failed_at = now(), failure_reason = 'retries_exhausted', replayed_by_id = id`,
  slot: `concurrency_key = 'a', concurrency_limit = 1, waits_for_slot = true, unmet_dependencies = 1, ready_at = NULL`,
};
