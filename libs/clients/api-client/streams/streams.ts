import { chunksOf } from '../requests/answer.js';
import type { Credentials } from '../requests/credentials.js';
import { anonymous } from '../requests/credentials.js';
import type { components, operations } from '../generated/api.js';
import { ConnectionProblem, DroverProblem, type Problem } from '../requests/problem.js';
import { serverSentEvents, type ServerSentEvent } from './sse.js';
import { sleep, transport, type TransportOptions, trimmed } from '../requests/transport.js';

export interface StreamOptions extends Partial<TransportOptions> {
  baseUrl: string;
  /** Told that entries of a log were missed, because they are kept no longer. */
  onReset?: (problem: Problem) => void;
  /** Ends the stream; the iteration then ends without an error. */
  signal?: AbortSignal;
  /** Begins behind the event of this id; else with what happens next, or a log's first entry. */
  lastEventId?: string;
  /** Told when the stream is open, and when it is cut and the server is asked again. */
  onState?: (state: 'open' | 'away') => void;
}

/** An event of the workspace; docs/events.md has the fields of each. */
export interface DroverEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** An entry of a task's log. */
export type LogEntry = components['schemas']['TaskLogEntry'];

export type EventFilter = Omit<
  NonNullable<operations['followEvents']['parameters']['query']>,
  'ticket' | 'lastEventId'
>;
export type LogFilter = Omit<
  NonNullable<operations['followTaskLogs']['parameters']['query']>,
  'ticket' | 'lastEventId'
>;

/**
 * Events of the workspace as they happen, each once and in order. A stream that is cut is opened
 * again behind the last event, with any pause that the server needs. An event of the name `reset`
 * says that events were missed, because they are kept no longer: read the state by the API.
 *
 * @throws DroverProblem for a refusal, such as of credentials that have ended
 */
export async function* streamEvents(
  options: StreamOptions,
  filter: EventFilter = {},
): AsyncGenerator<DroverEvent> {
  for await (const { id, event, data } of resumed(options, '/api/v1/events', filter)) {
    yield { id, event, data: JSON.parse(data) as Record<string, unknown> };
  }
}

/**
 * The log of a task from its first entry, going on with what is written. Fails and resumes as
 * `streamEvents`.
 */
export async function* streamLogs(
  options: StreamOptions,
  taskId: string,
  filter: LogFilter = {},
): AsyncGenerator<LogEntry> {
  const path = `/api/v1/agent-tasks/${encodeURIComponent(taskId)}/logs/stream`;
  for await (const { event, data } of resumed(options, path, filter)) {
    if (event === 'log') yield JSON.parse(data) as LogEntry;
    else if (event === 'reset') options.onReset?.(JSON.parse(data) as Problem);
  }
}

/** Says where a stream begins, to pages that see nothing but named events. */
const PLACE = 'place';

/** The server sends something every 15 s: after this silence the connection is dead. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

async function* resumed(
  options: StreamOptions,
  path: string,
  filter: object,
): AsyncGenerator<ServerSentEvent> {
  const { signal } = options;
  const url = urlOf(options.baseUrl, path, filter);
  let lastEventId = options.lastEventId;
  let failures = 0;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const abort = () => connection.abort();
    signal?.addEventListener('abort', abort, { once: true });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_MS);
    };
    let asked = 0;
    try {
      const body = await open(options, url, lastEventId, connection.signal);
      heard();
      options.onState?.('open');
      for await (const event of uncut(serverSentEvents(body, heard))) {
        failures = 0;
        if (event.event === 'end')
          throw new DroverProblem(JSON.parse(event.data) as Problem, undefined);
        if (event.data !== '' && event.event !== PLACE) yield event;
        // An event without an id, such as a reset, does not move the position of the stream.
        if (event.id !== '') lastEventId = event.id;
      }
    } catch (error) {
      if (signal?.aborted) return;
      asked = pauseAfter(error, failures);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      // A stream that is left in the middle would be sent on, and keep the process.
      abort();
    }
    if (signal?.aborted) return;
    options.onState?.('away');
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    failures += 1;
    await sleep(asked + pause * (0.5 + Math.random() / 2), signal).catch(() => undefined);
  }
}

/**
 * A connection that breaks off ends the stream, as one that the server ends; a new request decides.
 */
async function* uncut<T>(events: AsyncGenerator<T>): AsyncGenerator<T> {
  for (;;) {
    const next = await events.next().catch(() => undefined);
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

/**
 * @returns milliseconds that the server wants to be left alone
 * @throws what does not pass by itself
 */
function pauseAfter(error: unknown, failures: number): number {
  if (error instanceof ConnectionProblem) return 0;
  if (!(error instanceof DroverProblem)) throw error;
  const { status, retryAfterSeconds = 0 } = error;
  // The token may have been renewed since the stream was opened: a new request decides.
  const isPassing = status === 429 || status >= 500 || (status === 401 && failures === 0);
  if (!isPassing) throw error;
  return retryAfterSeconds * 1000;
}

async function open(
  options: StreamOptions,
  url: URL,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<AsyncGenerator<Uint8Array>> {
  const credentials: Credentials = options.credentials ?? anonymous;
  const send = transport({ ...options, credentials, retries: 0 });
  const headers = new Headers({ accept: 'text/event-stream' });
  if (lastEventId !== undefined) headers.set('last-event-id', lastEventId);
  // The time-out of a try is for the head; a stream has no end.
  const take = async ({ body }: Response) => chunksOf(body, signal);
  return send({ method: 'GET', url: url.href, headers, signal }, { repeatable: true, take });
}

function urlOf(baseUrl: string, path: string, filter: object): URL {
  const url = new URL(trimmed(baseUrl) + path);
  for (const [name, value] of Object.entries(filter)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one));
    }
  }
  return url;
}
