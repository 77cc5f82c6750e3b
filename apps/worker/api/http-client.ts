import http from 'node:http';
import https from 'node:https';
import { NetworkError } from './errors.js';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Milliseconds for the whole exchange. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface HttpResponse {
  status: number;
  /** The parsed body; the text where it is not JSON; undefined when empty. */
  body: unknown;
  retryAfter: string | undefined;
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const KEEP_ALIVE = { keepAlive: true, maxFreeSockets: 8, scheduling: 'lifo' } as const;

/** JSON over kept-alive connections. Knows nothing of retries and tokens. */
export class HttpClient {
  private readonly base: URL;
  private readonly agent: http.Agent;

  constructor(baseUrl: string) {
    this.base = new URL(`${baseUrl}/`);
    this.agent =
      this.base.protocol === 'https:' ? new https.Agent(KEEP_ALIVE) : new http.Agent(KEEP_ALIVE);
  }

  /** @throws NetworkError when no whole answer came */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const exchange = new AbortController();
    const abort = (): void => exchange.abort();
    const deadline = setTimeout(abort, request.timeoutMs);
    // Not AbortSignal.any: on Node 20 each use of it stays referenced by its long-lived source.
    request.signal?.addEventListener('abort', abort, { once: true });
    if (request.signal?.aborted === true) abort();
    try {
      return await this.exchange(request, exchange.signal);
    } catch (error) {
      const cause = exchange.signal.aborted ? 'no answer in time' : describe(error);
      throw new NetworkError(cause, { cause: error });
    } finally {
      clearTimeout(deadline);
      request.signal?.removeEventListener('abort', abort);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const payload = request.body === undefined ? undefined : Buffer.from(json(request.body));
    const headers = {
      accept: 'application/json',
      ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
      ...request.headers,
    };
    const url = new URL(request.path.replace(/^\//, ''), this.base);
    const { request: open } = url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const options = { method: request.method, headers, agent: this.agent, signal };
      const outgoing = open(url, options, (incoming) => {
        readAll(incoming).then((text) => resolve(toResponse(incoming, text)), reject);
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}

// Postgres can store neither NUL nor lone surrogates, so the server refuses a body with them; what
// a process says must not be lost for it.
function json(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value,
  );
}

async function readAll(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toResponse(incoming: http.IncomingMessage, text: string): HttpResponse {
  return {
    status: incoming.statusCode ?? 0,
    body: parse(text),
    retryAfter: incoming.headers['retry-after'],
  };
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
