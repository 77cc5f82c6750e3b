import { ForgeRefusal, ForgeUnavailable } from './failures.js';

/** The time for one answer. */
const TIMEOUT_MS = 20_000;
/** Without a word of the forge: its limits for many requests at once end in about a minute. */
const SECONDARY_SECONDS = 60;
/** Limits of an hour, with a reserve. */
const MAX_SECONDS = 2 * 3_600;
const LIMIT_WORDS = /rate limit|abuse|too many requests/i;

/** The forges that want no requests now, as this host has heard. */
export class ForgeLimits {
  private readonly ends = new Map<string, { at: number; why: string }>();

  /** @throws ForgeUnavailable while the forge wants no requests for this key */
  refuse(key: string): void {
    const found = this.ends.get(key);
    if (found === undefined) return;
    const left = Math.ceil((found.at - performance.now()) / 1_000);
    if (left > 0) throw new ForgeUnavailable(found.why, left);
    this.ends.delete(key);
  }

  note(key: string, seconds: number, why: string): void {
    this.ends.set(key, { at: performance.now() + seconds * 1_000, why });
  }
}

/**
 * A fetch that asks nothing while the forge wants no requests, follows no redirect, and throws
 * for answers after which a repetition can or cannot help. Other answers are the caller's.
 *
 * It asks only the server of the API, because each request has the token.
 *
 * @throws ForgeUnavailable, ForgeRefusal
 */
export function politeFetch(
  limits: ForgeLimits,
  { api, token }: { api: string; token: string },
  signal?: AbortSignal,
  send = fetch,
): typeof fetch {
  const key = `${api} ${token}`;
  const { origin } = new URL(api);
  return async (input, init) => {
    limits.refuse(key);
    const asked = new URL(input instanceof Request ? input.url : input);
    if (asked.origin !== origin) {
      throw new ForgeRefusal(`The forge names another server: ${asked.origin}`, 0);
    }
    const signals = [AbortSignal.timeout(TIMEOUT_MS), signal, init?.signal].filter(
      (one) => one !== undefined && one !== null,
    );
    const options: RequestInit = { ...init, redirect: 'manual', signal: AbortSignal.any(signals) };
    const response = await send(input, options).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new ForgeUnavailable(`The forge cannot be reached: ${causeOf(error)}`);
    });
    const { status } = response;
    if (status >= 500) {
      throw new ForgeUnavailable(`The forge answers with ${status}`, waitOf(response));
    }
    const seconds = await limitOf(response);
    if (seconds !== undefined) {
      const why = 'The forge limits requests';
      limits.note(key, seconds, why);
      throw new ForgeUnavailable(why, seconds);
    }
    if (status === 401) {
      throw new ForgeRefusal('The forge refuses the token of the repository: replace it', status);
    }
    if (status >= 300 && status < 400 && status !== 304) {
      const why = 'The forge has moved the repository: change its url';
      throw new ForgeRefusal(why, status);
    }
    return response;
  };
}

/** The seconds of a limit that an answer tells. Undefined: it tells of none. */
async function limitOf(response: Response): Promise<number | undefined> {
  const { status, headers } = response;
  if (status !== 429 && status !== 403) return undefined;
  const asked = waitOf(response);
  if (asked !== undefined) return asked;
  if (headers.get('x-ratelimit-remaining') === '0') return untilReset(headers);
  if (status === 429) return SECONDARY_SECONDS;
  const words = await response.clone().text();
  return LIMIT_WORDS.test(words) ? SECONDARY_SECONDS : undefined;
}

/** `Retry-After` has seconds or a time, which counts by the clock of the forge. */
function waitOf({ headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - nowOf(headers)) / 1_000;
  return Number.isNaN(seconds) ? undefined : within(seconds);
}

function untilReset(headers: Headers): number {
  const reset = Number(headers.get('x-ratelimit-reset')) * 1_000;
  return reset > 0 ? within((reset - nowOf(headers)) / 1_000) : SECONDARY_SECONDS;
}

function within(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds), 1), MAX_SECONDS);
}

function nowOf(headers: Headers): number {
  const at = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(at) ? Date.now() : at;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
