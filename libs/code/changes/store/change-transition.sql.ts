import { command } from '#lib/database';
import { asFilter, journalRow } from '#lib/transitions';
import {
  CHANGE_EDGES,
  CHANGE_STATES,
  type ChangeState,
  EVENT_OF_STATE,
} from '../domain/change-state.js';

/**
 * Transitions of changes: the only SQL that writes changes.state. A trigger on agent_tasks, follow_task,
 * moves changes whose task was moved by others.
 */

/** The values that a transition can carry, with their types. */
const MOVE_COLUMNS = {
  to_state: 'text',
  run_id: 'uuid',
  base_commit: 'text',
  head_commit: 'text',
  files_changed: 'int',
  insertions: 'int',
  deletions: 'int',
  merged_commit: 'text',
  approved_by: 'text',
  unattended_revisions: 'int',
  /** IN_REVIEW: seconds until the review is overdue. NULL means never. */
  review_seconds: 'float8',
  /** IN_REVIEW: `ask` if an agent reviews as well. */
  review_step: 'text',
  reason: 'text',
  message: 'text',
  actor_kind: 'text',
  actor_id: 'text',
} as const;

export type MoveColumn = keyof typeof MOVE_COLUMNS;

/** The effects of each state on the row. `m` is the transition. */
const EFFECTS: Record<ChangeState, Record<string, string>> = {
  WORKING: { approved_by: 'NULL', approved_at: 'NULL', closed_at: 'NULL' },
  PROVING: {
    step: `'prove'`,
    run_id: 'm.run_id',
    base_commit: 'm.base_commit',
    head_commit: 'm.head_commit',
    files_changed: 'm.files_changed',
    insertions: 'm.insertions',
    deletions: 'm.deletions',
    revision: 'c.revision + 1',
    submitted_at: 'now()',
    review_task_id: `CASE c.review_step WHEN 'take' THEN c.review_task_id END`,
    // A commit of an earlier head does not land the new one, which is rebased on it.
    landing_commits: `'{}'`,
    earlier_landings: 'c.earlier_landings || c.landing_commits',
    may_have_landed: 'false',
  },
  IN_REVIEW: {
    review_due_at: 'now() + make_interval(secs => m.review_seconds)',
    review_step: 'm.review_step',
  },
  APPROVED: { step: `'land'`, approved_by: 'm.approved_by', approved_at: 'now()' },
  MERGED: {
    step: `'remove'`,
    merged_commit: 'm.merged_commit',
    merged_at: 'now()',
    closed_at: 'NULL',
  },
  FAILED: { closed_at: 'now()' },
  CLOSED: { step: `CASE WHEN c.branch IS NOT NULL THEN 'remove' END`, closed_at: 'now()' },
};

/** What a transition makes of columns on which its state has no effect. Others stay. */
const OTHERWISE: Record<string, string> = {
  step: 'NULL',
  review_due_at: 'NULL',
  // The coordinator cancels the task of the agent that reviews.
  review_step: `CASE c.review_step WHEN 'take' THEN 'take' END`,
};

function effectOf(column: string): string {
  const cases = CHANGE_STATES.filter((state) => EFFECTS[state][column] !== undefined).map(
    (state) => `WHEN '${state}' THEN ${EFFECTS[state][column]}`,
  );
  return `CASE m.to_state ${cases.join(' ')} ELSE ${OTHERWISE[column] ?? `c.${column}`} END`;
}

const columns = new Set(CHANGE_STATES.flatMap((state) => Object.keys(EFFECTS[state])));
const effects = [...columns].map((column) => `${column} = ${effectOf(column)}`).join(',\n    ');
const isDue = CHANGE_STATES.filter((state) => EFFECTS[state]['step'] !== undefined)
  .map((state) => `WHEN '${state}' THEN ${EFFECTS[state]['step']}`)
  .join(' ');
const edges = CHANGE_STATES.flatMap((from) =>
  CHANGE_EDGES[from].map((to) => `('${from}', '${to}')`),
).join(', ');
const events = CHANGE_STATES.map((state) => `WHEN '${state}' THEN '${EVENT_OF_STATE[state]}'`);

/** SQL: the fields of a change `c` in its events. */
export const CHANGE_FIELDS = `'repositoryId', c.repository_id, 'revision', c.revision,
  'branch', c.branch, 'headCommit', c.head_commit`;

export interface MovedChange {
  version: number;
  step: string | null;
}

/**
 * Moves a change along an edge, with the journal row. No row: there is no such edge from its state.
 * It ends the step of a host, whose reports are then stale.
 *
 * Under the task's lock, before the transition of the task. Index: primary key. $1 workspace,
 * $2 change, $3 JSON object with the keys of MOVE_COLUMNS.
 */
export const moveChange = command<MovedChange>(
  'move_change',
  `
WITH m AS MATERIALIZED (
  SELECT * FROM jsonb_to_record($3::jsonb) AS m (${Object.entries(MOVE_COLUMNS)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')})
),
c AS (
  UPDATE changes c SET state = m.to_state, version = c.version + 1, updated_at = now(),
    obstacle = NULL, step_generation = c.step_generation + 1, step_agent_id = NULL,
    step_until = NULL, step_attempts = 0, step_waits_since = NULL, step_overdue = false,
    step_hurried = false,
    step_due_at = CASE WHEN CASE m.to_state ${isDue} END IS NOT NULL THEN now() END,
    unattended_revisions = coalesce(m.unattended_revisions, c.unattended_revisions),
    ${effects}
  FROM m
  WHERE c.workspace_id = $1 AND c.task_id = $2 AND ${asFilter(`(c.state, m.to_state) IN (${edges})`)}
  RETURNING c.*, old.state AS previous_state, m.reason, m.message, m.actor_kind, m.actor_id
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'c.workspace_id',
      event: `CASE c.state ${events.join(' ')} END`,
      task_id: 'c.task_id',
      run_id: 'c.run_id',
      reason: 'c.reason',
      message: 'c.message',
      details: `jsonb_build_object('previousState', c.previous_state, 'newState', c.state,
        ${CHANGE_FIELDS})`,
      actor_kind: 'c.actor_kind',
      actor_id: 'c.actor_id',
    },
    'c',
  )}
)
SELECT c.version, c.step FROM c`,
);
