import { command } from '#lib/database';
import { journalRow } from '#lib/transitions';

/**
 * Runs that an agent still works on after another run of their task has begun.
 *
 * It takes two steps. The caller that notices the conflict marks the run, in its tenant: a refused
 * report (runSituation), an agent or a gateway that names the run (Signals, GatewayHeartbeats), a
 * heartbeat that names the task. The coordinator then logs each marked run once, with both runs,
 * and wakes its agent, whose signals say stop.
 */

/**
 * An SQL condition on a run `r` and its task `t`. It covers only runs that were taken from their
 * agent. If the agent ended the run itself, or the end of its session was reported, a late or
 * repeated report is normal. A cancelled run was taken from its agent too, and its task may have
 * been retried since. An ended run no longer changes, so the mark needs no lock of its task.
 */
export const IN_CONFLICT = `(t.generation > r.generation AND r.conflict_seen_at IS NULL
  AND (r.end_reason IN ('orphaned', 'cancelled', 'budget_exceeded') OR r.state = 'FAILED'
    AND coalesce(r.ended_by, '') <> 'agent'
    AND NOT (coalesce(r.ended_by, '') = 'gateway'
      AND r.end_reason NOT IN ('gateway_restart', 'infrastructure'))))`;

/**
 * Marks runs that their agent reports to hold. Index: primary keys. $1 workspace, $2 runs, $3
 * agent.
 */
export const noteConflicts = command<{ id: string }>(
  'note_conflicts',
  `
UPDATE task_runs r SET conflict_seen_at = now() FROM agent_tasks t
WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[]) AND r.agent_id = $3
  AND t.workspace_id = $1 AND t.id = r.task_id AND ${IN_CONFLICT}
RETURNING r.id`,
);

/**
 * Marks runs whose sessions a gateway still has. As the service role.
 * Index: session_spawns_run_idx, then primary keys. $1 runs.
 */
export const noteConflictsOfSessions = command<{ id: string }>(
  'note_conflicts_of_sessions',
  `
UPDATE task_runs r SET conflict_seen_at = now()
FROM session_spawns s, agent_tasks t
WHERE s.run_id = ANY($1::uuid[]) AND r.workspace_id = s.workspace_id AND r.id = s.run_id
  AND t.workspace_id = r.workspace_id AND t.id = r.task_id AND ${IN_CONFLICT}
RETURNING r.id`,
);

/** SQL: heartbeat `h` names the task `t`, which another agent than its own holds. */
export const namesTaskOfAnother = (h: string, t: string) =>
  `(${t}.run_id IS NOT NULL AND ${t}.agent_id IS DISTINCT FROM ${h}.agent_id)`;

/**
 * SQL: the time after which a heartbeat of the agent `a` proves that it still works on the task `t`.
 * One heartbeat can be older than that, and an agent is told to stop soon after.
 */
export const provesWorkAfter = (t: string, a: string) =>
  `${t}.assigned_at + make_interval(secs => 2 * ${a}.heartbeat_interval_seconds)`;

/**
 * Marks the last run of these agents if their heartbeats name a task, two heartbeats after another
 * agent got it.
 *
 * As the service role. Indexes: primary keys and task_runs_task_idx. $1 JSON array of
 * {workspace_id, id} of agents.
 */
export const noteConflictsOfHeartbeats = command<{ id: string }>(
  'note_conflicts_of_heartbeats',
  `
WITH rival AS MATERIALIZED (
  SELECT h.workspace_id, h.agent_id, t.id AS task_id, t.generation
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
  JOIN agent_heartbeats h ON h.workspace_id = m.workspace_id AND h.agent_id = m.id
  JOIN agents a ON a.workspace_id = h.workspace_id AND a.id = h.agent_id
  JOIN agent_tasks t ON t.workspace_id = h.workspace_id AND t.id = h.current_task_id
  WHERE ${namesTaskOfAnother('h', 't')} AND h.last_seen_at > ${provesWorkAfter('t', 'a')}
),
latest AS MATERIALIZED (
  SELECT DISTINCT ON (r.workspace_id, r.task_id, r.agent_id) r.workspace_id, r.id
  FROM rival v JOIN task_runs r ON r.workspace_id = v.workspace_id AND r.task_id = v.task_id
    AND r.agent_id = v.agent_id AND r.generation < v.generation
  ORDER BY r.workspace_id, r.task_id, r.agent_id, r.generation DESC
)
UPDATE task_runs r SET conflict_seen_at = now()
FROM latest l, agent_tasks t
WHERE r.workspace_id = l.workspace_id AND r.id = l.id
  AND t.workspace_id = r.workspace_id AND t.id = r.task_id AND ${IN_CONFLICT}
RETURNING r.id`,
);

export interface ConflictRow {
  workspace_id: string;
  task_id: string;
  run_id: string;
  agent_id: string;
  generation: number;
  end_reason: string;
  newer_run_id: string;
  newer_agent_id: string;
  newer_generation: number;
  newer_state: string;
}

const BOTH = `'runId', run_id, 'agentId', agent_id, 'generation', generation, 'endReason', end_reason,
    'newerRunId', newer_run_id, 'newerAgentId', newer_agent_id, 'newerGeneration', newer_generation`;

/**
 * Logs each marked run once, in the journal. As the service role.
 * Index: task_runs_conflict_idx, task_runs_task_idx. $1 rows, $2 workspace or NULL.
 */
export const announceConflicts = command<ConflictRow>(
  'announce_conflicts',
  `
WITH seen AS MATERIALIZED (
  SELECT r.* FROM task_runs r
  WHERE r.conflict_seen_at IS NOT NULL AND r.conflict_told_at IS NULL
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  ORDER BY r.conflict_seen_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
announced AS (
  UPDATE task_runs r SET conflict_told_at = now() FROM seen s
  WHERE r.workspace_id = s.workspace_id AND r.id = s.id
),
conflict AS MATERIALIZED (
  SELECT s.workspace_id, s.task_id, s.id AS run_id, s.agent_id, s.generation, s.end_reason,
    s.session_key,
    n.id AS newer_run_id, n.agent_id AS newer_agent_id, n.generation AS newer_generation, n.state AS newer_state
  FROM seen s
  CROSS JOIN LATERAL (
    SELECT r.* FROM task_runs r
    WHERE r.workspace_id = s.workspace_id AND r.task_id = s.task_id AND r.generation > s.generation
    ORDER BY r.generation DESC LIMIT 1) n
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'workspace_id',
      event: "'run.split_brain_conflict'",
      log_event: "'split_brain_conflict'",
      task_id: 'task_id',
      run_id: 'run_id',
      agent_id: 'agent_id',
      level: "'WARN'",
      message: "'Agent told to stop: another run of its task has begun'",
      details: `jsonb_build_object(${BOTH})`,
      actor_kind: "'coordinator'",
      session_key: 'session_key',
    },
    'conflict',
  )}
)
SELECT workspace_id, task_id, run_id, agent_id, generation, end_reason, newer_run_id,
  newer_agent_id,
  newer_generation, newer_state
FROM conflict`,
);
