import { createPool, type Sql, type SqlRunner } from '#lib/database';

/** Runs statements on a database given as a URL or as a runner. */
export async function withRunner<T>(
  database: string | SqlRunner,
  work: (runner: SqlRunner) => Promise<T>,
): Promise<T> {
  if (typeof database !== 'string') return work(database);
  const pool = createPool({ url: database, max: 1, applicationName: 'drover-invariants' });
  try {
    return await work({
      rows: async <Row>(sql: Sql<Row>, params: readonly unknown[] = []) => {
        const result = await pool.query({ name: sql.name, text: sql.text, values: [...params] });
        return result.rows as Row[];
      },
    });
  } finally {
    await pool.end();
  }
}
