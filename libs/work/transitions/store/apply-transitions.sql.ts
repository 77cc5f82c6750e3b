import { command } from '#lib/database';
import { detached } from './detach-runs.sql.js';
import { journaled } from './journal.sql.js';
import { anyRunTransition } from './run-transition.sql.js';
import { anyTaskTransition } from './task-transition.sql.js';

/**
 * Applies decisions about locked tasks: one statement for one row or a thousand.
 *
 * Always in the transaction that holds the tasks' locks. Indexes: primary keys.
 *
 * $1 JSON array of task transitions, $2 JSON array of run transitions.
 */
export interface AppliedRow {
  workspace_id: string;
  id: string;
  version: number;
  previous_status: string;
  status: string;
  agent_id: string | null;
  unmet_dependencies: number;
  dependents_unsettled: boolean;
}

export const applyTransitionsSql = command<AppliedRow>(
  'apply_transitions',
  `
WITH ${anyTaskTransition('$1::jsonb')},
${anyRunTransition('$2::jsonb')},
${journaled('either')}
SELECT workspace_id, id, version, previous_status, status, agent_id, unmet_dependencies,
  dependents_unsettled
FROM task_moved`,
);

/**
 * The same, with runs that PAUSED tasks lose. One statement, because it locks agents and budgets,
 * and nothing may lock a task, a run or an agent after a budget.
 *
 * $3 these runs, which are among those of $2.
 */
export const applyAndDetach = command<AppliedRow>(
  'apply_and_detach',
  `
WITH ${anyTaskTransition('$1::jsonb')},
${anyRunTransition('$2::jsonb')},
${detached('r.id = ANY ($3::uuid[])')},
${journaled('either')}
SELECT workspace_id, id, version, previous_status, status, agent_id, unmet_dependencies,
  dependents_unsettled
FROM task_moved`,
);
