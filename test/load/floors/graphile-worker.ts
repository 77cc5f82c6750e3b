import { Logger, runMigrations, runOnce } from 'graphile-worker';
import pg from 'pg';

const logger = new Logger(() => () => undefined);

const FILL = `
SELECT count(graphile_worker.add_job('no_op', '{"command": ["true"]}'))
FROM generate_series(1, $1::int)`;

/** @returns no-op jobs a second, taken and completed one at a time by `concurrency` workers */
export async function drainWithGraphileWorker(
  url: string,
  { tasks, concurrency }: { tasks: number; concurrency: number },
): Promise<number> {
  const pgPool = new pg.Pool({ connectionString: url, max: concurrency + 2 });
  let done = 0;
  const taskList = { no_op: () => void (done += 1) };
  try {
    await runMigrations({ pgPool, logger });
    await pgPool.query(FILL, [tasks]);
    await pgPool.query('VACUUM (ANALYZE)');
    const start = performance.now();
    await runOnce({ pgPool, concurrency, logger, noHandleSignals: true, taskList });
    if (done !== tasks) throw new Error(`graphile-worker did ${done} of ${tasks} jobs`);
    return tasks / ((performance.now() - start) / 1000);
  } finally {
    await pgPool.end();
  }
}
