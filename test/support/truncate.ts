import type pg from 'pg';

/**
 * Empties tables, including those whose rows are never removed. No other test of the database can
 * need them.
 */
export async function truncate(owner: pg.Pool, tables: readonly string[]): Promise<void> {
  await owner.query(
    `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE ${tables.join(', ')} CASCADE; COMMIT`,
  );
}
