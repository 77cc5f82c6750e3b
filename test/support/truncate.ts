import type pg from 'pg';

/** Empties tables, those too whose rows are never removed. They must not matter to another test of the database. */
export async function truncate(owner: pg.Pool, tables: readonly string[]): Promise<void> {
  await owner.query(
    `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE ${tables.join(', ')} CASCADE; COMMIT`,
  );
}
