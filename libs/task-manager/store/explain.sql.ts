import { query } from '#lib/database';
import type { AgentGroup, NearAgent, PauseFacts } from '../domain/explain-facts.js';
import type { RunState } from '../domain/run-state.js';
import type { TaskStatus } from '../domain/task-state.js';
import type { DependencyPolicy } from '../domain/task-view.js';
import { LEASE_END } from './run-columns.js';

/** What explains a task: several statements, so that each thing is looked at only where it matters. */

export interface ExplainedRun {
  id: string;
  agent_id: string;
  agent_name: string;
  state: RunState;
  generation: number;
  lease_expires_at: string;
  pause_requested_at: string | null;
  ended_at: string | null;
  end_reason: string | null;
  exit_code: number | null;
}

export interface ExplainedTask {
  now: Date;
  status: TaskStatus;
  task_type: string;
  run_id: string | null;
  agent_id: string | null;
  retry_at: Date | null;
  retry_count: number;
  max_retries: number;
  abort_reason: string | null;
  failure_reason: string | null;
  last_error: string | null;
  paused_by: string | null;
  pause_reason: string | null;
  paused_at: Date | null;
  queue_expires_at: Date | null;
  required_capabilities: string[];
  unmet_dependencies: number;
  assigned_at: Date | null;
  started_at: Date | null;
  completed_at: Date | null;
  failed_at: Date | null;
  aborted_at: Date | null;
  archived_at: Date | null;
  last_run: ExplainedRun | null;
  dependencies: {
    task_id: string;
    title: string;
    status: TaskStatus;
    policy: DependencyPolicy;
    ended_without_success: boolean;
  }[];
  ahead: number;
}

/** Unsettled dependencies that are told of one by one. */
const DEPENDENCIES_TOLD = 20;

/**
 * A task with its latest run, what it waits for, and how many rank before it.
 *
 * Caller: TaskExplainer. Indexes: primary keys, task_runs_generation_key, agent_tasks_queue_idx.
 * Counting those ahead ends at $3. With 3,000 ahead, from the index alone: 1.6 ms.
 *
 * $1 workspace, $2 task, $3 tasks to count ahead at most.
 */
export const explainTask = query<ExplainedTask>(
  'explain_task',
  `
SELECT now() AS now, t.status, t.task_type, t.run_id, t.agent_id, t.retry_at, t.retry_count, t.max_retries,
  t.abort_reason, t.failure_reason, t.last_error, t.paused_by, t.pause_reason, t.paused_at,
  t.queue_expires_at, t.required_capabilities, t.unmet_dependencies, t.assigned_at,
  t.started_at, t.completed_at, t.failed_at, t.aborted_at, t.archived_at, run.last_run, unsettled.dependencies, queue.ahead
FROM agent_tasks t
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('id', r.id, 'agent_id', r.agent_id, 'agent_name', a.name, 'state', r.state,
    'generation', r.generation, 'lease_expires_at', ${LEASE_END},
    'pause_requested_at', r.pause_requested_at, 'ended_at', r.ended_at, 'end_reason', r.end_reason,
    'exit_code', r.exit_code) AS last_run
  FROM task_runs r JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id
  ORDER BY r.generation DESC LIMIT 1) run ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(to_jsonb(shown)), '[]') AS dependencies FROM (
    SELECT p.id AS task_id, p.title, p.status, d.policy, p.completed_at IS NULL AND (
      p.status IN ('FAILED', 'ARCHIVED') OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
    ) AS ended_without_success
    FROM task_dependencies d JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    ORDER BY ended_without_success DESC, p.id
    LIMIT ${DEPENDENCIES_TOLD}) shown) unsettled ON true
LEFT JOIN LATERAL (
  SELECT count(*)::int AS ahead FROM (
    SELECT FROM agent_tasks q
    WHERE t.status = 'PENDING' AND t.unmet_dependencies = 0
      AND q.workspace_id = t.workspace_id AND q.capability_key = t.capability_key
      AND q.status = 'PENDING' AND q.unmet_dependencies = 0 AND q.queue_rank < t.queue_rank
    LIMIT $3) counted) queue ON true
WHERE t.workspace_id = $1 AND t.id = $2`,
);

/**
 * The switches that keep tasks of a type from being handed out, the widest first.
 *
 * Caller: TaskExplainer. Indexes: pauses_holding_idx, installation_pauses_holding_idx. The name of who
 * paused is there for members of the workspace only.
 * $1 workspace, $2 task type.
 */
export const pausesOfType = query<{ pause: PauseFacts }>(
  'pauses_of_type',
  `
SELECT jsonb_build_object('id', p.id, 'scope', p.scope, 'taskType', p.task_type, 'reason', p.reason,
  'by', 'user:' || p.paused_by, 'byName', u.name, 'since', ${iso('p.created_at')},
  'until', ${iso('p.until')}) AS pause
FROM (
  SELECT 1 AS place, 'everything' AS scope, NULL AS task_type, id, reason, paused_by, created_at, until
  FROM installation_pauses WHERE ended_at IS NULL
  UNION ALL
  SELECT CASE WHEN task_type IS NULL THEN 2 ELSE 3 END,
    CASE WHEN task_type IS NULL THEN 'workspace' ELSE 'task_type' END, task_type, id, reason, paused_by,
    created_at, until
  FROM pauses
  WHERE workspace_id = $1 AND ended_at IS NULL AND (task_type IS NULL OR task_type = $2)) p
LEFT JOIN users u ON u.id = p.paused_by
WHERE p.until IS NULL OR p.until > now()
ORDER BY p.place, p.created_at`,
);

/** Agents of each standing that are named. */
const AGENTS_NAMED = 5;

/**
 * How the agents that have all of $2 stand.
 *
 * Caller: TaskExplainer. No index: the agents of a workspace are few (1,000: 1 ms), and the comparison
 * of arrays is not leakproof anyhow. An agent of which no beat is expected can still claim by hand, and
 * nobody misses the beats of a push agent that has no session.
 *
 * $1 workspace, $2 capabilities.
 */
export const capableAgents = query<AgentGroup>(
  'capable_agents',
  `
WITH capable AS (
  SELECT a.id, a.name, a.live_runs, a.max_concurrent_tasks, h.last_seen_at, CASE
      WHEN a.lifecycle = 'DRAINING' THEN 'draining'
      WHEN a.lifecycle = 'ERROR' THEN 'in_error'
      WHEN a.mode = 'push' AND NOT a.coordinator_enabled THEN 'disabled'
      WHEN a.mode = 'push' AND a.command = '{}' THEN 'without_command'
      WHEN a.live_runs >= a.max_concurrent_tasks THEN 'full'
      WHEN a.mode = 'push' THEN 'assignable'
      WHEN a.lifecycle = 'STARTING' AND h.agent_id IS NULL THEN 'offline'
      WHEN h.next_expected_at IS DISTINCT FROM 'infinity'
        AND h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds) THEN 'offline'
      ELSE 'free' END AS standing
  FROM agents a LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND a.capabilities @> $2::text[]
)
SELECT standing, count(*)::int AS count, sum(max_concurrent_tasks)::int AS places,
  sum(greatest(max_concurrent_tasks - live_runs, 0))::int AS "freePlaces",
  to_jsonb((array_agg(jsonb_build_object('id', id, 'name', name, 'liveRuns', live_runs,
    'maxConcurrentTasks', max_concurrent_tasks, 'lastSeenAt', ${iso('last_seen_at')})
    ORDER BY name, id))[1:${AGENTS_NAMED}]) AS agents
FROM capable GROUP BY standing`,
);

/**
 * Those of $2 that no agent has. Asked only when no agent has them all.
 * Caller: TaskExplainer. $1 workspace, $2 capabilities.
 */
export const missingCapabilities = query<{ name: string }>(
  'missing_capabilities',
  `
SELECT needed.name FROM unnest($2::text[]) AS needed (name)
WHERE NOT EXISTS (
  SELECT FROM agents a
  WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND needed.name = ANY(a.capabilities))`,
);

/** Agents that are told of when none has everything. */
const NEAREST_TOLD = 3;

/**
 * The agents that lack least of $2, and what. Asked only when no agent has them all.
 * Caller: TaskExplainer. No index, as capableAgents. $1 workspace, $2 capabilities.
 */
export const nearestAgents = query<NearAgent>(
  'nearest_agents',
  `
SELECT a.id, a.name, lacking.missing
FROM agents a CROSS JOIN LATERAL (
  SELECT array_agg(needed.name ORDER BY needed.name) AS missing FROM unnest($2::text[]) AS needed (name)
  WHERE needed.name <> ALL (a.capabilities)) lacking
WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED'
ORDER BY cardinality(lacking.missing), a.name, a.id
LIMIT ${NEAREST_TOLD}`,
);

/** A time inside JSON as the API shows times. */
function iso(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
