import type { Credentials } from './credentials.js';
import { ConnectionProblem, DroverProblem, refusalOf } from './problem.js';

export interface TransportOptions {
  credentials: Credentials;
  /** The workspace to act in. Users send it; other credentials belong to one workspace. */
  workspaceId?: string;
  /** Milliseconds for one try, 30,000 unless given. A signal of the caller ends a request as well. */
  timeoutMs?: number;
  /** How often a request is sent again that was not answered, or is to come again later; 4 unless given. */
  retries?: number;
  fetch?: typeof fetch;
}

/** What a request is, beyond what it says. */
export interface Sending {
  /** Twice does the same as once: a lost answer is no reason to give up. */
  repeatable: boolean;
  /** The answer's body is read as it comes. */
  stream?: boolean;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 20_000;

/**
 * A `fetch` that shows credentials, gives each POST an Idempotency-Key, and sends again what can be sent again: after
 * 429 everything, since nothing was done; after 503, and where no answer came, what is repeatable.
 *
 * @throws DroverProblem for a refusal, ConnectionProblem when no answer came, the reason of the caller's signal
 */
export function transport(
  options: TransportOptions,
): (request: Request, sending: Sending) => Promise<Response> {
  const { credentials, retries = RETRIES } = options;
  return async (request, sending) => {
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID());
    if (options.workspaceId !== undefined && !request.headers.has('x-workspace-id'))
      request.headers.set('x-workspace-id', options.workspaceId);

    let renewed = false;
    for (let tries = 0; ; tries++) {
      const headers = await credentials.headers();
      const answer = await once(request, headers, { ...options, stream: sending.stream });
      if (answer instanceof Response) return answer;
      if (answer.status === 401 && !renewed && (await credentials.renew?.(headers))) {
        renewed = true;
        continue;
      }
      const pause = tries < retries ? pauseBefore(answer, sending, tries) : undefined;
      if (pause === undefined) throw answer;
      await sleep(pause, request.signal);
    }
  };
}

type Failed = DroverProblem | ConnectionProblem;

/** One try, to the end of the answer's body unless that is a stream. */
async function once(
  request: Request,
  headers: Record<string, string>,
  options: Omit<TransportOptions, 'credentials'> & { stream?: boolean },
): Promise<Response | Failed> {
  const { timeoutMs = TIMEOUT_MS, fetch: send = fetch, stream } = options;
  const copy = request.clone();
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
  // Not AbortSignal.any: on Node 20 a signal of the caller that lives long keeps an entry of each use of it, for ever.
  const stop = new AbortController();
  const abort = () => stop.abort();
  const timer = setTimeout(abort, timeoutMs);
  request.signal.addEventListener('abort', abort, { once: true });
  try {
    request.signal.throwIfAborted();
    const begun = await send(copy, { signal: stop.signal, redirect: 'error' });
    if (stream && begun.ok) return begun;
    const answer = endingWith(begun, stop.signal);
    return answer.ok ? await whole(answer, request.url) : await refusalOf(answer, request.url);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof ConnectionProblem) return error;
    const why = stop.signal.aborted ? 'no answer in time' : causeOf(error);
    const { origin } = new URL(request.url);
    return new ConnectionProblem(`${origin} cannot be reached: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', abort);
  }
}

/**
 * The answer, with a body that breaks off when the signal says so. A fetch of Node 20 forgets its own signal when
 * garbage is collected after the head of the answer: a body that stalls would be waited for without end.
 */
export function endingWith(answer: Response, signal: AbortSignal): Response {
  if (answer.body === null) return answer;
  return new Response(answer.body.pipeThrough(new TransformStream(), { signal }), answer);
}

/** @throws ConnectionProblem for what is no answer of Drover, such as a proxy's page; any error when it is cut */
async function whole(answer: Response, url: string): Promise<Response> {
  const text = await answer.text();
  const { status, headers } = answer;
  const type = headers.get('content-type') ?? '';
  if (text !== '' && (type.includes('html') || (type.includes('json') && !isJson(text))))
    throw new ConnectionProblem(`${url} answered ${status}, and not as Drover does`);
  // Some statuses may have no body, not even an empty one.
  return new Response(text === '' ? null : text, { status, headers });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** Milliseconds to wait before the next try; undefined when the answer is final. */
function pauseBefore(failed: Failed, { repeatable }: Sending, tries: number): number | undefined {
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
  // The server is still at work on our first try, whose answer was lost.
  return failed.status === 503 || failed.code === 'idempotency_in_progress';
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
