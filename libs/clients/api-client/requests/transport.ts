import type { Addresses } from './addresses.js';
import { refusalOf } from './answer.js';
import type { Credentials } from './credentials.js';
import { ConnectionProblem, DroverProblem } from './problem.js';

export interface TransportOptions {
  addresses: Addresses;
  credentials: Credentials;
  /** The workspace to act in. Users send it. Other credentials belong to one workspace. */
  workspaceId?: string;
  /** Milliseconds for one try; default 30,000. A signal of the caller also ends a request. */
  timeoutMs?: number;
  /** The maximum number of repetitions after a lost answer or a temporary refusal; default 4. */
  retries?: number;
  /** The maximum length of an answer; default 64 MiB. A longer one fails. */
  maxAnswerBytes?: number;
  /** Called before a request is repeated, with the reason. */
  onRetry?: (failed: DroverProblem | ConnectionProblem) => void;
  fetch?: Fetch;
}

/** Sends one try. The default is the `fetch` of the platform. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Outgoing {
  method: string;
  /** Path and query. */
  path: string;
  headers: Headers;
  body?: string | Uint8Array<ArrayBuffer>;
  /** The caller's signal. */
  signal?: AbortSignal;
}

/** The settings of a request besides its content. */
export interface Sending<T> {
  /**
   * True if two identical requests have the effect of one, so that a lost answer allows a
   * repetition.
   */
  repeatable: boolean;
  /** Converts a successful answer. The signal aborts at the end of the try. */
  take: (answer: Response, signal: AbortSignal, url: string) => Promise<T>;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 20_000;

/**
 * A `fetch` that sends credentials, gives each POST an Idempotency-Key, and repeats requests. After
 * 429 it repeats everything, because nothing was done. After 503 or without an answer it repeats
 * requests that are repeatable.
 *
 * @throws DroverProblem for a refusal, ConnectionProblem if no answer arrived, the reason of the
 *   caller's signal
 */
export function transport(
  options: TransportOptions,
): <T>(request: Outgoing, sending: Sending<T>) => Promise<T> {
  const { credentials, retries = RETRIES } = options;
  return async (request, sending) => {
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID());
    if (options.workspaceId !== undefined && !request.headers.has('x-workspace-id'))
      request.headers.set('x-workspace-id', options.workspaceId);

    let renewed = false;
    for (let tries = 0; ; tries++) {
      const shown = await unlessAborted(credentials.headers(), request.signal);
      const answer = await onceAnywhere(request, shown, { ...options, take: sending.take });
      if ('taken' in answer) return answer.taken;
      const { failed } = answer;
      if (failed.status === 401 && !renewed && credentials.renew) {
        renewed = await unlessAborted(credentials.renew(shown), request.signal);
        if (renewed) continue;
      }
      const pause = tries < retries ? pauseBefore(failed, sending, tries) : undefined;
      if (pause === undefined) throw failed;
      options.onRetry?.(failed);
      await sleep(pause, request.signal);
    }
  };
}

type Failed = DroverProblem | ConnectionProblem;

type Try<T> = { taken: T } | { failed: Failed };
type TryOptions<T> = Omit<TransportOptions, 'credentials'> & Pick<Sending<T>, 'take'>;

/**
 * Makes one try. Where no connection can be made, nothing was sent, so every request can go to the
 * next address at once.
 */
async function onceAnywhere<T>(
  { path, ...request }: Outgoing,
  shown: Record<string, string>,
  options: TryOptions<T>,
): Promise<Try<T>> {
  const { addresses } = options;
  for (let left = addresses.count; ; left--) {
    const address = addresses.current;
    const answer = await once({ ...request, url: address + path }, shown, options);
    if ('taken' in answer) return answer;
    if (isAway(answer.failed)) addresses.leave(address);
    if (left === 1 || !isUnsent(answer.failed)) return answer;
  }
}

/** Makes one try at one address, to the end of the answer's body, or to its head for a stream. */
async function once<T>(
  { signal, url, method, body, headers }: Omit<Outgoing, 'path'> & { url: string },
  shown: Record<string, string>,
  options: TryOptions<T>,
): Promise<Try<T>> {
  const { timeoutMs = TIMEOUT_MS, fetch: send = fetch, take } = options;
  // AbortSignal.any is avoided: a long-lived signal of the caller would keep one object for each
  // request.
  const end = new AbortController();
  const abort = () => end.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    const asked = new Headers(headers);
    for (const [name, value] of Object.entries(shown)) asked.set(name, value);
    const init = { method, headers: asked, body, signal: end.signal, redirect: 'error' } as const;
    const answer = await send(url, init);
    if (answer.ok) return { taken: await take(answer, end.signal, url) };
    return { failed: await refusalOf(answer, url, end.signal) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ConnectionProblem || error instanceof DroverProblem)
      return { failed: error };
    const { origin } = new URL(url);
    const unsendable = whyUnsendable(url, shown);
    // The text and the cause of this error are left out, because they repeat the secret.
    if (unsendable !== undefined)
      throw new ConnectionProblem(`${origin} is not asked: ${unsendable}`);
    const why = end.signal.aborted ? 'no answer in time' : causeOf(error);
    return {
      failed: new ConnectionProblem(`${origin} cannot be reached: ${why}`, { cause: error }),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** True if another server of the installation can answer where this one does not. */
function isAway(failed: Failed): boolean {
  return failed instanceof ConnectionProblem || failed.code === 'shutting_down';
}

const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True if there was no connection, so that the server cannot have seen the request. */
function isUnsent(failed: Failed): boolean {
  let at = failed.cause as { code?: string; cause?: unknown } | undefined;
  while (typeof at === 'object' && at !== null) {
    if (NO_CONNECTION.has(at.code ?? '')) return true;
    at = at.cause as typeof at;
  }
  return false;
}

/** Returns why no try can ever send the request. */
function whyUnsendable(url: string, shown: Record<string, string>): string | undefined {
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') return 'its address holds a user name or a password';
  const isSendable = Object.values(shown).every((value) =>
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value.trim()),
  );
  return isSendable
    ? undefined
    : 'the credentials hold a line break, or what else no header may have';
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** Returns the milliseconds to wait before the next try; undefined if the answer is final. */
function pauseBefore(
  failed: Failed,
  { repeatable }: { repeatable: boolean },
  tries: number,
): number | undefined {
  if (!mayRepeat(failed, repeatable)) return undefined;
  const asked = (failed.retryAfterSeconds ?? 0) * 1000;
  if (asked > LONGEST_PAUSE_MS) return undefined;
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  return asked + backoff * (0.5 + Math.random() / 2);
}

function mayRepeat(failed: Failed, repeatable: boolean): boolean {
  if (failed.status === 429) return true;
  if (!repeatable) return false;
  if (failed instanceof ConnectionProblem) return true;
  // The server still processes the first try, whose answer was lost.
  return failed.status === 503 || failed.code === 'idempotency_in_progress';
}

/**
 * Waits for work that continues after its caller has left: all callers share the refresh of a
 * sign-in.
 */
async function unlessAborted<T>(work: Promise<T> | T, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** @throws the reason of the signal */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    function done() {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    }
  });
}
