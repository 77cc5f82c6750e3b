import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A part of a stream. Each member is optional. */
export interface ServerSentEvent {
  /**
   * The id from which the client resumes. Without `data` the client moves to it and receives no
   * event.
   */
  id?: string;
  /** The event's type, to which a browser can listen. */
  event?: string;
  /** Sent as JSON on one line. */
  data?: unknown;
}

const TYPE = 'text/event-stream';
/** Time after which a client that lost its stream reconnects, in milliseconds. */
const RETRY_MS = 2_000;
/** Time limit for a client to accept data, in milliseconds. */
const STALLED_MS = 30_000;

/** Server-sent events to one client, as the HTML standard defines them. */
export class EventStream {
  private readonly raw: ServerResponse;
  /** Aborts when the stream has ended for any reason. */
  readonly ended: AbortSignal;

  /** Answers with the headers and a stream that stays open. */
  constructor(request: FastifyRequest, reply: FastifyReply) {
    const { raw } = reply;
    this.raw = raw;
    const ended = new AbortController();
    this.ended = ended.signal;
    raw.once('close', () => ended.abort());
    // The client broke the connection off. `close` follows.
    raw.on('error', () => undefined);
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    // The client left before the answer. `close` was already emitted and does not come again.
    if (raw.destroyed || raw.closed) {
      ended.abort();
      return;
    }
    raw.writeHead(200, {
      ...headers,
      'content-type': `${TYPE}; charset=utf-8`,
      'cache-control': 'no-cache, no-store, no-transform',
      // nginx would buffer data that must go out at once.
      'x-accel-buffering': 'no',
    });
    raw.write(`retry: ${RETRY_MS}\n\n`);
    if (request.method === 'HEAD') raw.end();
  }

  /** Sends one or more texts of `textOf`. Limit the amount with `drained`. */
  send(text: string): void {
    if (!this.isOver()) this.raw.write(text);
  }

  /** Sends a comment line with the id to resume from. Sends nothing while data waits to go out. */
  heartbeat(id: string | undefined): void {
    if (!this.raw.writableNeedDrain)
      this.send(`: still here\n${id === undefined ? '' : `id: ${id}\n`}\n`);
  }

  /**
   * Waits until the client has accepted the data, except for the buffer of the connection.
   *
   * @returns whether it has; a client that needs more than 30 s is disconnected
   */
  async drained(): Promise<boolean> {
    if (this.isOver()) return false;
    if (!this.raw.writableNeedDrain) return true;
    const timer = setTimeout(() => this.raw.destroy(), STALLED_MS);
    await once(this.raw, 'drain', { signal: this.ended }).catch(() => undefined);
    clearTimeout(timer);
    return !this.isOver();
  }

  /** Ends the stream after all data went out. */
  end(last?: ServerSentEvent): void {
    if (this.isOver()) return;
    this.raw.end(last && textOf(last));
  }

  private isOver(): boolean {
    return this.ended.aborted || this.raw.writableEnded;
  }
}

/** The wire format of an event. */
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
