import { query } from '#lib/database';

/** A throttle that applies, as `explain` reports it. */
export interface Throttle {
  projectId: string | null;
  budgetId: string;
  maxRuns: number;
  since: Date;
}

/**
 * Reads the throttles of a workspace and of one of its projects.
 * Index: primary key. $1 workspace, $2 project or NULL.
 */
export const throttlesOf = query<Throttle>(
  'throttles_of',
  `
SELECT h.project_id AS "projectId", h.budget_id AS "budgetId", h.max_runs AS "maxRuns", h.since
FROM workspace_throttles h
WHERE h.workspace_id = $1 AND h.scope_id IN ($1, $2)
ORDER BY h.project_id NULLS FIRST`,
);
