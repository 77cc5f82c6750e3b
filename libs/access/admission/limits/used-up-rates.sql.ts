import { query } from '#lib/database';

export interface UsedUpRate {
  scope: 'installation' | 'workspace';
  perMinute: number;
  /** Time of the next allowed spawn. Null means never, because the rate is 0. */
  nextAt: Date | null;
}

/**
 * The spawn rates that allow none now. Fills no bucket: its content is computed from its last
 * filling.
 *
 * As the service role. Indexes: primary keys. $1 workspace, $2 the installation's rate a minute; 0:
 * none.
 */
export const usedUpRates = query<UsedUpRate>(
  'used_up_rates',
  `
WITH bucket AS (
  SELECT 'installation' AS scope, $2::float8 AS rate, s.tokens, s.filled_at
  FROM installation_spawn_allowance s WHERE $2::float8 > 0
  UNION ALL
  SELECT 'workspace', l.spawns_per_minute::float8, s.tokens, s.filled_at
  FROM workspace_limits l LEFT JOIN spawn_allowances s ON s.workspace_id = l.workspace_id
  WHERE l.workspace_id = $1 AND l.spawns_per_minute IS NOT NULL
),
filled AS (
  SELECT scope, rate, coalesce(
    least(rate, tokens + extract(epoch FROM now() - filled_at) * rate / 60.0), rate) AS tokens
  FROM bucket
)
SELECT scope, rate::int AS "perMinute",
  CASE WHEN rate > 0 THEN now() + make_interval(secs => (1 - tokens) * 60.0 / rate) END AS "nextAt"
FROM filled WHERE tokens < 1 ORDER BY scope`,
);
