import { query } from '#lib/database';

/**
 * When a gateway was last heard, and how many are leaving.
 *
 * Caller: SpawnObstacles, as the service role. No index: a handful of rows.
 * $1 seconds after which a silent gateway does not count.
 */
export const lastGatewayBeat = query<{ at: Date | null; draining: number }>(
  'last_gateway_beat',
  `
SELECT max(last_seen_at) AS at, (count(*) FILTER (
    WHERE draining AND last_seen_at > now() - make_interval(secs => $1::float8)))::int AS draining
FROM gateways`,
);
