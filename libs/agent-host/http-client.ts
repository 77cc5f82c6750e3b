import http from 'node:http';
import https from 'node:https';
import { readAtMost, withAnySignal } from '#lib/kernel';
import { ApiError, NetworkError } from './errors.js';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Milliseconds for the whole exchange. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** Looks at an answer before anything of its body is read. @throws NetworkError or ApiError */
  check?: (head: ResponseHead) => void;
}

export interface ResponseHead {
  status: number;
  headers: http.IncomingHttpHeaders;
}

export interface HttpResponse extends ResponseHead {
  /** The parsed body; the text where it is not JSON; undefined when empty. */
  body: unknown;
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const KEEP_ALIVE = { keepAlive: true, maxFreeSockets: 8, scheduling: 'lifo' } as const;

/** JSON over kept-alive connections. Follows no redirect, and knows nothing of retries and tokens. */
export class HttpClient {
  private readonly base: URL;
  private readonly agent: http.Agent;

  /** @param maxResponseBytes a longer answer is given up */
  constructor(
    baseUrl: string,
    private readonly maxResponseBytes = MAX_RESPONSE_BYTES,
  ) {
    this.base = new URL(`${baseUrl}/`);
    this.agent =
      this.base.protocol === 'https:' ? new https.Agent(KEEP_ALIVE) : new http.Agent(KEEP_ALIVE);
  }

  /**
   * @throws NetworkError when no whole answer came; ApiError 400 `unsendable_body` before anything is sent; what
   *   `check` throws
   */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const payload = request.body === undefined ? undefined : json(request.body);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), request.timeoutMs);
    const sources = [deadline.signal, ...(request.signal ? [request.signal] : [])];
    try {
      return await withAnySignal(sources, (signal) => this.exchange(request, payload, signal));
    } catch (error) {
      if (error instanceof NetworkError || error instanceof ApiError) throw error;
      const isAborted = sources.some(({ aborted }) => aborted);
      throw new NetworkError(isAborted ? 'no answer in time' : describe(error), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private exchange(
    request: HttpRequest,
    payload: Buffer | undefined,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
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
        readAnswer(incoming, request, this.maxResponseBytes).then(resolve, reject);
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }
}

// Postgres can store neither NUL nor lone surrogates, so the server refuses a body with them; what
// a process says must not be lost for it.
function json(body: unknown): Buffer {
  const storable = (_key: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value;
  try {
    return Buffer.from(JSON.stringify(body, storable));
  } catch (error) {
    // Nested too deep or too long: no network is to blame, and it is the same the next time.
    const detail = `The body cannot be written as JSON: ${describe(error)}`;
    throw new ApiError(400, 'unsendable_body', detail, undefined);
  }
}

async function readAnswer(
  incoming: http.IncomingMessage,
  { check }: HttpRequest,
  maxBytes: number,
): Promise<HttpResponse> {
  const head = { status: incoming.statusCode ?? 0, headers: incoming.headers };
  try {
    check?.(head);
    const text = await readAtMost(incoming, maxBytes);
    if (text === undefined) throw new NetworkError('the answer is too long');
    return { ...head, body: parse(text) };
  } finally {
    // Lets go of an answer that was not read to its end.
    if (!incoming.readableEnded) incoming.destroy();
  }
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
