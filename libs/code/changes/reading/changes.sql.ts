import { query, type Sql } from '#lib/database';
import { COST_COLUMNS, COST_JOINS, type CostRow } from '../store/cost.sql.js';
import { SHOWN_COLUMNS, SHOWN_FROM, type ShownChange } from '../store/changes.sql.js';

const SHOWN = `SELECT ${SHOWN_COLUMNS}
FROM ${SHOWN_FROM}`;

/** Index: primary keys. $1 workspace, $2 change. */
export const shownChange = query<ShownChange>(
  'shown_change',
  `
${SHOWN}
WHERE c.workspace_id = $1 AND c.task_id = $2`,
);

const newest = (name: string, filter: string) =>
  query<ShownChange>(
    name,
    `
${SHOWN}
WHERE c.workspace_id = $1 AND ($2::uuid IS NULL OR c.task_id < $2)${filter}
ORDER BY c.task_id DESC LIMIT $3`,
  );

/**
 * Changes of a workspace, the newest first. One statement for each set of filters, so that a rare
 * state is found among many finished changes. Indexes: primary key, changes_state_idx,
 * changes_repository_idx. $1 workspace, $2 last id of the previous page or NULL, $3 maximum number
 * of rows, then $4 state, and the repository as the next.
 */
export const newestChanges: Record<'all' | 'state' | 'repository' | 'both', Sql<ShownChange>> = {
  all: newest('newest_changes', ''),
  state: newest('newest_changes_of_state', ' AND c.state = $4'),
  repository: newest('newest_changes_of_repository', ' AND c.repository_id = $4'),
  both: newest('newest_changes_of_both', ' AND c.state = $4 AND c.repository_id = $5'),
};

/** Indexes: primary key, those of COST_JOINS. $1 workspace, $2 change. */
export const costOfChange = query<CostRow>(
  'cost_of_change',
  `
SELECT ${COST_COLUMNS} FROM changes c ${COST_JOINS}
WHERE c.workspace_id = $1 AND c.task_id = $2`,
);
