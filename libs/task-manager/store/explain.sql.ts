import { query } from '#lib/database';
import type { AgentStanding } from '../domain/explain-facts.js';
import type { RunState } from '../domain/run-state.js';
import type { TaskStatus } from '../domain/task-state.js';
import type { DependencyPolicy } from '../domain/task-view.js';
import { LEASE_END } from './run-columns.js';

/** What explains a task: two statements, so that the agents are looked at only where they matter. */

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
SELECT now() AS now, t.status, t.run_id, t.agent_id, t.retry_at, t.retry_count, t.max_retries,
  t.abort_reason, t.failure_reason, t.last_error, t.paused_by, t.pause_reason, t.paused_at,
  t.queue_expires_at, t.required_capabilities, t.unmet_dependencies, t.completed_at, t.failed_at,
  t.aborted_at, t.archived_at, run.last_run, unsettled.dependencies, queue.ahead
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

export interface AgentGroupRow {
  standing: AgentStanding;
  count: number;
  agents: { id: string; name: string }[];
}

/** Agents of each standing that are named. */
const AGENTS_NAMED = 5;

/**
 * How the agents that have all of $2 stand.
 *
 * Caller: TaskExplainer. No index: the agents of a workspace are few (1,000: 1 ms), and the comparison
 * of arrays is not leakproof anyhow. An agent that never beat can still claim by hand.
 *
 * $1 workspace, $2 capabilities.
 */
export const capableAgents = query<AgentGroupRow>(
  'capable_agents',
  `
WITH capable AS (
  SELECT a.id, a.name, CASE
      WHEN a.lifecycle = 'DRAINING' THEN 'draining'
      WHEN a.lifecycle = 'ERROR' THEN 'offline'
      WHEN a.lifecycle = 'STARTING' AND h.agent_id IS NULL THEN 'offline'
      WHEN h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds) THEN 'offline'
      WHEN a.mode = 'push' AND NOT a.coordinator_enabled THEN 'disabled'
      WHEN a.live_runs >= a.max_concurrent_tasks THEN 'full'
      ELSE 'free' END AS standing
  FROM agents a LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED' AND a.capabilities @> $2::text[]
)
SELECT standing, count(*)::int AS count,
  to_jsonb((array_agg(jsonb_build_object('id', id, 'name', name) ORDER BY name, id))[1:${AGENTS_NAMED}]) AS agents
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
