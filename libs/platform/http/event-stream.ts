import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a client is sent at once; each part may be left out. */
export interface ServerSentEvent {
  /** The place that the client resumes from; without `data` it is moved there, and hears nothing. */
  id?: string;
  /** The type that a browser's listener names. */
  event?: string;
  /** Sent as JSON, on one line. */
  data?: unknown;
}

const TYPE = 'text/event-stream';
/** How soon a client that lost its stream comes again, in milliseconds. */
const RETRY_MS = 2_000;
/** How long a client may take for what was sent, in milliseconds. */
const STALLED_MS = 30_000;

/** Server-sent events to one client, as the HTML standard has them. */
export class EventStream {
  private readonly raw: ServerResponse;
  /** Aborts when the stream has ended, whoever has ended it. */
  readonly ended: AbortSignal;

  /** Answers with the headers, and with a stream that stays open. */
  constructor(request: FastifyRequest, reply: FastifyReply) {
    const { raw } = reply;
    this.raw = raw;
    const ended = new AbortController();
    this.ended = ended.signal;
    raw.once('close', () => ended.abort());
    // Broken off by the client: `close` follows.
    raw.on('error', () => undefined);
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    // Gone before it was answered: `close` has been already, and does not come again.
    if (raw.destroyed || raw.closed) {
      ended.abort();
      return;
    }
    raw.writeHead(200, {
      ...headers,
      'content-type': `${TYPE}; charset=utf-8`,
      'cache-control': 'no-cache, no-store, no-transform',
      // nginx would gather what is to go out at once.
      'x-accel-buffering': 'no',
    });
    raw.write(`retry: ${RETRY_MS}\n\n`);
    if (request.method === 'HEAD') raw.end();
  }

  /** Sends a text of `textOf`, or several. Bound what you send by `drained`. */
  send(text: string): void {
    if (!this.isOver()) this.raw.write(text);
  }

  /** A line that clients pass over, and with it the place to resume from; nothing while others wait to go out. */
  heartbeat(id: string | undefined): void {
    if (!this.raw.writableNeedDrain)
      this.send(`: still here\n${id === undefined ? '' : `id: ${id}\n`}\n`);
  }

  /**
   * Waits until the client has taken what was sent, but for what the connection holds.
   *
   * @returns whether it has; one for which it takes longer than 30 s is disconnected
   */
  async drained(): Promise<boolean> {
    if (this.isOver()) return false;
    if (!this.raw.writableNeedDrain) return true;
    const timer = setTimeout(() => this.raw.destroy(), STALLED_MS);
    await once(this.raw, 'drain', { signal: this.ended }).catch(() => undefined);
    clearTimeout(timer);
    return !this.isOver();
  }

  /** Ends it once what was sent has gone out. */
  end(last?: ServerSentEvent): void {
    if (this.isOver()) return;
    this.raw.end(last && textOf(last));
  }

  private isOver(): boolean {
    return this.ended.aborted || this.raw.writableEnded;
  }
}

/** An event as it goes over the wire. */
export function textOf({ id, event, data }: ServerSentEvent): string {
  const lines = [
    id === undefined ? '' : `id: ${id}\n`,
    event === undefined ? '' : `event: ${event}\n`,
    data === undefined ? '' : `data: ${JSON.stringify(data)}\n`,
  ];
  return `${lines.join('')}\n`;
}

export function isEventStream({ raw }: FastifyReply): boolean {
  return String(raw.getHeader('content-type')).startsWith(TYPE);
}
