import { command } from '#lib/database';

/**
 * Takes the relay's lease or renews it, and locks its row until the transaction ends. The statement
 * behind it in the same transaction has a newer snapshot, so it sees what a former holder committed.
 *
 * Caller: EventRelay, first in the transaction that takes a batch. Index: primary key, one row.
 * $1 owner, $2 seconds. No row: another relay has it.
 *
 * A lease and not a session's advisory lock: a relay that is stopped (SIGSTOP) keeps its connection,
 * and with it an advisory lock, for as long as it pleases.
 */
export const takeLease = command<{ kept: boolean; in_flight: string[] }>(
  'outbox_take_lease',
  `
UPDATE outbox_relay SET owner = $1, leased_until = now() + make_interval(secs => $2)
WHERE id = 1 AND (owner IS NULL OR owner = $1 OR leased_until <= now())
RETURNING old.owner IS NOT DISTINCT FROM $1 AS kept, in_flight::text[] AS in_flight`,
);

/** Gives the lease back. $1 owner, $2 whether what was in flight has arrived; if not, the next relay has it. */
export const giveLeaseBack = command<unknown>(
  'outbox_give_lease_back',
  `
UPDATE outbox_relay SET owner = NULL, leased_until = NULL,
  in_flight = CASE WHEN $2 THEN '{}' ELSE in_flight END
WHERE id = 1 AND owner = $1`,
);
