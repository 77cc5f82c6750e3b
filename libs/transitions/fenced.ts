import type { Database, Fence, Transaction } from '#lib/database';

/** A transaction of a sweep: of the service role, and only while the epoch lasts. */
export function fenced<T>(
  database: Database,
  fence: Fence,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.service.transaction(async (tx) => {
    await fence(tx);
    return work(tx);
  });
}
