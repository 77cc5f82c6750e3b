import { TASK_EDGES, TASK_STATUSES, type TaskStatus } from '../domain/task-state.js';
import { isCancellation, isOpen, waitsForAnswer, waitsForReview } from './conditions.sql.js';
import { asFilter } from './plan-hints.sql.js';

/**
 * Transitions of tasks: the only SQL that writes agent_tasks.status.
 *
 * A statement that moves tasks has a CTE with one row for each transition, and includes the CTEs of
 * `taskTransition` (all rows go to one status, known when the statement is written) or
 * `anyTaskTransition` (each row names its status). In the same statement they
 *
 *     task_moved      check the edge against TASK_EDGES and move the rows,
 *
 * and `journaled` (journal.sql.ts) appends one row to the journal for each. A transition along a
 * missing edge moves nothing and leaves no trace. Callers compare their request with the rows of
 * `task_moved`.
 *
 * Index: the primary key of agent_tasks, once for each transition.
 *
 * `taskTransition` writes only the columns of its status. One text for every status, with a CASE
 * for each column, was tried: preparing its 40 expressions cost Postgres more than the update, and
 * a claim with its completion ran at a third of the rate.
 */

/** The values that a transition can carry, with their types. */
const TRANSITION_COLUMNS = {
  workspace_id: 'uuid',
  task_id: 'uuid',
  to_status: 'text',
  actor_kind: 'text',
  actor_id: 'text',
  /** Reason of the abort, failure or pause. */
  reason: 'text',
  message: 'text',
  level: 'text',
  details: 'jsonb',
  stack_trace: 'text',
  run_id: 'uuid',
  agent_id: 'uuid',
  session_key: 'text',
  /** ABORTED: seconds until the retry. NULL means no retry. */
  retry_after_seconds: 'float8',
  counts_as_retry: 'boolean',
  /** PENDING by hand: the attempts start again. */
  resets_retries: 'boolean',
  last_error: 'text',
  output_result: 'jsonb',
  summary: 'text',
  checkpoint_data: 'jsonb',
  answers: 'jsonb',
  /** PAUSED: the run keeps its lease until its agent has released the task. */
  keeps_run: 'boolean',
  paused_for: 'text',
  paused_for_id: 'uuid',
} as const;

export type TransitionColumn = keyof typeof TRANSITION_COLUMNS;
export type TransitionExpressions = Partial<Record<TransitionColumn, string>>;
type Effects = Record<string, string>;

/** Tasks that failed for good in the same way have the same. */
const FINGERPRINT = `failure_fingerprint(t.task_type, m.reason, coalesce(m.last_error, t.last_error))`;

/** A task of a concurrency key that had finished gave its slot back. */
const NEEDS_SLOT = `coalesce(m.resets_retries AND t.concurrency_key IS NOT NULL AND NOT t.waits_for_slot
      AND NOT ${isOpen('t')}, false)`;

/**
 * The effects of each status on the row, beyond status, version and updated_at. `m` is the
 * transition.
 */
const EFFECTS: Record<TaskStatus, Effects> = {
  PENDING: {
    run_id: 'NULL',
    agent_id: 'NULL',
    session_key: 'NULL',
    retry_count: 'CASE WHEN m.resets_retries THEN 0 ELSE t.retry_count END',
    retry_at: 'NULL',
    abort_reason: 'NULL',
    abort_message: 'NULL',
    failure_fingerprint: 'NULL',
    failure_reason: 'NULL',
    queue_expires_at: `CASE WHEN m.resets_retries OR t.status = 'PAUSED' THEN NULL
      ELSE t.queue_expires_at END`,
    current_step: 'NULL',
    estimated_completion_at: 'NULL',
    paused_by: 'NULL',
    paused_for: 'NULL',
    paused_for_id: 'NULL',
    pause_reason: 'NULL',
    // A task that waited for an answer or a review keeps its position.
    ready_at: `CASE WHEN t.unmet_dependencies > 0 OR ${NEEDS_SLOT} THEN NULL
      WHEN ${waitsForAnswer('t')} OR ${waitsForReview('t')} THEN coalesce(t.ready_at, now()) ELSE now() END`,
    waits_for_slot: `t.waits_for_slot OR ${NEEDS_SLOT}`,
    unmet_dependencies: `t.unmet_dependencies + ${NEEDS_SLOT}::int`,
    assigned_at: 'NULL',
    started_at: 'NULL',
    paused_at: 'NULL',
    failed_at: 'NULL',
    aborted_at: 'NULL',
    dependents_unsettled: 'false',
  },
  ASSIGNED: {
    run_id: 'm.run_id',
    agent_id: 'm.agent_id',
    // It was claimed, so its retries limit it from now on.
    queue_expires_at: 'NULL',
    generation: 't.generation + 1',
    assigned_at: 'now()',
  },
  RUNNING: {
    started_at: `CASE t.status WHEN 'ASSIGNED' THEN now() ELSE coalesce(t.started_at, now()) END`,
    // The estimate of this run, until its agent knows better. A pause does not count.
    estimated_completion_at: `CASE t.status
      WHEN 'ASSIGNED' THEN coalesce(now() + make_interval(mins => t.estimated_duration_minutes), t.estimated_completion_at)
      ELSE t.estimated_completion_at + (now() - t.paused_at) END`,
    paused_at: 'NULL',
    paused_by: 'NULL',
    paused_for: 'NULL',
    paused_for_id: 'NULL',
    pause_reason: 'NULL',
  },
  PAUSED: {
    run_id: 'CASE WHEN m.keeps_run THEN t.run_id END',
    paused_at: 'now()',
    paused_by: `m.actor_kind || coalesce(':' || m.actor_id, '')`,
    paused_for: 'm.paused_for',
    paused_for_id: 'm.paused_for_id',
    pause_reason: 'm.reason',
  },
  COMPLETED: {
    run_id: 'NULL',
    progress_percent: '100',
    current_step: 'NULL',
    completed_at: 'now()',
    dependents_unsettled: 't.has_dependents',
  },
  FAILED: {
    run_id: 'NULL',
    retry_at: 'NULL',
    failure_reason: 'm.reason',
    failure_fingerprint: FINGERPRINT,
    failed_at: 'now()',
    dependents_unsettled: 't.has_dependents',
  },
  ABORTED: {
    run_id: 'NULL',
    agent_id: 'NULL',
    session_key: 'NULL',
    retry_count: 't.retry_count + coalesce(m.counts_as_retry, false)::int',
    retry_at: 'now() + make_interval(secs => m.retry_after_seconds)',
    abort_reason: 'm.reason',
    abort_message: 'm.message',
    failure_fingerprint: `CASE WHEN m.retry_after_seconds IS NULL AND NOT ${isCancellation('m.reason')}
      THEN ${FINGERPRINT} END`,
    aborted_at: 'now()',
    dependents_unsettled: 't.has_dependents AND m.retry_after_seconds IS NULL',
  },
  ARCHIVED: { retry_at: 'NULL', failure_fingerprint: 'NULL', archived_at: 'now()' },
};

/** Columns that a transition to any status can set. */
const CARRIED = [
  'session_key',
  'last_error',
  'output_result',
  'summary',
  'checkpoint_data',
  'answers',
] as const;

/**
 * The CTEs of transitions to one status.
 *
 * @param source the name of a CTE or table with one row for each transition
 * @param columns an SQL expression over `m`, the row of the source, for each column that is not
 *   NULL
 * @param options.returned further columns of the moved row `t` or of `m`
 * @param options.where a condition on `t` and `m` beside the edge
 */
export function taskTransition(
  to: TaskStatus,
  source: string,
  columns: TransitionExpressions,
  { returned = [], where }: { returned?: readonly string[]; where?: string } = {},
): string {
  const carried = CARRIED.filter((column) => columns[column] !== undefined);
  const effects = {
    ...Object.fromEntries(carried.map((column) => [column, `coalesce(m.${column}, t.${column})`])),
    ...EFFECTS[to],
  };
  const legal = taskMayGo('t.status', to) + (where ? ` AND ${where}` : '');
  return transitionCtes({ to: `'${to}'`, source, legal, columns, effects, returned });
}

/** The CTEs of transitions from a JSON array of objects with the keys of TRANSITION_COLUMNS. */
export function anyTaskTransition(parameter: string): string {
  const all = Object.keys(TRANSITION_COLUMNS) as TransitionColumn[];
  const list = all.map((name) => `${name} ${TRANSITION_COLUMNS[name]}`);
  const touched = TASK_STATUSES.flatMap((status) => Object.keys(EFFECTS[status]));
  const effects: Effects = {};
  for (const column of new Set([...touched, ...CARRIED])) effects[column] = anyEffect(column);
  const columns = Object.fromEntries(all.map((name) => [name, `m.${name}`]));
  const legal = `(t.status, m.to_status) IN (${edgeList()})`;
  return `task_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(${parameter}) AS m (${list.join(', ')})),
${transitionCtes({ to: 'm.to_status', source: 'task_move', legal, columns, effects })}`;
}

function anyEffect(column: string): string {
  const cases = TASK_STATUSES.filter((status) => EFFECTS[status][column] !== undefined).map(
    (status) => `WHEN '${status}' THEN ${EFFECTS[status][column]}`,
  );
  const carried = (CARRIED as readonly string[]).includes(column);
  const otherwise = carried ? `coalesce(m.${column}, t.${column})` : `t.${column}`;
  return cases.length === 0
    ? otherwise
    : `CASE m.to_status ${cases.join(' ')} ELSE ${otherwise} END`;
}

function edgeList(): string {
  return TASK_STATUSES.flatMap((from) => TASK_EDGES[from].map((to) => `('${from}', '${to}')`)).join(
    ', ',
  );
}

/** An SQL condition: can a task whose status is the expression `from` go to `to`? */
function taskMayGo(from: string, to: TaskStatus): string {
  const sources = TASK_STATUSES.filter((status) =>
    (TASK_EDGES[status] as readonly string[]).includes(to),
  );
  return asFilter(`${from} IN (${sources.map((status) => `'${status}'`).join(', ')})`);
}

interface TransitionParts {
  to: string;
  source: string;
  legal: string;
  columns: TransitionExpressions;
  effects: Effects;
  /** Further columns of `t` and `m` for the statement's own use. */
  returned?: readonly string[];
}

/** The values of a transition that the journal stores, beyond those of the row. */
const JOURNALED = [
  'actor_kind',
  'actor_id',
  'reason',
  'message',
  'level',
  'details',
  'stack_trace',
] as const;

function transitionCtes({
  to,
  source,
  legal,
  columns,
  effects,
  returned = [],
}: TransitionParts): string {
  const assignments = Object.entries(effects).map(
    ([column, sql]) => `${column} = ${carry(sql, columns)}`,
  );
  return `task_moved AS (
  UPDATE agent_tasks t SET
    status = ${to}, version = t.version + 1, updated_at = now(),
    ${assignments.join(',\n    ')}
  FROM ${source} m
  WHERE t.workspace_id = ${columns.workspace_id} AND t.id = ${columns.task_id} AND ${legal}
  RETURNING t.workspace_id, t.id, t.version, old.status AS previous_status, t.status, t.generation,
    coalesce(t.run_id, old.run_id) AS run_id, coalesce(t.agent_id, old.agent_id) AS agent_id,
    coalesce(t.session_key, old.session_key) AS session_key, t.retry_at, t.unmet_dependencies,
    t.dependents_unsettled,
    ${JOURNALED.map((name) => `${carry(`m.${name}`, columns)} AS ${name}`).join(', ')}${returned.map((sql) => `, ${sql}`).join('')}
)`;
}

/** Replaces each `m.column` by the statement's own expression, or NULL if it has none. */
function carry(sql: string, columns: TransitionExpressions): string {
  return sql.replaceAll(/\bm\.(\w+)/g, (_, name: TransitionColumn) => {
    const expression = columns[name] ?? 'NULL';
    return expression === `m.${name}` ? expression : `(${expression})::${TRANSITION_COLUMNS[name]}`;
  });
}
