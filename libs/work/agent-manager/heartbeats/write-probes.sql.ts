import { command } from '#lib/database';

/**
 * Whether heartbeats could be written now. It needs everything that a flush needs (a writable
 * database, the lock of the table) and writes nothing.
 *
 * Once a second and at each readiness probe, as the service role. It reads no row.
 */
export const mayWriteHeartbeats = command<unknown>(
  'may_write_heartbeats',
  'UPDATE agent_heartbeats SET status = status WHERE false',
);

/**
 * Whether there is space again: creates a file as large as a burst of rows, and drops it.
 *
 * As the service role, and only after the database refused a change, because it writes to the
 * catalogue.
 */
export const takeRoom = command<unknown>(
  'take_room',
  `CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT repeat('x', 1000) AS x
    FROM generate_series(1, 100)`,
);
