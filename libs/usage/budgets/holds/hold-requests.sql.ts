import { command } from '#lib/database';

/**
 * Writes the holds of requests to locked runs and budgets.
 *
 * Indexes: primary keys. $1 workspace, $2 JSON array of {runId, requests, held, heldOf, wanted}, $3
 * JSON array of {id, reserved}.
 */
export const writeRequestHolds = command<never>(
  'write_request_holds',
  `
WITH run_holding AS (
  UPDATE task_runs r SET request_holds = u.requests, held_tokens = u.held, budget_ids = u."heldOf",
    wanted_tokens = u.wanted
  FROM jsonb_to_recordset($2::jsonb)
    AS u ("runId" uuid, requests jsonb, held bigint, "heldOf" uuid[], wanted bigint)
  WHERE r.workspace_id = $1 AND r.id = u."runId"
)
UPDATE usage_budgets b SET reserved = greatest(b.reserved + u.reserved, 0), updated_at = now()
FROM jsonb_to_recordset($3::jsonb) AS u (id uuid, reserved bigint)
WHERE b.workspace_id = $1 AND b.id = u.id AND u.reserved <> 0`,
);
