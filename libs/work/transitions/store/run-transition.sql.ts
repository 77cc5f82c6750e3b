import { LIVE_RUN_STATES, RUN_EDGES, RUN_STATES, type RunState } from '../domain/run-state.js';
import { isInFleet, isLiveRun } from './conditions.sql.js';
import { HOLDS_RELEASED, RELEASED_COLUMNS } from './holds.sql.js';
import { TASK_OF_RUN } from './journal.sql.js';
import { asFilter } from './plan-hints.sql.js';

/**
 * Transitions of runs: the only SQL that writes task_runs.state, and with it agents.live_runs and
 * holds on budgets (holds.sql.ts).
 *
 * `runTransition` and `anyRunTransition` move runs (see those of tasks for the difference).
 * `runStart` creates the runs of tasks that have just become ASSIGNED. All keep the count of live
 * runs in the agent's row, which a claim locks.
 *
 * Lock order, everywhere: tasks (by id), then their runs, then agents (by id), then budgets (by
 * id). A claim locks its agents first (by id), but takes tasks with SKIP LOCKED and so never waits
 * while it holds them.
 */

const TRANSITION_COLUMNS = {
  workspace_id: 'uuid',
  run_id: 'uuid',
  to_state: 'text',
  end_reason: 'text',
  ended_by: 'text',
  error: 'text',
  error_class: 'text',
  exit_code: 'int',
  signal: 'text',
  stack_trace: 'text',
  session_key: 'text',
  branch: 'text',
} as const;

export type RunTransitionColumn = keyof typeof TRANSITION_COLUMNS;
export type RunTransitionExpressions = Partial<Record<RunTransitionColumn, string>>;

const CARRIED = [
  'error',
  'error_class',
  'exit_code',
  'signal',
  'stack_trace',
  'session_key',
  'branch',
] as const;

const isLive = (state: RunState) => LIVE_RUN_STATES.includes(state);

// Until then the agent can end the run itself. A worker enforces the same limit on the process.
const DEADLINE = `coalesce(r.deadline_at, now() + make_interval(secs => (
      SELECT t.timeout_seconds FROM agent_tasks t
      WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id)))`;

function effectsOf(to: RunState): Record<string, string> {
  if (to === 'STALE') return { stale_at: 'now()' };
  if (to === 'WORKING') {
    return { started_at: 'coalesce(r.started_at, now())', deadline_at: DEADLINE, stale_at: 'NULL' };
  }
  return isLive(to)
    ? {}
    : {
        ended_at: 'now()',
        end_reason: 'm.end_reason',
        ended_by: 'm.ended_by',
        held_tokens: '0',
      };
}

/** The CTEs for transitions to one state; see `taskTransition`. */
export function runTransition(
  to: RunState,
  source: string,
  columns: RunTransitionExpressions,
): string {
  const carried = CARRIED.filter((column) => columns[column] !== undefined);
  const effects = {
    ...Object.fromEntries(carried.map((column) => [column, `coalesce(m.${column}, r.${column})`])),
    ...effectsOf(to),
  };
  const legal = runMayGo('r.state', to);
  return `${transitionCtes({ to: `'${to}'`, source, legal, columns, effects })}${isLive(to) ? '' : RESOURCES_FREED}`;
}

/**
 * The CTEs for transitions between live states, of runs of any workspace: rows of (workspace_id,
 * id).
 */
export function runTransitionWithoutEnd(to: 'STALE' | 'WORKING', source: string): string {
  const columns = { workspace_id: 'm.workspace_id', run_id: 'm.id' };
  const legal = runMayGo('r.state', to);
  return transitionCtes({ to: `'${to}'`, source, legal, columns, effects: effectsOf(to) });
}

/** The CTEs for transitions from a JSON array of objects with the keys of TRANSITION_COLUMNS. */
export function anyRunTransition(parameter: string): string {
  const list = Object.entries(TRANSITION_COLUMNS).map(([name, type]) => `${name} ${type}`);
  const effects: Record<string, string> = {};
  for (const column of CARRIED) effects[column] = `coalesce(m.${column}, r.${column})`;
  for (const column of new Set(RUN_STATES.flatMap((state) => Object.keys(effectsOf(state))))) {
    const cases = RUN_STATES.filter((state) => effectsOf(state)[column] !== undefined).map(
      (state) => `WHEN '${state}' THEN ${effectsOf(state)[column]}`,
    );
    effects[column] = `CASE m.to_state ${cases.join(' ')} ELSE r.${column} END`;
  }
  const edges = RUN_STATES.flatMap((from) => RUN_EDGES[from].map((to) => `('${from}', '${to}')`));
  const columns = Object.fromEntries(
    Object.keys(TRANSITION_COLUMNS).map((name) => [name, `m.${name}`]),
  );
  const legal = `(r.state, m.to_state) IN (${edges.join(', ')})`;
  return `run_move AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(${parameter}) AS m (${list.join(', ')})),
${transitionCtes({ to: 'm.to_state', source: 'run_move', legal, columns, effects })}${RESOURCES_FREED}`;
}

/** An SQL condition: can a run whose state is the expression `from` go to `to`? */
export function runMayGo(from: string, to: RunState): string {
  const sources = RUN_STATES.filter((state) =>
    (RUN_EDGES[state] as readonly string[]).includes(to),
  );
  return asFilter(`${from} IN (${sources.map((state) => `'${state}'`).join(', ')})`);
}

interface TransitionParts {
  to: string;
  source: string;
  legal: string;
  columns: RunTransitionExpressions;
  effects: Record<string, string>;
}

function transitionCtes({ to, source, legal, columns, effects }: TransitionParts): string {
  const assignments = Object.entries(effects).map(
    ([column, sql]) => `, ${column} = ${carry(sql, columns)}`,
  );
  return `run_moved AS (
  UPDATE task_runs r SET state = ${to}, version = r.version + 1,
    last_report_at = now()${assignments.join('')}
  FROM ${source} m
  WHERE r.workspace_id = ${columns.workspace_id} AND r.id = ${columns.run_id} AND ${legal}
  RETURNING r.workspace_id, r.id, r.task_id, r.agent_id, r.generation, r.version, r.end_reason,
    old.state AS previous_state, r.state, r.ended_at, ${RELEASED_COLUMNS}${source === 'task_moved' ? `, ${TASK_OF_RUN}` : ''}
)`;
}

/** Replaces each `m.column` by the statement's own expression, or NULL if it has none. */
function carry(sql: string, columns: RunTransitionExpressions): string {
  return sql.replaceAll(/\bm\.(\w+)/g, (_, name: RunTransitionColumn) => {
    const expression = columns[name] ?? 'NULL';
    return expression === `m.${name}` ? expression : `(${expression})::${TRANSITION_COLUMNS[name]}`;
  });
}

const RESOURCES_FREED = `,
freed AS MATERIALIZED (
  SELECT a.workspace_id, a.id, f.runs FROM agents a JOIN (
    SELECT workspace_id, agent_id, count(*)::int AS runs FROM run_moved
    WHERE ended_at IS NOT NULL GROUP BY 1, 2) f
    ON a.workspace_id = f.workspace_id AND a.id = f.agent_id
  ORDER BY a.id, a.workspace_id FOR NO KEY UPDATE OF a
),
agent_freed AS (
  -- A count that is too low must not fail the report of an agent: reconcile_states counts again.
  UPDATE agents a SET live_runs = greatest(a.live_runs - f.runs, 0) FROM freed f
  WHERE a.workspace_id = f.workspace_id AND a.id = f.id
),
${HOLDS_RELEASED}`;

/**
 * Recounts the live runs of agents. The statement has a CTE `miscounted(workspace_id, id)` of
 * agents under lock. A run that is ending waits for that lock and subtracts itself from the new
 * count.
 */
export const AGENT_RECOUNT = `actual AS MATERIALIZED (
  SELECT m.workspace_id, m.id, (SELECT count(*)::int FROM task_runs r
    WHERE r.workspace_id = m.workspace_id
    AND r.agent_id = m.id AND ${isLiveRun('r')}) AS runs
  FROM miscounted m
),
agent_recounted AS (
  UPDATE agents a SET live_runs = c.runs FROM actual c
  WHERE a.workspace_id = c.workspace_id AND a.id = c.id AND a.live_runs <> c.runs
    AND ${isInFleet('a')}
  RETURNING a.workspace_id, a.id, old.live_runs AS counted, a.live_runs AS actual
)`;

/**
 * Needs `task_moved` (only to ASSIGNED) with the columns `seconds` and `by_heartbeat` of the lease,
 * and the `model` of the agent, which runs store. The statement has locked the agents.
 *
 * @param timed whether the run's time starts now instead of at its start; `task_moved` then needs
 *   its `timeout_seconds`
 * @param holding whether the runs hold budgets; `task_moved` then needs HELD_COLUMNS, and
 *   `takeHolds` ends the transaction
 */
export function runStart({ timed, holding }: { timed: boolean; holding: boolean }): string {
  const held = holding
    ? {
        columns: ', budget_ids, held_tokens, estimated_tokens',
        values: ', budget_ids, held_tokens, held_tokens',
      }
    : { columns: '', values: '' };
  return `run_moved AS (
  INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
    lease_expires_at, lease_by_heartbeat, model, deadline_at${held.columns})
  SELECT workspace_id, run_id, id, agent_id, generation, seconds,
    now() + make_interval(secs => seconds), by_heartbeat, model,
    ${timed ? 'now() + make_interval(secs => timeout_seconds)' : 'NULL::timestamptz'}${held.values}
  FROM task_moved
),
agent_busier AS (
  UPDATE agents a SET live_runs = a.live_runs + s.runs
  FROM (SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_moved GROUP BY 1, 2) s
  WHERE a.workspace_id = s.workspace_id AND a.id = s.agent_id
)`;
}
