import { command, query } from '#lib/database';

/**
 * Statements on the one row of coordinator_leadership. Index of all: its primary key.
 *
 * The fence takes FOR KEY SHARE, which only FOR UPDATE excludes. A change of leader and the current
 * sweeps wait for each other, while renewing the lease and counting cycles wait for nothing. Tried:
 * FOR SHARE. The leader's own renewals then queue behind each of its sweeps.
 */

export interface SeizedRow {
  epoch: string;
}

/**
 * Raises the epoch: from this commit on, no sweep of an earlier epoch can commit.
 *
 * $1 instance, $2 lease in seconds, $3 true: this instance took Valkey's lock from the present
 * leader; false: only if the lease in Postgres has expired. No row: another instance leads.
 */
export const seizeLeadership = command<SeizedRow>(
  'coordinator_seize_leadership',
  `
WITH free AS MATERIALIZED (
  SELECT id FROM coordinator_leadership
  WHERE id = 1 AND ($3::boolean OR leased_until IS NULL OR leased_until <= now())
  FOR UPDATE
)
UPDATE coordinator_leadership l SET
  epoch = l.epoch + 1, instance_id = $1, acquired_at = now(),
  leased_until = now() + make_interval(secs => $2)
FROM free WHERE l.id = free.id
RETURNING l.epoch`,
);

/** $1 epoch, $2 lease in seconds. No row: another instance leads. */
export const renewLeadership = command<{ epoch: string }>(
  'coordinator_renew_leadership',
  `
UPDATE coordinator_leadership SET leased_until = now() + make_interval(secs => $2)
WHERE id = 1 AND epoch = $1
RETURNING epoch`,
);

/** Lets another instance lead at once. $1 epoch. */
export const resignLeadership = command<unknown>(
  'coordinator_resign_leadership',
  `UPDATE coordinator_leadership SET leased_until = NULL WHERE id = 1 AND epoch = $1`,
);

/**
 * The fence: first in each transaction of a sweep. No row: the epoch is over.
 *
 * $1 epoch, $2 milliseconds after which Postgres ends this transaction if the process falls asleep
 * in it. Until then its locks keep the next leader waiting.
 */
export const checkEpoch = query<unknown>(
  'coordinator_check_epoch',
  `
SELECT set_config('idle_in_transaction_session_timeout', $2, true)
FROM coordinator_leadership WHERE id = 1 AND epoch = $1
FOR KEY SHARE`,
);

/** Counts a finished cycle. $1 epoch, $2 its report as JSON. */
export const recordCycle = command<unknown>(
  'coordinator_record_cycle',
  `
UPDATE coordinator_leadership SET
  last_cycle_at = now(), cycle_count = cycle_count + 1, last_cycle = $2::jsonb
WHERE id = 1 AND epoch = $1`,
);

export interface LeadershipRow {
  epoch: string;
  instance_id: string | null;
  active: boolean;
  last_cycle_at: Date | null;
  last_cycle: unknown;
  cycle_count: string;
}

/** The leader and its last cycle. */
export const readLeadership = query<LeadershipRow>(
  'coordinator_read_leadership',
  `
SELECT epoch, instance_id, coalesce(leased_until > now(), false) AS active, last_cycle_at,
  last_cycle,
  cycle_count
FROM coordinator_leadership WHERE id = 1`,
);
