/** Milliseconds between the attempts, before jitter; the last of them goes on. */
const DELAYS_MS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400].map((seconds) => seconds * 1_000);

/** A delivery that nobody has taken for so long is dead. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** The longest wait that a receiver may ask for. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

const ENDPOINT = { baseMs: 500, capMs: 300_000 };

/** What becomes of a delivery whose attempt has failed. */
export type Next = { kind: 'retry'; inMs: number } | { kind: 'dead' };

export interface Failed {
  /** Attempts in a row that have failed, this one among them. */
  failures: number;
  /** Milliseconds that are left until it is given up. */
  leftMs: number;
  /** The wait that the receiver asked for, in milliseconds. */
  retryAfterMs?: number;
}

/**
 * When a delivery is tried again: later each time, and a little apart from others that failed with it.
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
 * Milliseconds for which nothing at all is sent to an endpoint: one failure may be the message's own, more in a row
 * are the receiver's.
 *
 * @param failures attempts at this endpoint in a row that have failed
 * @param random a number in [0, 1)
 */
export function endpointPause(failures: number, random: number): number {
  if (failures < 2) return 0;
  const ceiling = Math.min(ENDPOINT.capMs, ENDPOINT.baseMs * 2 ** (failures - 1));
  return Math.round(ceiling * (0.5 + 0.5 * random));
}

/**
 * What a header Retry-After asks for, in milliseconds; undefined when it says nothing that can be understood.
 *
 * @param now milliseconds since 1970
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // As HTTP writes dates; Date.parse alone takes almost any number for one.
  const at = /^[A-Z][a-z]+, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
