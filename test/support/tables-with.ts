import type pg from 'pg';

/** Returns the tables that contain a text anywhere, including events and idempotency keys. */
export async function tablesWith(
  { db }: { db: { owner: pg.Pool } },
  text: string,
): Promise<string[]> {
  const { rows } = await db.owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await db.owner.query(
      `SELECT FROM ${name} x WHERE strpos(to_jsonb(x)::text, $1) > 0 LIMIT 1`,
      [text],
    );
    if (rowCount) found.push(name);
  }
  return found;
}
