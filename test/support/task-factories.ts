import type pg from 'pg';
import { newId } from '#lib/kernel';

export type FreeStatus = 'PENDING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'ABORTED' | 'ARCHIVED';
export type HeldState = 'ASSIGNED' | 'WORKING' | 'STALE';

export interface TaskValues {
  title?: string;
  taskType?: string;
  priority?: number;
  requiredCapabilities?: string[];
  projectId?: string;
  milestoneId?: string;
  maxRetries?: number;
  timeoutSeconds?: number;
  inputContext?: Record<string, unknown>;
  createdBy?: string;
}

export interface HeldTaskValues extends TaskValues {
  /** The run's state. The task is ASSIGNED or RUNNING accordingly. Default WORKING. */
  state?: HeldState;
  /** Negative for a lease that has passed. Default 180. */
  leaseExpiresInSeconds?: number;
}

/** The legal path to each status, so that the log of a created task is a chain as well. */
const WAYS: Record<FreeStatus | 'ASSIGNED' | 'RUNNING', readonly string[]> = {
  PENDING: ['PENDING'],
  ASSIGNED: ['PENDING', 'ASSIGNED'],
  RUNNING: ['PENDING', 'ASSIGNED', 'RUNNING'],
  PAUSED: ['PENDING', 'PAUSED'],
  COMPLETED: ['PENDING', 'ASSIGNED', 'COMPLETED'],
  FAILED: ['PENDING', 'FAILED'],
  ABORTED: ['PENDING', 'ABORTED'],
  ARCHIVED: ['PENDING', 'ASSIGNED', 'COMPLETED', 'ARCHIVED'],
};

/** Creates a task without a holder, with the log and the events of the path to its status. */
export async function aTask(
  owner: pg.Pool,
  workspaceId: string,
  values: TaskValues & { status?: FreeStatus } = {},
): Promise<string> {
  const { status = 'PENDING', ...others } = values;
  return insertTask(owner, workspaceId, status, others);
}

/**
 * Creates a task under the lease of an agent, and counts its live run. One transaction creates task
 * and run, because a sweep between the two would take the task for an orphan.
 */
export async function aHeldTask(
  owner: pg.Pool,
  { workspaceId, agentId }: { workspaceId: string; agentId: string },
  values: HeldTaskValues = {},
): Promise<{ taskId: string; runId: string }> {
  const { state = 'WORKING', leaseExpiresInSeconds = 180, ...others } = values;
  const runId = newId();
  const status = state === 'ASSIGNED' ? 'ASSIGNED' : 'RUNNING';
  const client = await owner.connect();
  try {
    await client.query('BEGIN');
    const taskId = await insertTask(client, workspaceId, status, others, { runId, agentId });
    const run = [workspaceId, agentId, runId, taskId, state, leaseExpiresInSeconds];
    await client.query(INSERT_RUN, run);
    await client.query('COMMIT');
    return { taskId, runId };
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** Makes a pending task wait for another. */
export async function aDependency(
  owner: pg.Pool,
  workspaceId: string,
  edge: { taskId: string; dependsOnId: string; policy?: 'block' | 'fail' | 'ignore' },
): Promise<void> {
  const { taskId, dependsOnId, policy = 'block' } = edge;
  await owner.query(
    `WITH waits AS (
       UPDATE agent_tasks SET unmet_dependencies = unmet_dependencies + 1, ready_at = NULL
       WHERE workspace_id = $1 AND id = $2),
     waited_for AS (
       UPDATE agent_tasks SET has_dependents = true WHERE workspace_id = $1 AND id = $3)
     INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy)
     VALUES ($1, $2, $3, $4)`,
    [workspaceId, taskId, dependsOnId, policy],
  );
}

export async function aMilestone(
  owner: pg.Pool,
  workspaceId: string,
  projectId: string,
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO milestones (workspace_id, id, project_id, name) VALUES ($1, $2, $3, 'A milestone')`,
    [workspaceId, id, projectId],
  );
  return id;
}

const INSERT_RUN = `
WITH counted AS (
  UPDATE agents SET live_runs = live_runs + 1 WHERE workspace_id = $1 AND id = $2),
stale AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, run_version, previous_state,
    new_state, generation, agent_id, actor_kind)
  SELECT $1, 'run.state_changed', '', $4, $3, 3, 'WORKING', 'STALE', 1, $2, 'system'
  WHERE $5 = 'STALE')
INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, version,
  lease_seconds, lease_expires_at, started_at, stale_at)
VALUES ($1, $3, $4, $2, 1, $5, CASE $5 WHEN 'ASSIGNED' THEN 1 WHEN 'WORKING' THEN 2 ELSE 3 END,
  180, now() + make_interval(secs => $6), CASE WHEN $5 <> 'ASSIGNED' THEN now() END,
  CASE $5 WHEN 'STALE' THEN now() END)`;

const INSERT_TASK = `
WITH given AS (SELECT $1::uuid AS workspace_id, $2::uuid AS id, $3::text AS status, $4::text[] AS way,
    $5::text[] AS capabilities, $6::uuid AS run_id, $7::uuid AS agent_id),
capable AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities)
  SELECT workspace_id, array_to_string(capabilities, ','), capabilities FROM given
  ON CONFLICT DO NOTHING),
task AS (
  INSERT INTO agent_tasks (workspace_id, id, status, version, required_capabilities, capability_key,
    run_id, agent_id, generation, title, task_type, priority, project_id, milestone_id, max_retries,
    timeout_seconds, input_context, created_by, ready_at, assigned_at, started_at, paused_at, paused_by, paused_for,
    completed_at, failed_at, failure_reason, aborted_at, abort_reason, archived_at)
  SELECT workspace_id, id, status, cardinality(way), capabilities, array_to_string(capabilities, ','),
    run_id, agent_id, CASE WHEN run_id IS NULL THEN 0 ELSE 1 END, $8, $9, $10, $11, $12, $13, $14, $15,
    $16, now(),
    CASE WHEN 'ASSIGNED' = ANY (way) THEN now() END, CASE WHEN 'RUNNING' = ANY (way) THEN now() END,
    CASE status WHEN 'PAUSED' THEN now() END, CASE status WHEN 'PAUSED' THEN 'system' END,
    CASE status WHEN 'PAUSED' THEN 'request' END, CASE WHEN 'COMPLETED' = ANY (way) THEN now() END,
    CASE status WHEN 'FAILED' THEN now() END, CASE status WHEN 'FAILED' THEN 'made to fail' END,
    CASE status WHEN 'ABORTED' THEN now() END, CASE status WHEN 'ABORTED' THEN 'cancelled' END,
    CASE status WHEN 'ARCHIVED' THEN now() END
  FROM given),
steps AS (
  SELECT g.*, s.step, s.version::int AS version, lag(s.step) OVER (ORDER BY s.version) AS previous,
    s.version::int - 1 AS run_version, CASE s.step WHEN 'ASSIGNED' THEN 'ASSIGNED' WHEN 'RUNNING' THEN 'WORKING' END AS state
  FROM given g, unnest(g.way) WITH ORDINALITY AS s (step, version))
INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
  previous_state, new_state, generation, agent_id, actor_kind)
SELECT workspace_id, CASE version WHEN 1 THEN 'task.created' ELSE 'task.status_changed' END, id, version, previous, step,
  r.run_id, r.run_version, r.previous_state, r.new_state, r.generation, r.agent_id, 'system'
FROM steps s
LEFT JOIN LATERAL (SELECT s.run_id, s.run_version, CASE s.state WHEN 'WORKING' THEN 'ASSIGNED' END AS previous_state,
  s.state AS new_state, 1 AS generation, s.agent_id WHERE s.run_id IS NOT NULL AND s.state IS NOT NULL) r ON true
ORDER BY version`;

async function insertTask(
  owner: pg.Pool | pg.PoolClient,
  workspaceId: string,
  status: keyof typeof WAYS,
  values: TaskValues,
  held?: { runId: string; agentId: string },
): Promise<string> {
  const id = newId();
  await owner.query(INSERT_TASK, [
    workspaceId,
    id,
    status,
    WAYS[status],
    values.requiredCapabilities ?? [],
    held?.runId ?? null,
    held?.agentId ?? null,
    values.title ?? 'A task',
    values.taskType ?? 'test',
    values.priority ?? 5,
    values.projectId ?? null,
    values.milestoneId ?? null,
    values.maxRetries ?? 3,
    values.timeoutSeconds ?? null,
    values.inputContext ?? {},
    values.createdBy ?? null,
  ]);
  return id;
}
