import { HELD_COLUMNS, HOLDS_NOTED } from '#lib/transitions';
import { availableBudgets, holdsAfforded } from '#lib/budgets';
import {
  isFree,
  mayBeHandedOut,
  mayBeHandedOutFreely,
  scopeOf,
  someTasksMayWait,
  takesWork,
  whyWorkspaceWaits,
  workspaceHandsOut,
} from './hand-out.sql.js';

/** How a claim of the workspace $1 treats pauses, throttles, provider limits and budgets. */
export interface Holds {
  /** CTEs before all others, each followed by a comma. */
  first: string;
  /** SQL: something may hold back tasks of the workspace. */
  isHeld: string;
  /** SQL: the workspace hands out tasks. */
  handsOut: string;
  /** SQL: an agent can get a further task, if it has room. */
  takesWork: (agent: string) => string;
  /** SQL: a task can be handed out. */
  mayBeHandedOut: (task: string) => string;
  /** SQL: columns of tasks, after a comma. */
  columns: (task: string) => string;
  /** CTEs between the choice of tasks and their move, each followed by a comma. */
  afforded: string;
  /** The CTE with the tasks to move. */
  source: string;
  /** The columns that it returns. */
  returned: readonly string[];
  /** SQL: the reason if the workspace hands out nothing, or NULL. */
  why: string;
  /** SQL: single tasks of the workspace may be held back. */
  someHeld: string;
  /** SQL: a last column, after a comma. */
  noted: string;
  holding: boolean;
}

/** Nothing holds back tasks in most workspaces. Elsewhere this claim gives nothing. */
export const WITHOUT_HOLDS: Holds = {
  first: `mark AS MATERIALIZED (SELECT NOT ${isFree('$1')} AS is_held),\n`,
  isHeld: '(SELECT is_held FROM mark)',
  handsOut: 'NOT (SELECT is_held FROM mark)',
  takesWork: (agent) => takesWork(agent, ['provider_limited']),
  mayBeHandedOut: mayBeHandedOutFreely,
  columns: () => '',
  afforded: '',
  source: 'chosen',
  returned: [],
  why: 'NULL::text',
  someHeld: 'false',
  noted: '',
  holding: false,
};

/** `takeHolds` ends the transaction. */
export const WITH_HOLDS: Holds = {
  first: `budgets AS MATERIALIZED (SELECT ${availableBudgets('$1')} AS available),\n`,
  isHeld: `NOT ${isFree('$1')}`,
  handsOut: workspaceHandsOut('$1'),
  takesWork,
  mayBeHandedOut: (task) => mayBeHandedOut(task, scopeOf('$1', '(SELECT available FROM budgets)')),
  columns: (task) => `, ${task}.project_id, ${task}.milestone_id, ${task}.estimated_tokens`,
  afforded: `${holdsAfforded(() => '$1')},\n`,
  source: 'afforded',
  returned: HELD_COLUMNS,
  why: whyWorkspaceWaits('$1'),
  someHeld: someTasksMayWait('$1'),
  noted: `,\n  ${HOLDS_NOTED} AS noted`,
  holding: true,
};
