/** What one server knows of a workspace's queue. */
export interface KnownDepth {
  /** Tasks that waited when they were last counted, at most one more than the limit. */
  counted: number;
  /** 0: there is no limit. */
  limit: number;
  /** On the monotonic clock, in milliseconds. */
  countedAt: number;
  /** How long counting took, in milliseconds. */
  countingMs: number;
  /** Tasks that this server has admitted since, or had admitted and not yet written. */
  admitted: number;
  /** Tasks that left the queue in a second, by the last two counts; null when unknown. */
  drainPerSecond: number | null;
}

const AGE_MS = { near: 1_000, far: 5_000, unlimited: 30_000 };
/** Counting takes at most this share of a connection's time. */
const SHARE = 50;
const RETRY_AFTER = { least: 1, most: 300, unknown: 5 };

/**
 * Whether the depth has to be counted again before it is relied on. Near the limit (above a half of it)
 * it is a second old at most, far from it five; or fifty times as old as counting takes, where that is more.
 *
 * So the limit is overshot by at most what other servers admit in that time: one of n servers that does
 * not see the others lets in half of the limit in five seconds, and from then on counts each second.
 */
export function isOutdated(known: KnownDepth, now: number): boolean {
  if (known.limit === 0) return now - known.countedAt > AGE_MS.unlimited;
  const isNear = (known.counted + known.admitted) * 2 > known.limit;
  const age = isNear ? AGE_MS.near : AGE_MS.far;
  return now - known.countedAt > Math.max(age, known.countingMs * SHARE);
}

/** Whether `count` more fit. */
export function admits({ counted, admitted, limit }: KnownDepth, count: number): boolean {
  return limit === 0 || counted + admitted + count <= limit;
}

/** Whether `count` at once can never fit, however long one waits. */
export function neverAdmits({ limit }: KnownDepth, count: number): boolean {
  return limit > 0 && count > limit;
}

/** Seconds after which `count` more should fit, by how fast the queue drains: 1 to 300. */
export function retryAfterSeconds(known: KnownDepth, count: number): number {
  const { counted, admitted, limit, drainPerSecond } = known;
  if (drainPerSecond === null) return RETRY_AFTER.unknown;
  if (drainPerSecond <= 0) return RETRY_AFTER.most;
  const tooMany = counted + admitted + count - limit;
  const seconds = Math.ceil(tooMany / drainPerSecond);
  return Math.min(RETRY_AFTER.most, Math.max(RETRY_AFTER.least, seconds));
}

/** The rate at which tasks left between two counts, whatever came meanwhile from this server. */
export function drainBetween(
  before: KnownDepth | undefined,
  now: { counted: number; countedAt: number },
): number | null {
  if (!before) return null;
  const seconds = (now.countedAt - before.countedAt) / 1_000;
  if (seconds <= 0) return before.drainPerSecond;
  return Math.max(0, (before.counted + before.admitted - now.counted) / seconds);
}
