import { query } from '#lib/database';

/**
 * Reads the time of the latest gateway heartbeat, whether it was lately, and how many gateways
 * drain.
 *
 * As the service role. No index: a handful of rows. $1 seconds after which an unresponsive gateway
 * does not count.
 */
export const lastGatewayHeartbeat = query<{ at: Date | null; heard: boolean; draining: number }>(
  'last_gateway_heartbeat',
  `
SELECT max(last_seen_at) AS at, coalesce(bool_or(recent), false) AS heard,
  (count(*) FILTER (WHERE draining AND recent))::int AS draining
FROM gateways, LATERAL (SELECT last_seen_at > now() - make_interval(secs => $1::float8)) AS r (recent)`,
);
