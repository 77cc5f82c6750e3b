import { query } from '#lib/database';

/** When a gateway was last heard. Caller: SpawnObstacles, as the service role. No index: a handful of rows. */
export const lastGatewayBeat = query<{ at: Date | null }>(
  'last_gateway_beat',
  `SELECT max(last_seen_at) AS at FROM gateways`,
);
