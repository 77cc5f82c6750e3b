import { Addresses } from '../requests/addresses.js';
import { chunksOf } from '../requests/answer.js';
import type { Credentials } from '../requests/credentials.js';
import { anonymous } from '../requests/credentials.js';
import type { components, operations } from '../generated/api.js';
import { ConnectionProblem, DroverProblem, type Problem } from '../requests/problem.js';
import { serverSentEvents, type ServerSentEvent } from './sse.js';
import { sleep, transport, type TransportOptions } from '../requests/transport.js';

export interface StreamOptions extends Partial<Omit<TransportOptions, 'addresses'>> {
  /** As in `ClientOptions`: a stream is opened again at the next address that answers. */
  baseUrl: string | Addresses;
  /** Called if log entries were missed because their retention has ended. */
  onReset?: (problem: Problem) => void;
  /** Ends the stream. The iteration then ends without an error. */
  signal?: AbortSignal;
  /** Starts after the event with this id. Default: the next event, or a log's first entry. */
  lastEventId?: string;
  /** Called when the stream opens, and when it is cut and opened again. */
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
 * Yields events of the workspace as they happen, each once and in order. A stream that is cut is
 * opened again after the last event, with any pause that the server asks for. An event with the
 * name `reset` means that events were missed because their retention has ended: read the state
 * through the API.
 *
 * @throws DroverProblem for a refusal, for example after the credentials have expired
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
 * Yields the log of a task from its first entry, and then each new entry. Errors and resumption are
 * those of `streamEvents`.
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

/** The event that names the start of a stream, for pages that see only named events. */
const PLACE = 'place';

/** The server sends something every 15 s. After this silence the connection is dead. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

async function* resumed(
  options: StreamOptions,
  path: string,
  filter: object,
): AsyncGenerator<ServerSentEvent> {
  const { signal } = options;
  const addresses = Addresses.of(options.baseUrl);
  const target = path + queryOf(filter);
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
      const body = await open({ ...options, addresses }, target, lastEventId, connection.signal);
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
      // An abandoned stream would continue to receive, and keep the process alive.
      abort();
    }
    if (signal?.aborted) return;
    options.onState?.('away');
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    failures += 1;
    await sleep(asked + pause * (0.5 + Math.random() / 2), signal).catch(() => undefined);
  }
}

/** A broken connection ends the stream like an end by the server. A new request decides. */
async function* uncut<T>(events: AsyncGenerator<T>): AsyncGenerator<T> {
  for (;;) {
    const next = await events.next().catch(() => undefined);
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

/**
 * @returns the pause that the server asks for, in milliseconds
 * @throws errors that are permanent
 */
function pauseAfter(error: unknown, failures: number): number {
  if (error instanceof ConnectionProblem) return 0;
  if (!(error instanceof DroverProblem)) throw error;
  const { status, retryAfterSeconds = 0 } = error;
  // The token may have been renewed since the stream was opened, so a new request decides.
  const isPassing = status === 429 || status >= 500 || (status === 401 && failures === 0);
  if (!isPassing) throw error;
  return retryAfterSeconds * 1000;
}

async function open(
  options: StreamOptions & Pick<TransportOptions, 'addresses'>,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<AsyncGenerator<Uint8Array>> {
  const credentials: Credentials = options.credentials ?? anonymous;
  const send = transport({ ...options, credentials, retries: 0 });
  const headers = new Headers({ accept: 'text/event-stream' });
  if (lastEventId !== undefined) headers.set('last-event-id', lastEventId);
  // The timeout of a try covers the head, because a stream has no end.
  const take = async ({ body }: Response) => chunksOf(body, signal);
  return send({ method: 'GET', path, headers, signal }, { repeatable: true, take });
}

/** The query with its question mark; empty without a filter. */
function queryOf(filter: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) query.append(name, String(one));
    }
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
