import { command } from '#lib/database';
import type { Recommendation } from '../domain/projection.js';

/** A throttle that is to apply. */
export interface WantedThrottle {
  workspace_id: string;
  project_id: string | null;
  budget_id: string;
  /** The version of the budget that was read. */
  budget_version: number;
  max_runs: number;
  reason: Recommendation;
}

/** A throttle that began, changed or ended. */
export interface ChangedThrottle {
  workspace_id: string;
  project_id: string | null;
  budget_id: string;
  /** NULL means that the throttle has ended. */
  max_runs: number | null;
  /** The limit before the change. NULL means that the throttle is new. */
  before: number | null;
}

/**
 * Makes the wanted throttles apply, and ends all others. Rows that stay the same are not written. A
 * row with a new version of its budget alone is written and not returned.
 *
 * It runs as the service role in a fenced transaction, so one server writes at a time.
 * Index: primary key. The table has few rows and is read whole. $1 workspace or NULL for all,
 * $2 JSON array of WantedThrottle.
 */
export const writeThrottles = command<ChangedThrottle>(
  'write_throttles',
  `
WITH wanted AS MATERIALIZED (
  SELECT w.*, coalesce(w.project_id, w.workspace_id) AS scope_id
  FROM jsonb_to_recordset($2::jsonb) AS w
    (workspace_id uuid, project_id uuid, budget_id uuid, budget_version int, max_runs int,
    reason text)
),
ended AS (
  DELETE FROM workspace_throttles h
  WHERE ($1::uuid IS NULL OR h.workspace_id = $1)
    AND NOT EXISTS (SELECT FROM wanted w
      WHERE w.workspace_id = h.workspace_id AND w.scope_id = h.scope_id)
  RETURNING h.workspace_id, h.project_id, h.budget_id, NULL::int AS max_runs, h.max_runs AS before
),
written AS (
  INSERT INTO workspace_throttles AS h
    (workspace_id, project_id, budget_id, budget_version, max_runs, reason)
  SELECT workspace_id, project_id, budget_id, budget_version, max_runs, reason FROM wanted
  ON CONFLICT (workspace_id, scope_id) DO UPDATE
  SET budget_id = excluded.budget_id, budget_version = excluded.budget_version,
    max_runs = excluded.max_runs, reason = excluded.reason
  WHERE (h.budget_id, h.budget_version, h.max_runs, h.reason) IS DISTINCT FROM
    (excluded.budget_id, excluded.budget_version, excluded.max_runs, excluded.reason)
  RETURNING h.workspace_id, h.project_id, h.budget_id, h.max_runs, old.max_runs AS before,
    (old.budget_id, old.max_runs, old.reason)
      IS DISTINCT FROM (h.budget_id, h.max_runs, h.reason) AS differs
)
SELECT * FROM ended UNION ALL
SELECT workspace_id, project_id, budget_id, max_runs, before FROM written WHERE differs`,
);
