import type {
  ClientRequest,
  IncomingMessage,
  RequestOptions,
  Server,
  ServerResponse,
} from 'node:http';
import { endToEnd, listenForSession, passOn } from './listen-for-session.js';

/** An import would read every export, and one of them loads Node's fetch: 50 ms of CPU in each shim. */
const { createServer, request: requestPlain } = process.getBuiltinModule('node:http');

/** The server of a session, as its host reaches it. */
export interface ServerAddress {
  /** The address of the API at the server. */
  target: string;
  /** The server's own Unix socket on this machine, used instead of the address. */
  serverSocket?: string;
}

/** The way of one session to the server when it has no network. */
export interface Forwarding extends ServerAddress {
  /** The path of the Unix socket outside of the sandbox. */
  socket: string;
  /** The port of the sandbox's own loopback address. */
  port: number;
}

/** The path of the socket within the sandbox. */
export const API_SOCKET = '/run/drover-api';
/** The ports of the forwarder within a sandbox: the second one if the server has the first. */
const PORTS = [6171, 6172] as const;
const API_PATH = /\/api\/v1\/?$/;
/** A connection takes two descriptors of the host. */
const MAX_CONNECTIONS = 64;
type Send = (url: URL, options: RequestOptions) => ClientRequest;

/** Chooses a port that is not the server's. */
export function forwardingTo(server: ServerAddress, socket: string): Forwarding {
  return { ...server, socket, port: portFor(server) };
}

function portFor({ target }: Pick<ServerAddress, 'target'>): number {
  const { port, protocol } = new URL(target);
  const isTaken = Number(port || (protocol === 'https:' ? 443 : 80)) === PORTS[0];
  return PORTS[isTaken ? 1 : 0];
}

/** The address of the API for the session. */
export function addressInside(server: Pick<ServerAddress, 'target'>): string {
  return `http://127.0.0.1:${portFor(server)}${new URL(server.target).pathname}`;
}

/**
 * Listens on the socket and forwards each request to the server. Other servers are unreachable. It
 * verifies the certificate of an https server, as the host does for its own requests.
 */
export class ApiForwarder {
  private constructor(
    private readonly server: Server,
    private readonly stopListening: () => void,
  ) {}

  static async open({ target, socket, serverSocket }: Forwarding): Promise<ApiForwarder> {
    const url = new URL(target);
    const send = await senderTo(url, serverSocket);
    const server = createServer((incoming, answer) => {
      // The host has other sessions, too: nothing that this one sends can end it.
      for (const side of [incoming, answer]) side.on('error', () => undefined);
      try {
        forward(incoming, answer, url, send);
      } catch {
        refuse(answer, 400, 'The request cannot be forwarded.');
      }
    });
    server.maxConnections = MAX_CONNECTIONS;
    return new ApiForwarder(server, await listenForSession(server, socket));
  }

  /** Ends all requests that are under way. */
  close(): void {
    this.stopListening();
    this.server.closeAllConnections();
  }
}

function forward(incoming: IncomingMessage, answer: ServerResponse, target: URL, send: Send): void {
  const url = locate(incoming.url, target);
  if (url === undefined) return refuse(answer, 404, 'The session reaches only the server.');
  const headers = { ...endToEnd(incoming.headers), host: target.host };
  const outgoing = send(url, { method: incoming.method, headers });
  outgoing.on('response', (response) => {
    if (!passOn(response, answer, endToEnd(response.headers)))
      refuse(answer, 502, 'The answer of the server is malformed.');
  });
  outgoing.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (answer.headersSent) return;
    refuse(answer, 502, `The server cannot be reached (${code ?? message}).`);
  });
  answer.on('close', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** A reused connection could end just when the next request starts, so each request has its own. */
async function senderTo({ protocol }: URL, socketPath: string | undefined): Promise<Send> {
  if (socketPath !== undefined) {
    return ({ pathname, search }, options) =>
      requestPlain({ ...options, socketPath, path: pathname + search, agent: false });
  }
  const { request } =
    protocol === 'https:' ? await import('node:https') : { request: requestPlain };
  return (url, options) => request(url, { ...options, agent: false });
}

/** @returns undefined for an address that is not the server's */
function locate(path = '', target: URL): URL | undefined {
  if (!URL.canParse(path, target.href)) return undefined;
  const url = new URL(path, target);
  const base = target.pathname.replace(API_PATH, '/');
  return url.origin === target.origin && url.pathname.startsWith(base) ? url : undefined;
}

function refuse(answer: ServerResponse, status: number, detail: string): void {
  answer.writeHead(status, { 'content-type': 'application/problem+json' });
  const title = status === 502 ? 'Server unreachable' : 'Not forwarded';
  answer.end(JSON.stringify({ type: 'about:blank', title, status, detail }));
}
