/*
 * The journal: each transition appends one row, which is the audit entry and the event. This is the
 * only SQL that appends to it, and nothing updates a row. Entries of a task's log that are no
 * events go to task_log_lines.
 */

interface LogValues {
  workspace_id: string;
  task_id?: string;
  run_id?: string;
  agent_id?: string;
  level?: string;
  event: string;
  message?: string;
  details?: string;
  actor_kind: string;
  actor_id?: string;
  session_key?: string;
}

interface JournalValues extends LogValues {
  /** The name of its entry in the task's log. Default: that of the event. '' means no entry. */
  log_event?: string;
  version?: string;
  previous_status?: string;
  new_status?: string;
  reason?: string;
}

/** Appends an event, with an SQL expression for each of its columns. */
export function journalRow(values: JournalValues, from: string): string {
  return `INSERT INTO journal ${row(values, from)}`;
}

/** Appends an entry to a task's log, with an SQL expression for each of its columns. */
export function logLine(values: LogValues & { task_id: string }, from: string): string {
  return `INSERT INTO task_log_lines ${row(values, from)}`;
}

function row(values: object, from: string): string {
  return `(${Object.keys(values).join(', ')})
  SELECT ${Object.values(values).join(', ')}
  FROM ${from}`;
}

const COLUMNS = `workspace_id, event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
    details, session_key, stack_trace, retry_at`;

/**
 * The parts of a task's transition in the journal: columns of `task_moved`, in the order of the
 * journal's.
 */
const SAID = [
  'actor_kind',
  'actor_id',
  'reason',
  'level',
  'message',
  'details',
  'session_key',
  'stack_trace',
  'retry_at',
];
const said = (alias: string) => SAID.map((column) => `${alias}.${column}`).join(', ');

/** The columns that a run returns of its task, the row `m` of `task_moved`: see `both`. */
export const TASK_OF_RUN = `m.version AS task_version, m.previous_status, m.status, ${said('m')}`;

const OF_TASK = `m.workspace_id, 'task.status_changed', m.id, m.version, m.previous_status, m.status`;
const REST = `m.agent_id, ${said('m')}`;

const OF_RUN_ALONE = `SELECT r.workspace_id, 'run.state_changed', r.task_id, NULL, NULL, NULL, r.id,
  r.version,
    r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, 'coordinator', NULL, NULL, NULL, NULL,
    NULL::jsonb, NULL, NULL, NULL::timestamptz FROM run_moved r`;

const WITH_RUNS = `SELECT ${OF_TASK}, m.run_id, r.version, r.previous_state, r.state, r.end_reason,
  m.generation,
    ${REST} FROM task_moved m LEFT JOIN run_moved r ON r.task_id = m.id`;

const SOURCES = {
  tasks: `SELECT ${OF_TASK}, m.run_id, NULL::int, NULL, NULL, NULL, m.generation, ${REST}
    FROM task_moved m`,
  runs: OF_RUN_ALONE,
  /** The run of each task was just created. */
  begun: `SELECT ${OF_TASK}, m.run_id, 1, NULL, 'ASSIGNED', NULL, m.generation, ${REST}
    FROM task_moved m`,
  /** Every run moved with its task: `runTransition` out of `task_moved`. */
  both: `SELECT r.workspace_id, 'task.status_changed', r.task_id, r.task_version, r.previous_status,
    r.status, r.id,
    r.version, r.previous_state, r.state, r.end_reason, r.generation, r.agent_id, ${said('r')}
      FROM run_moved r`,
  /** A run can have moved without its task. */
  either: `${WITH_RUNS}
  UNION ALL
  ${OF_RUN_ALONE} WHERE NOT EXISTS (SELECT FROM task_moved m WHERE m.id = r.task_id)`,
};

/** The last CTE of a statement that wrote states: one row for each moved task, with its run. */
export function journaled(what: keyof typeof SOURCES): string {
  return `journaled AS (
  INSERT INTO journal (${COLUMNS})
  ${SOURCES[what]}
)`;
}
