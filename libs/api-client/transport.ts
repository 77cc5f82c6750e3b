import type { Credentials } from './credentials.js';
import { ConnectionProblem, refusalOf, retryAfterOf } from './problem.js';

export interface TransportOptions {
  credentials: Credentials;
  /** The workspace to act in. Users send it; other credentials belong to one workspace. */
  workspaceId?: string;
  /** Milliseconds for one try, 30,000 unless given. A signal of the caller ends a request as well. */
  timeoutMs?: number;
  /** How often a request is sent again that was not answered, or answered with 429 or 503; 4 unless given. */
  retries?: number;
  fetch?: typeof fetch;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 20_000;

/**
 * A `fetch` that shows credentials, gives each POST an Idempotency-Key, and sends again what can be sent again: every
 * GET, PUT, PATCH with `If-Match`, DELETE, and each POST, since its key makes a repeat harmless.
 *
 * @throws DroverProblem for a refusal, ConnectionProblem when no answer came, the reason of the caller's signal
 */
export function transport(options: TransportOptions): (request: Request) => Promise<Response> {
  const { credentials, retries = RETRIES } = options;
  return async (request) => {
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID());
    if (options.workspaceId !== undefined && !request.headers.has('x-workspace-id'))
      request.headers.set('x-workspace-id', options.workspaceId);

    let renewed = false;
    for (let tries = 0; ; tries++) {
      const headers = await credentials.headers();
      const answer = await once(request, headers, options);
      if (answer instanceof Response && answer.ok) return answer;
      if (isUnauthorised(answer) && !renewed && (await credentials.renew?.(headers))) {
        renewed = true;
        continue;
      }
      const pause = tries < retries ? pauseBefore(answer, request, tries) : undefined;
      if (pause === undefined) throw answer instanceof Response ? await refusalOf(answer) : answer;
      await sleep(pause, request.signal);
    }
  };
}

function isUnauthorised(answer: Response | ConnectionProblem): boolean {
  return answer instanceof Response && answer.status === 401;
}

async function once(
  request: Request,
  headers: Record<string, string>,
  { timeoutMs = TIMEOUT_MS, fetch: send = fetch }: TransportOptions,
): Promise<Response | ConnectionProblem> {
  const copy = request.clone();
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
  // The time limit is for the answer's head: the body of a stream goes on for as long as its reader reads.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const signal = AbortSignal.any([request.signal, late.signal]);
    return await send(copy, { signal, redirect: 'error' });
  } catch (error) {
    request.signal.throwIfAborted();
    const why = late.signal.aborted ? 'no answer in time' : causeOf(error);
    const { origin } = new URL(request.url);
    return new ConnectionProblem(`${origin} cannot be reached: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** Milliseconds to wait before the next try; undefined when the answer is final. */
function pauseBefore(
  answer: Response | ConnectionProblem,
  request: Request,
  tries: number,
): number | undefined {
  const isLost = answer instanceof ConnectionProblem;
  if (!isLost && answer.status !== 429 && answer.status !== 503) return undefined;
  // A lost PATCH may have been done: without the version that it was meant for, it could undo another's change.
  if (isLost && request.method === 'PATCH' && !request.headers.has('if-match')) return undefined;
  const asked = isLost ? 0 : (retryAfterOf(answer) ?? 0) * 1000;
  if (asked > LONGEST_PAUSE_MS) return undefined;
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  return asked + backoff * (0.5 + Math.random() / 2);
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
