import { command, query } from '#lib/database';
import { SEALED_TABLE_NAMES } from './sealed-tables.js';

export interface DataKeyRow {
  id: string;
  master_key_id: string;
  wrapped: Buffer;
  retired: boolean;
  /** Older than the maximum age. */
  aged: boolean;
  /** Whether values can exist under it. */
  used: boolean;
}

/** SQL: something is sealed with the key `k`. Indexes: the `_key_idx` of each table. */
const IN_USE = `(${SEALED_TABLE_NAMES.map(
  (table) => `EXISTS (SELECT FROM ${table} s WHERE s.key_id = k.id)`,
).join('\n    OR ')})`;

/** SQL: a row for each sealed column, with `key_id` and `unreadable_at`. */
export const SEALED_COLUMNS = SEALED_TABLE_NAMES.map(
  (table) => `SELECT key_id, unreadable_at FROM ${table}`,
).join('\n  UNION ALL ');

/**
 * All data keys, newest first. There are a handful.
 *
 * Indexes: those of IN_USE. $1 maximum age of a key in days.
 */
export const readDataKeys = query<DataKeyRow>(
  'read_data_keys',
  `
SELECT k.id, k.master_key_id, k.wrapped, k.retired_at IS NOT NULL AS retired,
  k.created_at < now() - make_interval(days => $1) AS aged,
  ${IN_USE} AS used
FROM data_keys k
WHERE k.wrapped IS NOT NULL
ORDER BY k.created_at DESC, k.id DESC`,
);

/** Serialises writers of keys until the transaction ends. */
export const lockDataKeys = command<unknown>(
  'lock_data_keys',
  `SELECT pg_advisory_xact_lock(hashtext('drover data keys'))`,
);

/** $1 id, $2 master key's id, $3 the wrapped key. */
export const insertDataKey = command<unknown>(
  'insert_data_key',
  'INSERT INTO data_keys (id, master_key_id, wrapped) VALUES ($1, $2, $3)',
);

/** Needs the lock of lockDataKeys. $1 ids. */
export const retireDataKeys = command<unknown>(
  'retire_data_keys',
  'UPDATE data_keys SET retired_at = now() WHERE id = ANY($1::uuid[]) AND retired_at IS NULL',
);

/**
 * Removes unused keys some time after their retirement, because a server may not know of it yet and
 * have a write in progress.
 *
 * Indexes: those of IN_USE. $1 seconds after retirement.
 */
export const removeUnusedDataKeys = command<{ id: string }>(
  'remove_unused_data_keys',
  `
DELETE FROM data_keys k
WHERE k.retired_at <= now() - make_interval(secs => $1)
  AND NOT ${IN_USE}
RETURNING k.id`,
);
