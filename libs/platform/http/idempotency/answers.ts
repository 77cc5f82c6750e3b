import { firstRow, type SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { beginRequest } from './begin.sql.js';
import { completeRequest } from './complete.sql.js';
import { findHeldKey, type HeldKeyRow } from './find.sql.js';
import { purgeKeys } from './purge.sql.js';
import { releaseRequest } from './release.sql.js';
import { renewRequest } from './renew.sql.js';

/** A holder renews its lock. One that does not for so long has died. */
const LOCK_SECONDS = 10;
const KEPT_SECONDS = 86_400;

/** A request that holds its Idempotency-Key. */
export interface IdempotencyRecord {
  readonly key: string;
  readonly requestHash: Buffer;
  /** The time of taking the key, as proof of holding it. The next holder gets another one. */
  readonly lock: string;
  /** Set by `storeAnswer`, so that the answer is not stored twice. */
  stored: boolean;
}

export interface StoredAnswer {
  status: number;
  body: unknown;
}

export type Beginning =
  | { kind: 'first'; record: IdempotencyRecord }
  | { kind: 'repeated'; answer: StoredAnswer };

/**
 * Takes the key for this request, or finds the answer of the first one.
 *
 * @throws DroverError `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function beginIdempotent(
  runner: SqlRunner,
  workspaceId: string,
  request: { key: string; requestHash: Buffer },
): Promise<Beginning> {
  const { key, requestHash } = request;
  const params = [workspaceId, key, requestHash];
  // A key that was held at the first statement can be released before the second one.
  for (let attempt = 0; attempt < 3; attempt++) {
    const taken = await firstRow(runner, beginRequest, [...params, LOCK_SECONDS, KEPT_SECONDS]);
    if (taken) return { kind: 'first', record: { ...request, lock: taken.lock, stored: false } };
    const held = await firstRow(runner, findHeldKey, params);
    if (held) return { kind: 'repeated', answer: answerOf(held) };
  }
  throw new DroverError('conflict_retry', { retryAfterSeconds: 1 });
}

function answerOf(held: HeldKeyRow): StoredAnswer {
  if (!held.same_request) throw new DroverError('idempotency_key_reused');
  if (held.status_code !== null) return { status: held.status_code, body: held.response_body };
  const retryAfterSeconds = Math.min(Math.max(held.wait_seconds ?? 1, 1), 2);
  throw new DroverError('idempotency_in_progress', { retryAfterSeconds });
}

/**
 * Stores the answer for repetitions of the request, if it has an Idempotency-Key. Inside the
 * transaction of the work, both happen or neither. The body is stored as JSON, so it must contain
 * no secret.
 *
 * @throws DroverError `idempotency_in_progress` if another request took the key over meanwhile
 */
export async function storeAnswer(
  runner: SqlRunner,
  workspaceId: string,
  record: IdempotencyRecord | undefined,
  answer: StoredAnswer,
): Promise<void> {
  if (record === undefined) return;
  const body = JSON.stringify(answer.body ?? null);
  const params = [workspaceId, record.key, record.lock, answer.status, body];
  const kept = await firstRow(runner, completeRequest, params);
  if (!kept) throw new DroverError('idempotency_in_progress', { retryAfterSeconds: 1 });
  record.stored = true;
}

/** Extends the lock of a running request, as the service role. */
export async function renewLock(
  runner: SqlRunner,
  workspaceId: string,
  { key, lock }: IdempotencyRecord,
): Promise<void> {
  await runner.rows(renewRequest, [workspaceId, key, lock, LOCK_SECONDS]);
}

export async function releaseKey(
  runner: SqlRunner,
  workspaceId: string,
  record: IdempotencyRecord,
): Promise<void> {
  await runner.rows(releaseRequest, [workspaceId, record.key, record.lock]);
}

/** Removes up to `limit` expired keys as the service role. Returns their number. */
export async function purgeExpiredKeys(runner: SqlRunner, limit: number): Promise<number> {
  const removed = await runner.rows(purgeKeys, [limit]);
  return removed.length;
}
