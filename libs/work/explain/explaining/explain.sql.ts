import { query } from '#lib/database';
import type {
  BudgetFacts,
  ChangeFacts,
  PauseFacts,
  ProviderLimitFacts,
  QuestionFacts,
  ReplayFacts,
} from '../domain/explain-facts.js';
import {
  endedBadly,
  isActiveBudget,
  type PausedFor,
  type RunState,
  scopesOf,
  type TaskStatus,
} from '#lib/transitions';
import { type HoldCode, heldBackBy, scopeOf } from '#lib/runs';
import { type DependencyPolicy, LEASE_END } from '#lib/task-manager';
import { limitsOfTask } from '#lib/provider-limits';
import { AWAITED } from '../store/awaited.sql.js';
import { kindOf } from '../store/kind.sql.js';
import { isoTime } from '../store/iso-time.js';

/** The data of an explanation: several statements, so that each part is read only if it matters. */

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
  /** The last warning that its agent goes in circles. */
  circle: string | null;
}

export interface ExplainedTask {
  now: Date;
  status: TaskStatus;
  task_type: string;
  /** See kindOf. */
  kind: string;
  project_id: string | null;
  run_id: string | null;
  agent_id: string | null;
  retry_at: Date | null;
  retry_count: number;
  max_retries: number;
  abort_reason: string | null;
  abort_message: string | null;
  failure_reason: string | null;
  last_error: string | null;
  paused_by: string | null;
  paused_for: PausedFor | null;
  paused_by_name: string | null;
  pause_reason: string | null;
  paused_at: Date | null;
  queue_expires_at: Date | null;
  required_capabilities: string[];
  /** A bigint as text. NULL until it is ready. */
  queue_rank: string | null;
  unmet_dependencies: number;
  /** Its start, while it waits for it. */
  awaited_start: Date | null;
  /** Its concurrency key and its limit, while it waits for a slot. */
  awaited_key: string | null;
  concurrency_limit: number | null;
  debounce_key: string | null;
  replay: ReplayFacts | null;
  /** Everything that holds it back, or would if it were PENDING. */
  held_back: HoldCode[];
  /** Budgets that cover it and have fewer tokens than it needs. */
  budgets: BudgetFacts[];
  provider_limits: ProviderLimitFacts[];
  question: QuestionFacts | null;
  change: ChangeFacts | null;
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
    retry_at: string | null;
  }[];
  /** While the session of its run does not exist yet. */
  spawn: PendingSpawn | null;
}

export interface PendingSpawn {
  attempts: number;
  last_error: string | null;
  since: string;
  next_attempt_at: string;
}

/** Unsettled dependencies that are listed. */
const DEPENDENCIES_SHOWN = 100;

const PAUSED_BY_NAME = `CASE
    WHEN t.paused_by ~ '^user:[0-9a-f-]{36}$' THEN (SELECT u.name FROM users u
      WHERE u.id = substr(t.paused_by, 6)::uuid)
    WHEN t.paused_by ~ '^api_key:[0-9a-f-]{36}$' THEN (SELECT k.name FROM api_keys k
      WHERE k.workspace_id = t.workspace_id AND k.id = substr(t.paused_by, 9)::uuid) END`;

/**
 * A task with its latest run, its pending session, and its dependencies.
 *
 * Indexes: primary keys, task_runs_task_idx. With 1,000 dependencies: 3 ms. $1 workspace, $2 task.
 */
export const explainTask = query<ExplainedTask>(
  'explain_task',
  `
SELECT now() AS now, t.status, t.task_type, ${kindOf('t')} AS kind, t.project_id, t.run_id, t.agent_id, t.retry_at,
  t.retry_count, t.max_retries,
  t.abort_reason, t.abort_message, t.failure_reason, t.last_error, t.paused_by, t.paused_for, t.pause_reason, t.paused_at,
  ${PAUSED_BY_NAME} AS paused_by_name,
  t.queue_expires_at, t.required_capabilities, t.queue_rank, t.unmet_dependencies,
  ${AWAITED('t')}, t.debounce_key,
  (SELECT jsonb_build_object('taskId', p.id, 'title', p.title, 'status', p.status) FROM agent_tasks p
    WHERE p.workspace_id = t.workspace_id AND p.id = t.replayed_by_id) AS replay,
  ${heldBackBy('t', scopeOf('$1'))} AS held_back,
  t.assigned_at, t.started_at, t.completed_at, t.failed_at, t.aborted_at, t.archived_at, run.last_run,
  unsettled.dependencies, spawn.spawn, short.budgets, limited.provider_limits,
  asked.question, submitted.change
FROM agent_tasks t
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('id', r.id, 'agent_id', r.agent_id, 'agent_name', a.name, 'state', r.state,
    'generation', r.generation, 'lease_expires_at', ${LEASE_END},
    'pause_requested_at', r.pause_requested_at, 'ended_at', r.ended_at, 'end_reason', r.end_reason,
    'exit_code', r.exit_code, 'circle', (SELECT l.message FROM task_log_lines l
      WHERE l.workspace_id = r.workspace_id AND l.task_id = r.task_id AND l.run_id = r.id
        AND l.event = 'agent_circle' ORDER BY l.id DESC LIMIT 1)) AS last_run
  FROM task_runs r JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id
  ORDER BY r.generation DESC LIMIT 1) run ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(to_jsonb(shown)), '[]') AS dependencies FROM (
    SELECT p.id AS task_id, p.title, p.status, d.policy, ${endedBadly('p')} AS ended_without_success,
      ${isoTime('p.retry_at')} AS retry_at
    FROM task_dependencies d JOIN agent_tasks p ON p.workspace_id = d.workspace_id
      AND p.id = d.depends_on_id
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    ORDER BY ended_without_success DESC, p.id
    LIMIT ${DEPENDENCIES_SHOWN}) shown) unsettled ON true
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('attempts', s.attempts, 'last_error', s.last_error, 'since', s.created_at,
    'next_attempt_at', s.next_attempt_at) AS spawn
  FROM session_spawns s
  WHERE s.workspace_id = t.workspace_id AND s.run_id = t.run_id
    AND s.state = 'PENDING') spawn ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('budgetId', b.id, 'scope', b.scope, 'scopeId', b.scope_id,
    'allocated', b.allocated::text, 'consumed', b.consumed::text, 'reserved', b.reserved::text,
    'available', b.available::text, 'needed', greatest(t.estimated_tokens, 1)::text,
    'periodEnd', ${isoTime('b.period_end')}) ORDER BY b.available), '[]') AS budgets
  FROM usage_budgets b
  WHERE b.workspace_id = t.workspace_id AND b.scope_id = ANY (${scopesOf('t')})
    AND ${isActiveBudget('b')}
    AND b.available < greatest(t.estimated_tokens, 1)) short ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('limitId', l.id, 'provider', l.provider, 'model',
    l.model, 'kind', l.kind,
    'until', ${isoTime('held.free_at')}, 'isOfFallback', held.of_fallback)
      ORDER BY held.of_fallback, l.until DESC), '[]') AS provider_limits
  FROM ${limitsOfTask('t')} held
  JOIN provider_limits l ON l.workspace_id = t.workspace_id AND l.id = held.limit_id) limited ON true
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('questionId', q.id, 'prompt', q.prompt, 'choices', q.choices,
    'deadlineAt', ${isoTime('q.deadline_at')}, 'onDeadline', q.on_deadline, 'default', q.default_answer) AS question
  FROM questions q
  WHERE q.workspace_id = t.workspace_id AND q.task_id = t.id AND q.status = 'open') asked ON true
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('state', c.state, 'repositoryId', c.repository_id, 'target', c.target,
    'obstacle', c.obstacle, 'submittedAt', ${isoTime('c.submitted_at')}) AS change
  FROM changes c
  WHERE c.workspace_id = t.workspace_id AND c.task_id = t.id AND t.status = 'PAUSED'
    AND t.paused_for = 'review') submitted ON true
WHERE t.workspace_id = $1 AND t.id = $2`,
);

/**
 * The pauses that apply to tasks of a type, the widest first.
 *
 * Indexes: pauses_holding_idx, installation_pauses_holding_idx. A pause of everything belongs to an
 * operator, whose identity tenants need not know. $1 workspace, $2 task type.
 */
export const pausesOfType = query<{ pause: PauseFacts }>(
  'pauses_of_type',
  `
SELECT jsonb_build_object('id', p.id, 'scope', p.scope, 'taskType', p.task_type, 'reason', p.reason,
  'by', p.paused_by, 'byName', p.by_name, 'since', ${isoTime('p.created_at')},
  'until', ${isoTime('p.until')}) AS pause
FROM (
  SELECT 1 AS place, 'everything' AS scope, NULL AS task_type, id, reason, 'operator' AS paused_by,
    NULL AS by_name, created_at, until
  FROM installation_pauses WHERE ended_at IS NULL
  UNION ALL
  SELECT CASE WHEN p.task_type IS NULL THEN 2 ELSE 3 END,
    CASE WHEN p.task_type IS NULL THEN 'workspace' ELSE 'task_type' END, p.task_type, p.id, p.reason,
    coalesce('api_key:' || p.paused_by_key, 'user:' || p.paused_by),
    CASE WHEN p.paused_by_key IS NULL THEN u.name ELSE k.name END, p.created_at, p.until
  FROM pauses p LEFT JOIN users u ON u.id = p.paused_by
  LEFT JOIN api_keys k ON k.workspace_id = p.workspace_id AND k.id = p.paused_by_key
  WHERE p.workspace_id = $1 AND p.ended_at IS NULL AND (p.task_type IS NULL OR p.task_type = $2)) p
WHERE p.until IS NULL OR p.until > now()
ORDER BY p.place, p.created_at`,
);
