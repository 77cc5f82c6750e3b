import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request with the answer that it gets. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Behaviour = (response: ServerResponse, request: Received) => void;

/** A server that stores what it receives and answers by path. Default: 204. */
export interface Receiver {
  url(path: string): string;
  received(path: string): Received[];
  behave(path: string, behaviour: Behaviour): void;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const all: Received[] = [];
  const behaviours = new Map<string, Behaviour>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const received = { path: request.url ?? '', headers: request.headers, body };
      all.push(received);
      const behaviour = behaviours.get(received.path);
      if (behaviour) behaviour(response, received);
      else response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received: (path) => all.filter((each) => each.path === path),
    behave: (path, behaviour) => void behaviours.set(path, behaviour),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Answers with a status, headers and a body. */
export function answering(
  status: number,
  headers: Record<string, string> = {},
  body = '',
): Behaviour {
  return (response) => void response.writeHead(status, headers).end(body);
}
