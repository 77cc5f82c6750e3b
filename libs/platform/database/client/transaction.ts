import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { fullJitter } from '#lib/kernel';
import { isRetryable, isUnreachable, translateError } from '../errors/db-errors.js';
import type { Pipeline, PipelineRows, Sql, SqlRunner } from '../statements/sql.js';

const MAX_ATTEMPTS = 5;
const RETRY_BACKOFF = { baseMs: 10, capMs: 200 };

/** Runs statements inside one open transaction. */
export class Transaction implements SqlRunner {
  constructor(private readonly client: pg.PoolClient) {}

  async rows<Row>(sql: Sql<Row>, params: readonly unknown[] = []): Promise<Row[]> {
    const result = await this.client.query({ name: sql.name, text: sql.text, values: [...params] });
    return result.rows as Row[];
  }

  /** Runs the statements one after another, like `TenantScope.pipeline`. */
  async pipeline<const Steps extends Pipeline>(steps: Steps): Promise<PipelineRows<Steps>> {
    const results: unknown[][] = [];
    for (const [sql, params] of steps) results.push(await this.rows(sql, params));
    return results as PipelineRows<Steps>;
  }
}

/**
 * Repeats work that failed with a deadlock or a serialization failure. Such a transaction has
 * changed nothing. The work must have no effects outside the database.
 *
 * @throws DroverError `conflict_retry` after five attempts
 */
export async function withRetry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt + 1 >= MAX_ATTEMPTS) throw error;
      await delay(fullJitter(RETRY_BACKOFF, attempt, Math.random()));
    }
  }
}

/** Takes a connection for `work`. Discards a broken connection instead of reusing it. */
export async function withClient<T>(
  pool: pg.Pool,
  writes: boolean,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw translateError(error, false);
  });
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(isUnreachable(error));
    throw isRetryable(error) ? error : translateError(error, writes);
  }
}

/**
 * BEGIN, work, COMMIT; ROLLBACK on any error.
 *
 * @param setUp statements that belong to every transaction of this kind, such as naming the tenant
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  setUp: (tx: Transaction) => Promise<unknown>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let committing = false;
  const attempt = () =>
    withClient(pool, false, async (client) => {
      const tx = new Transaction(client);
      try {
        await client.query('BEGIN');
        await setUp(tx);
        const result = await work(tx);
        committing = true;
        await client.query('COMMIT');
        return result;
      } catch (error) {
        if (committing) throw translateError(error, true);
        if (!isUnreachable(error)) await client.query('ROLLBACK');
        throw error;
      }
    });
  return withRetry(attempt).catch((error: unknown) => {
    throw translateError(error, committing);
  });
}

/**
 * A check at the start of each transaction of a sweep. It throws if another leader has taken over,
 * so that a leader that was asleep writes nothing.
 */
export type Fence = (tx: Transaction) => Promise<void>;
