import { query } from '#lib/database';

/**
 * Counts the further sessions that the recently heard gateways could run. That is their total
 * capacity less the sessions without runs, and less the live runs of push agents. Live runs are
 * counted in our own rows, not in the gateways' last heartbeats: a session that has just ended
 * makes room at once.
 *
 * As the service role. Indexes: gateways (a handful of rows), agents_push_idx. $1 seconds after
 * which an unresponsive gateway does not count.
 */
export const spawnRoom = query<{ room: number; gateways: number }>(
  'spawn_room',
  `
SELECT count(g.id)::int AS gateways, (coalesce(sum(g.capacity - g.others), 0) - (
    SELECT coalesce(sum(a.live_runs), 0) FROM agents a WHERE a.mode = 'push'))::int AS room
FROM gateways g
WHERE g.last_seen_at > now() - make_interval(secs => $1::float8) AND NOT g.draining`,
);
