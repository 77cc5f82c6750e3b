import { command } from '#lib/database';

/** The gateway of the basic protocol, which reports no identity and no boot id of its own. */
export const BASIC_GATEWAY = { id: 'basic', bootId: '00000000-0000-4000-8000-000000000000' };

/**
 * Records the gateway of the basic protocol as if it had sent a heartbeat. Its capacity is a
 * setting, and calls to it show whether it is there.
 *
 * As the service role. Index: primary key. $1 id, $2 boot, $3 capacity.
 */
export const noteBasicGateway = command<{ id: string }>(
  'note_basic_gateway',
  `
INSERT INTO gateways (id, boot_id, started_at, capacity, running, queued)
  VALUES ($1, $2, now(), $3, 0, 0)
ON CONFLICT (id) DO UPDATE SET capacity = excluded.capacity, last_seen_at = now()
RETURNING id`,
);
