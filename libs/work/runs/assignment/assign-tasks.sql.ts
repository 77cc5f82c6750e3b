import { command } from '#lib/database';
import { HELD_COLUMNS, HOLDS_NOTED, journaled, runStart, taskTransition } from '#lib/transitions';
import { holdsAfforded } from '#lib/budgets';

export interface AssignedRow {
  workspace_id: string;
  run_id: string;
  task_id: string;
  agent_id: string;
  /** Seconds since the task could run. */
  waited_seconds: number;
}

/**
 * Assigns planned tasks to push agents, as far as their budgets allow. Writes the runs, the intents
 * to spawn their sessions, and a sign of life of each agent, since its gateway must now send
 * heartbeats for it.
 *
 * As the service role, with agents and tasks locked; `takeHolds` ends the transaction. Indexes:
 * primary keys. $1 JSON array of {workspace_id, task_id, agent_id, run_id}, $2 true if the
 * gateway's heartbeats renew their leases.
 */
export const assignTasks = command<AssignedRow>(
  'assign_tasks',
  `
WITH chosen AS MATERIALIZED (
  SELECT c.workspace_id, t.id, c.agent_id, c.run_id, t.project_id, t.milestone_id,
    t.estimated_tokens
  FROM jsonb_to_recordset($1::jsonb) AS c (workspace_id uuid, task_id uuid, agent_id uuid,
    run_id uuid)
  JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
),
lease AS MATERIALIZED (
  SELECT a.id AS agent_id, a.workspace_id, a.stale_threshold_seconds AS seconds,
    $2::boolean AS by_heartbeat, a.model,
    a.heartbeat_interval_seconds AS heartbeat_seconds
  FROM (SELECT DISTINCT workspace_id, agent_id FROM chosen) c
  JOIN agents a ON a.workspace_id = c.workspace_id AND a.id = c.agent_id
),
${holdsAfforded((chosen) => `${chosen}.workspace_id`)},
leased AS MATERIALIZED (
  SELECT c.*, l.seconds, l.by_heartbeat, l.model FROM afforded c
    JOIN lease l USING (workspace_id, agent_id)
),
${taskTransition(
  'ASSIGNED',
  'leased',
  {
    workspace_id: 'm.workspace_id',
    task_id: 'm.id',
    actor_kind: `'coordinator'`,
    run_id: 'm.run_id',
    agent_id: 'm.agent_id',
  },
  { returned: ['t.ready_at', 'm.seconds', 'm.by_heartbeat', 'm.model', ...HELD_COLUMNS] },
)},
${runStart({ timed: false, holding: true })},
spawn_intended AS (
  INSERT INTO session_spawns (workspace_id, run_id, task_id, agent_id)
  SELECT workspace_id, run_id, id, agent_id FROM task_moved
),
agent_heartbeats_sent AS (
  INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, last_seen_at, next_expected_at)
  SELECT workspace_id, agent_id, 'healthy', now(), now() + make_interval(secs => heartbeat_seconds)
  FROM lease ORDER BY workspace_id, agent_id
  ON CONFLICT (workspace_id, agent_id) DO UPDATE SET
    last_seen_at = greatest(h.last_seen_at, excluded.last_seen_at),
    next_expected_at = excluded.next_expected_at
),
${journaled('begun')}
SELECT workspace_id, run_id, id AS task_id, agent_id,
  extract(epoch FROM now() - ready_at)::float8 AS waited_seconds, ${HOLDS_NOTED} AS noted
    FROM task_moved`,
);
