/** Milliseconds between the attempts, without jitter. The last one repeats. */
const DELAYS_MS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400].map((seconds) => seconds * 1_000);

/** Milliseconds after which an undelivered message is dead. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** Maximum wait that a receiver can request, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

const ENDPOINT = { baseMs: 500, capMs: 300_000 };

/** The decision about a delivery after a failed attempt. */
export type Next = { kind: 'retry'; inMs: number } | { kind: 'dead' };

export interface Failed {
  /** Consecutive failed attempts, including this one. */
  failures: number;
  /** Milliseconds until the delivery is abandoned. */
  leftMs: number;
  /** The wait that the receiver requested, in milliseconds. */
  retryAfterMs?: number;
}

/**
 * The time of the next attempt: later each time, and spread so that failures at the same time do
 * not repeat together.
 *
 * @param random a number in [0, 1)
 */
export function nextAttempt({ failures, leftMs, retryAfterMs = 0 }: Failed, random: number): Next {
  const delay = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1] ?? 0;
  const jittered = Math.round(delay * (0.8 + 0.4 * random));
  const inMs = Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  return inMs > leftMs ? { kind: 'dead' } : { kind: 'retry', inMs };
}

/**
 * Milliseconds for which nothing is sent to an endpoint. One failure can be the message's fault;
 * consecutive ones are the receiver's.
 *
 * @param failures consecutive failed attempts at this endpoint
 * @param random a number in [0, 1)
 */
export function endpointPause(failures: number, random: number): number {
  if (failures < 2) return 0;
  const ceiling = Math.min(ENDPOINT.capMs, ENDPOINT.baseMs * 2 ** (failures - 1));
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/**
 * The wait in a header Retry-After, in milliseconds. Undefined if it is invalid.
 *
 * @param now milliseconds since 1970
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // HTTP's form of a date, because Date.parse accepts almost any number.
  const at = /^[A-Z][a-z]+, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
