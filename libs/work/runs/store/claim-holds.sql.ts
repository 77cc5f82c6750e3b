import { HELD_COLUMNS, HOLDS_NOTED } from '#lib/transitions';
import { availableBudgets, hasBudgets, holdsAfforded, NO_BUDGETS } from '#lib/budgets';

/** How a claim of the workspace $1 treats budgets. */
export interface Holds {
  /** CTEs before all others, each followed by a comma. */
  first: string;
  /** SQL: the remaining tokens of the budgets, for `mayBeHandedOut`. */
  budgets: string;
  /** SQL: a further condition for handing out, after AND. */
  mayClaim: string;
  /** SQL: columns of tasks, after a comma. */
  columns: (task: string) => string;
  /** CTEs between the choice of tasks and their move, each followed by a comma. */
  afforded: string;
  /** The CTE with the tasks to move. */
  source: string;
  /** The columns that it returns. */
  returned: readonly string[];
  /** SQL: budgets exist, but the statement did not read them. */
  missed: string;
  /** SQL: a last column, after a comma. */
  noted: string;
  holding: boolean;
}

/** Most workspaces have no budgets, so their claims only check that none exists. */
export const WITHOUT_HOLDS: Holds = {
  first: '',
  budgets: NO_BUDGETS,
  mayClaim: ` AND NOT ${hasBudgets('$1')}`,
  columns: () => '',
  afforded: '',
  source: 'chosen',
  returned: [],
  missed: hasBudgets('$1'),
  noted: '',
  holding: false,
};

/** `takeHolds` ends the transaction. */
export const WITH_HOLDS: Holds = {
  first: `budgets AS MATERIALIZED (SELECT ${availableBudgets('$1')} AS available),\n`,
  budgets: '(SELECT available FROM budgets)',
  mayClaim: '',
  columns: (task) => `, ${task}.project_id, ${task}.milestone_id, ${task}.estimated_tokens`,
  afforded: `${holdsAfforded(() => '$1')},\n`,
  source: 'afforded',
  returned: HELD_COLUMNS,
  missed: 'false',
  noted: `,\n  ${HOLDS_NOTED} AS noted`,
  holding: true,
};
