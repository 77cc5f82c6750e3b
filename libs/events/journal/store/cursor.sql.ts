import { command, lastDrawn, query } from '#lib/database';
import type { JournalRow } from '../domain/journal-row.js';

const LAST = lastDrawn('journal_id_seq');

export interface Outlook {
  /** The last id that was drawn. */
  last: string;
  position: string;
  /** Another process reads for this consumer. */
  elsewhere: boolean;
  /**
   * Drawn after `last` was read, if there is more to read and the lease is this process's for a
   * while. Otherwise null.
   */
  xid: string | null;
}

/**
 * A consumer's position and the end of the journal. It writes nothing, so an idle installation does
 * not write.
 *
 * The transaction id is drawn after the sequence was read, because an output column is computed
 * after its source. Index: primary key. $1 consumer, $2 owner, $3 seconds that the lease must last.
 */
export const readOutlook = command<Outlook>(
  'journal_read_outlook',
  `
WITH s AS MATERIALIZED (SELECT ${LAST} AS last)
SELECT s.last, c.position,
  coalesce(c.owner <> $2 AND c.leased_until > now(), false) AS elsewhere,
  CASE WHEN s.last > c.position
    AND c.owner = $2 AND c.leased_until > now() + make_interval(secs => $3)
  THEN pg_current_xact_id()::text END AS xid
FROM event_consumers c, s
WHERE c.name = $1`,
);

/**
 * Adds a missing consumer at the start of the journal, or at the last drawn id. Index: primary key.
 * $1 consumer, $2 whether at the start.
 */
export const addConsumer = command<unknown>(
  'journal_add_consumer',
  `
INSERT INTO event_consumers (name, position)
SELECT $1, CASE WHEN $2 THEN 0 ELSE ${LAST} END
ON CONFLICT DO NOTHING`,
);

/** Its numbers are removed with it. Index: primary key. $1 consumer. */
export const removeConsumer = command<unknown>(
  'journal_remove_consumer',
  `DELETE FROM event_consumers WHERE name = $1`,
);

/**
 * Takes or renews the consumer's lease and draws a transaction id. Ids up to the number read before
 * belong to transactions with a smaller one, because the journal draws the transaction id before
 * the row's id.
 *
 * A lease, not a session's advisory lock: a stopped process (SIGSTOP) keeps its connection, and an
 * advisory lock with it, indefinitely. Index: primary key. $1 consumer, $2 owner, $3 seconds. No
 * row means that another process has it.
 */
export const takeLease = command<{ position: string; xid: string }>(
  'journal_take_lease',
  `
UPDATE event_consumers SET owner = $2, leased_until = now() + make_interval(secs => $3)
WHERE name = $1 AND (owner IS NULL OR owner = $2 OR leased_until <= now())
RETURNING position, pg_current_xact_id()::text AS xid`,
);

/** The columns of a `JournalRow`. */
const COLUMNS = `j.id, j.workspace_id, j.event, j.log_event, j.task_id, j.version, j.previous_status, j.new_status,
  j.run_id, j.run_version, j.previous_state, j.new_state, j.end_reason, j.generation, j.agent_id, j.actor_kind, j.reason,
  j.message, j.details, (extract(epoch FROM j.retry_at) * 1000)::float8 AS retry_at,
  round(date_part('epoch', date_trunc('milliseconds', j.created_at)) * 1000) AS created_at`;

/** Rows of the batch, or one row without an id that says whether the horizon was reached. */
export type BatchRow = { settled: boolean } & (JournalRow | { id: null });

/**
 * The rows after $1 up to $2, at most $4, of the workspaces $5 or (null) of all. None before all
 * transactions below $3 have ended, because their rows may still become visible.
 * `pg_snapshot_xmax` is no such bound: it lost events.
 *
 * Index: journal_pkey of each partition, merged. 100,000 rows, 1,000 a batch: 3 ms.
 */
export const readBatch = query<BatchRow>(
  'journal_read_batch',
  `
SELECT h.settled, ${COLUMNS}
FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $3::xid8 AS settled) h
LEFT JOIN LATERAL (
  SELECT * FROM journal WHERE h.settled AND id > $1 AND id <= $2
    AND ($5::uuid[] IS NULL OR workspace_id = ANY ($5))
  ORDER BY id LIMIT $4) j ON true
ORDER BY j.id`,
);

/**
 * The last numbers of workspaces at a position. None if the consumer has moved on, and the numbers
 * with it. Index: primary keys. $1 consumer, $2 position, $3 workspaces.
 */
export const readNumbers = query<{ workspace_id: string; last_number: string }>(
  'journal_read_numbers',
  `
SELECT w.id AS workspace_id, coalesce(n.last_number, 0) AS last_number
FROM event_consumers c CROSS JOIN unnest($3::uuid[]) AS w (id)
LEFT JOIN event_numbers n ON n.consumer = c.name AND n.workspace_id = w.id
WHERE c.name = $1 AND c.position = $2`,
);

/**
 * Marks the batch as processed: advances the cursor and the numbers and renews the lease. No row
 * means that another process has taken over.
 *
 * It waits for no disk. After a crash that loses it, the batch comes again with the same numbers.
 * Index: primary keys. $1 consumer, $2 owner, $3 position before, $4 position, $5 workspaces, $6
 * their last numbers, $7 seconds.
 */
export const advance = command<{ name: string }>(
  'journal_advance',
  `
WITH moved AS (
  UPDATE event_consumers SET position = $4, leased_until = now() + make_interval(secs => $7)
  WHERE name = $1 AND owner = $2 AND position = $3 RETURNING name
),
counted AS (
  INSERT INTO event_numbers (consumer, workspace_id, last_number)
  SELECT m.name, n.workspace_id, n.last FROM moved m, unnest($5::uuid[], $6::bigint[]) AS n (workspace_id, last)
  ON CONFLICT (consumer, workspace_id) DO UPDATE SET last_number = excluded.last_number
)
SELECT name, set_config('synchronous_commit', 'off', true) FROM moved`,
);

/** Index: primary key. $1 consumer, $2 owner. */
export const giveLeaseBack = command<unknown>(
  'journal_give_lease_back',
  `UPDATE event_consumers SET owner = NULL, leased_until = NULL WHERE name = $1 AND owner = $2`,
);

/**
 * The last drawn id, the last one that is no longer stored, and a transaction id drawn after the
 * first was read, as in `readOutlook`, but only if there is more than $1. It reads two sequences.
 */
export const readEnds = command<{ last: string; dropped: string; xid: string | null }>(
  'journal_read_ends',
  `
WITH s AS MATERIALIZED (SELECT ${LAST} AS last)
SELECT s.last, d.last_value AS dropped,
  CASE WHEN s.last > $1::bigint THEN pg_current_xact_id()::text END AS xid
FROM s, journal_dropped_seq d`,
);

/** The position of the most advanced consumer. Consumers are few, so all are read. */
export const readFurthest = query<{ position: string | null }>(
  'journal_read_furthest',
  `SELECT max(position) AS position FROM event_consumers`,
);

/**
 * A workspace's rows after $2 up to $3, at most $4, as its tenant. Only below a horizon that was
 * reached.
 *
 * Index: journal_pkey of each partition, merged. It reads the rows of all workspaces between the
 * ids. $1 workspace.
 */
export const readPage = query<JournalRow>(
  'journal_read_page',
  `
SELECT ${COLUMNS} FROM journal j WHERE j.workspace_id = $1 AND j.id > $2 AND j.id <= $3 ORDER BY j.id LIMIT $4`,
);
