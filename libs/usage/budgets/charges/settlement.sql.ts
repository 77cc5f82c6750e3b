import { command } from '#lib/database';

/**
 * Applies a settlement to locked runs and budgets.
 *
 * Indexes: primary keys. $1 workspace, $2 JSON array of {runId, tokens, cost, held, requests},
 * where `requests` can be absent, $3 JSON array of {id, consumed, reserved}.
 */
export const applySettlement = command<never>(
  'apply_settlement',
  `
WITH run_charged AS (
  UPDATE task_runs r SET used_tokens = r.used_tokens + u.tokens,
    used_cost_usd = r.used_cost_usd + u.cost, held_tokens = u.held,
    request_holds = coalesce(u.requests, r.request_holds)
  FROM jsonb_to_recordset($2::jsonb) AS u ("runId" uuid, tokens bigint, cost numeric, held bigint,
    requests jsonb)
  WHERE r.workspace_id = $1 AND r.id = u."runId"
)
UPDATE usage_budgets b SET consumed = b.consumed + u.consumed,
  reserved = greatest(b.reserved + u.reserved, 0), updated_at = now()
FROM jsonb_to_recordset($3::jsonb) AS u (id uuid, consumed bigint, reserved bigint)
WHERE b.workspace_id = $1 AND b.id = u.id`,
);
