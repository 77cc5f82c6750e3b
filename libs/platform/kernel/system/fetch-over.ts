import { Agent, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';

/** Statuses whose answers have no body. `Response` refuses one. */
const BODILESS = new Set([204, 205, 304]);

/**
 * A `fetch` over the Unix socket of a server on this machine. Only the server's user can listen in
 * the folder of the socket, so the answers are the server's. A TCP port proves nothing: whoever
 * listens first gets the credentials.
 *
 * @param socketPath URLs still name host and path of a request
 */
export function fetchOver(
  socketPath: string,
): (url: string, init: RequestInit) => Promise<Response> {
  const agent = new Agent({ keepAlive: true });
  return async (url, init) => {
    const answer = await send(url, init, { socketPath, agent });
    const { statusCode: status = 0, headers } = answer;
    const hasBody = !BODILESS.has(status);
    if (!hasBody) answer.resume();
    const body = hasBody ? (Readable.toWeb(answer) as ReadableStream) : null;
    return new Response(body, { status, headers: toHeaders(headers) });
  };
}

function send(
  url: string,
  { method = 'GET', headers, body, signal }: RequestInit,
  target: { socketPath: string; agent: Agent },
): Promise<IncomingMessage> {
  const { host, pathname, search } = new URL(url);
  const options = {
    ...target,
    method,
    path: `${pathname}${search}`,
    headers: { ...Object.fromEntries(new Headers(headers)), host },
    signal: signal ?? undefined,
  };
  return new Promise((resolve, reject) => {
    request(options, resolve)
      .once('error', reject)
      .end(body as string | Uint8Array | undefined);
  });
}

function toHeaders(received: IncomingMessage['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}
