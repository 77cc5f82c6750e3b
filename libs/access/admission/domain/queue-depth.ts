/** A server's knowledge of a workspace's queue. */
export interface KnownDepth {
  /** Waiting tasks at the last count, at most one more than the limit. */
  counted: number;
  /** 0 means no limit. */
  limit: number;
  /** Time of the count on the monotonic clock, in milliseconds. */
  countedAt: number;
  /** Duration of the count, in milliseconds. */
  countingMs: number;
  /** Tasks that this server has admitted since, or had admitted and not yet written. */
  admitted: number;
  /** Tasks that leave the queue per second, by the last two counts. Null if unknown. */
  drainPerSecond: number | null;
}

const AGE_MS = { near: 1_000, far: 5_000, unlimited: 30_000 };
/** Counting takes at most one part in SHARE of a connection's time. */
const SHARE = 50;
const RETRY_AFTER = { least: 1, most: 300, unknown: 5 };

/**
 * Whether the depth must be counted again. Above half of the limit a count is valid for one second,
 * otherwise for five, or for fifty times its duration if that is longer.
 *
 * So the limit is exceeded by at most what other servers admit in that time. One of n servers that
 * does not see the others admits half of the limit in five seconds, and then counts each second.
 */
export function isOutdated(known: KnownDepth, now: number): boolean {
  if (known.limit === 0) return now - known.countedAt > AGE_MS.unlimited;
  const isNear = (known.counted + known.admitted) * 2 > known.limit;
  const age = isNear ? AGE_MS.near : AGE_MS.far;
  return now - known.countedAt > Math.max(age, known.countingMs * SHARE);
}

/** Whether `count` more tasks fit. */
export function admits({ counted, admitted, limit }: KnownDepth, count: number): boolean {
  return limit === 0 || counted + admitted + count <= limit;
}

/** Whether `count` tasks at once can never fit. */
export function neverAdmits({ limit }: KnownDepth, count: number): boolean {
  return limit > 0 && count > limit;
}

/** Seconds after which `count` more tasks should fit at the current rate: 1 to 300. */
export function retryAfterSeconds(known: KnownDepth, count: number): number {
  const { counted, admitted, limit, drainPerSecond } = known;
  if (drainPerSecond === null) return RETRY_AFTER.unknown;
  if (drainPerSecond <= 0) return RETRY_AFTER.most;
  const tooMany = counted + admitted + count - limit;
  const seconds = Math.ceil(tooMany / drainPerSecond);
  return Math.min(RETRY_AFTER.most, Math.max(RETRY_AFTER.least, seconds));
}

/** The rate at which tasks left between two counts, whatever this server added meanwhile. */
export function drainBetween(
  before: KnownDepth | undefined,
  now: { counted: number; countedAt: number },
): number | null {
  if (!before) return null;
  const seconds = (now.countedAt - before.countedAt) / 1_000;
  if (seconds <= 0) return before.drainPerSecond;
  return Math.max(0, (before.counted + before.admitted - now.counted) / seconds);
}
