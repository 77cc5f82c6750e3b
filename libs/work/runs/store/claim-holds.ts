import { HELD_COLUMNS, HOLDS_NOTED } from '#lib/transitions';
import { availableBudgets, hasBudgets, holdsAfforded, NO_BUDGETS } from '#lib/budgets';

/** How a claim of the workspace $1 treats budgets. */
export interface Holds {
  /** CTEs before all others, each with a comma behind it. */
  first: string;
  /** SQL: what the budgets have left, for `mayBeHandedOut`. */
  budgets: string;
  /** SQL: a further condition of handing out, after AND. */
  mayClaim: string;
  /** SQL: columns of tasks, after a comma. */
  columns: (task: string) => string;
  /** CTEs between those who choose tasks and those who move them, each with a comma behind it. */
  afforded: string;
  /** The CTE with the tasks to move. */
  source: string;
  /** What it returns of them. */
  returned: readonly string[];
  /** SQL: there are budgets, which the statement did not look at. */
  missed: string;
  /** SQL: a last column, after a comma. */
  noted: string;
  holding: boolean;
}

/** Most workspaces have no budgets, and their claims do not pay for them: they look whether there is one. */
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
