import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  admitsEverywhere,
  type AddressKind,
  kindOfAddress,
  nameResolver,
  type ResolveName,
} from '#lib/kernel';
import type { Egress } from './egress.js';
import {
  asAsked,
  targetOfConnect,
  targetOfRequest,
  targetWithin,
  type Target,
  withCredential,
} from './egress-target.js';
import { endToEnd, listenForSession, passOn } from './listen-for-session.js';

/** A connection takes two descriptors of the host. */
const MAX_CONNECTIONS = 64;
const MAX_HEADER_BYTES = 16_384;
const HEADERS_MS = 10_000;
/** The time without a byte in either direction after which a connection ends. */
const IDLE_MS = 300_000;
const CONNECT_MS = 10_000;
/** The maximum number of addresses of a name that are tried. */
const MAX_ADDRESSES = 4;
/** The first byte of a connection that speaks TLS. */
const TLS_HANDSHAKE = 22;
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';
/** The headers of an answer that name addresses of the host. */
const ADDRESSES = ['location', 'link'] as const;
/** The maximum number of sentences that a session's log gets. */
const MAX_NOTES = 20;

/** Name servers alone know public names. The machine itself knows internal ones, too. */
interface Resolvers {
  public: ResolveName;
  internal: ResolveName;
}

/** The request is answered with this status and sentence. */
class Refusal extends Error {
  constructor(
    readonly status: 400 | 403 | 502,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The HTTP proxy of one session (CONNECT, and http:// requests). It connects only to hosts that all
 * lists admit, at public addresses, and resolves each name once: the checked address is the address
 * it connects to. It follows no redirect and does not read tunnels. It adds the credential for a host
 * to http:// requests, and speaks TLS to the host itself.
 */
export class EgressProxy {
  /** Receives a sentence for the log of the session about each new refusal or missed credential. */
  onNote: (note: string) => void = () => undefined;
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private readonly noted = new Set<string>();
  /** The hosts of tunnels whose requests this proxy reads, by their sockets. */
  private readonly readable = new WeakMap<Duplex, Target>();
  private stopListening: () => void = () => undefined;

  private constructor(
    private readonly egress: Egress,
    private readonly resolvers: Resolvers,
  ) {
    this.server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      // An upload can take long. A silent one ends by the timeout of its socket.
      requestTimeout: 0,
    });
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.setTimeout(IDLE_MS);
    this.server.on('request', (incoming, answer) => void this.forward(incoming, answer));
    this.server.on('connect', (incoming, near: Socket, head) => {
      void this.tunnel(incoming, near, head);
    });
  }

  /** @param resolvers answer for name servers in tests */
  static async open(egress: Egress, resolvers = ownResolvers()): Promise<EgressProxy> {
    const proxy = new EgressProxy(egress, resolvers);
    proxy.stopListening = await listenForSession(proxy.server, egress.socket);
    return proxy;
  }

  /** Ends all connections. */
  close(): void {
    this.stopListening();
    this.server.closeAllConnections();
    for (const socket of this.sockets) socket.destroy();
  }

  private async tunnel(incoming: IncomingMessage, near: Socket, head: Buffer): Promise<void> {
    this.keep(near);
    try {
      const target = targetOfConnect(incoming.url);
      const asked = target && (await this.withCredential(target));
      if (target && asked?.credential) return await this.read({ target, asked }, near, head);
      const far = await this.dial(target, near);
      near.write(ESTABLISHED);
      joinAll(near, far, head);
    } catch (error) {
      near.end(plainAnswer(toRefusal(error)));
    }
  }

  /**
   * A tunnel to a host with a credential. Some programs, as `fetch` of Node, send http:// requests
   * through one. They are forwarded like others. TLS stays a tunnel without the credential.
   *
   * @throws Refusal
   */
  private async read(
    { target, asked }: { target: Target; asked: Target },
    near: Socket,
    head: Buffer,
  ): Promise<void> {
    await this.admittedAddresses(asked);
    near.write(ESTABLISHED);
    near.setTimeout(IDLE_MS, () => near.destroy());
    const first = head.length > 0 ? head : await firstBytes(near);
    if (first === undefined) return void near.destroy();
    if (first[0] === TLS_HANDSHAKE) return this.pass(asked, near, first);
    this.readable.set(near, target);
    near.unshift(first);
    this.server.emit('connection', near);
  }

  /** It is too late for an answer of the proxy. */
  private async pass(target: Target, near: Socket, first: Buffer): Promise<void> {
    this.noteWithoutCredential(target);
    try {
      joinAll(near, await this.dial(target, near), first);
    } catch {
      near.destroy();
    }
  }

  private async forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    // The host has other sessions, too: nothing that this one sends can end it.
    for (const side of [incoming, answer]) side.on('error', () => undefined);
    try {
      const { url, socket } = incoming;
      const tunnel = this.readable.get(socket);
      const plain = tunnel === undefined ? targetOfRequest(url) : targetWithin(tunnel, url);
      const target = plain && (await this.withCredential(plain));
      const credential = target?.credential;
      if (credential !== undefined && incoming.method === 'TRACE') {
        throw new Refusal(403, 'The answer to TRACE would repeat the credential.');
      }
      const dialled = await this.dial(target, answer);
      const isSecure = credential?.scheme === 'https';
      const far = isSecure ? await this.secure(dialled, target?.host) : dialled;
      const outgoing = request({
        createConnection: () => far,
        method: incoming.method,
        path: target?.path,
        headers: {
          ...endToEnd(incoming.headers),
          host: target?.authority,
          connection: 'close',
          ...(credential && { [credential.header]: credential.value }),
        },
        setHost: false,
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      outgoing.on('response', (response) => {
        const headers = endToEnd(response.headers);
        for (const name of ADDRESSES) {
          const value = headers[name];
          if (typeof value === 'string' && target) headers[name] = asAsked(value, target);
        }
        if (!passOn(response, answer, headers))
          refuse(answer, new Refusal(502, 'The answer of the host is malformed.'));
      });
      outgoing.on('error', (error) => refuse(answer, toRefusal(error)));
      answer.on('close', () => outgoing.destroy());
      incoming.pipe(outgoing);
    } catch (error) {
      refuse(answer, toRefusal(error));
    }
  }

  /** The credential can change while the session lives. */
  private async withCredential(target: Target): Promise<Target> {
    const { credentials } = this.egress;
    const current = typeof credentials === 'function' ? await credentials() : credentials;
    return withCredential(target, current);
  }

  /**
   * @param client a connection to the target ends with it
   * @throws Refusal, or the error of the connection
   */
  private async dial(target: Target | undefined, client: Duplex | ServerResponse): Promise<Socket> {
    if (target === undefined) {
      throw new Refusal(
        400,
        'The proxy takes CONNECT host:port, and http:// addresses without credentials.',
      );
    }
    const addresses = await this.admittedAddresses(target);
    let last = new Refusal(502, 'The name has no address.');
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      if (client.destroyed) throw new Refusal(502, 'The client has left.');
      try {
        return await this.connectTo(address, target.port, client);
      } catch (error) {
        last = toRefusal(error);
      }
    }
    throw last;
  }

  /** @throws Refusal if a list or an address refuses the target */
  private async admittedAddresses(target: Target): Promise<string[]> {
    const { host, port } = target;
    if (!admitsEverywhere(this.egress.allowedHosts, host, port)) {
      throw this.refused(target, 'a list of allowed hosts does not name it');
    }
    const isExempt = this.egress.privateHosts.includes(`${host}:${port}`);
    const resolve = this.resolvers[isExempt ? 'internal' : 'public'];
    const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host];
    const kinds = addresses.map(kindOnThisMachine);
    const admits = (kind: AddressKind) => kind === 'public' || (isExempt && kind === 'internal');
    // A name with addresses of both kinds belongs to no honest host.
    if (addresses.length > 0 && kinds.every(admits)) return addresses;
    throw this.refused(target, 'its address is not public');
  }

  private connectTo(
    address: string,
    port: number,
    client: Duplex | ServerResponse,
  ): Promise<Socket> {
    const far = connect({ host: address, port, allowHalfOpen: true });
    this.keep(far);
    const leave = () => far.destroy();
    client.once('close', leave);
    return new Promise<Socket>((resolve, reject) => {
      far.setTimeout(CONNECT_MS, () => far.destroy(new Error('ETIMEDOUT')));
      far.once('error', reject);
      // A client that leaves ends the attempt without an error.
      far.once('close', () => reject(new Refusal(502, 'The connection ended.')));
      far.once('connect', () => {
        far.removeAllListeners('timeout');
        far.setTimeout(IDLE_MS, () => far.destroy());
        resolve(far);
      });
    }).finally(() => client.off('close', leave));
  }

  /** Speaks TLS to the host, and verifies its certificate as this process verifies others. */
  private secure(far: Socket, host = ''): Promise<Socket> {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const secured = connectTls({ socket: far, host, ...name, ALPNProtocols: ['http/1.1'] });
    this.keep(secured);
    return new Promise<Socket>((resolve, reject) => {
      const timer = setTimeout(() => secured.destroy(new Error('ETIMEDOUT')), CONNECT_MS);
      secured.once('close', () => clearTimeout(timer));
      secured.once('error', reject);
      secured.once('close', () => reject(new Refusal(502, 'The connection ended.')));
      secured.once('secureConnect', () => {
        clearTimeout(timer);
        resolve(secured);
      });
    });
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
  }

  private refused({ host, written, port }: Target, why: string): Refusal {
    const key = `${host}:${port}`;
    // As the session wrote it: in this spelling its secrets are found and redacted.
    this.note(key, `The network policy refused ${written}:${port}: ${why}`);
    return new Refusal(403, `Drover's network policy refuses ${key}: ${why}.`);
  }

  /** Programs ask for a tunnel by https://, and then miss the credential without a word. */
  private noteWithoutCredential({ credential }: Target): void {
    if (!credential) return;
    const { host } = credential;
    this.note(
      `tunnel ${host}`,
      `A tunnel to ${host} carries no credential: use http://${host} instead of https://${host}`,
    );
  }

  private note(key: string, sentence: string): void {
    if (this.noted.size >= MAX_NOTES || this.noted.has(key)) return;
    this.noted.add(key);
    this.onNote(sentence);
    if (this.noted.size < MAX_NOTES) return;
    this.onNote('Further refusals of the network policy are not in this log');
  }
}

function ownResolvers(): Resolvers {
  return {
    public: nameResolver({ asksSystem: false }),
    internal: nameResolver({ asksSystem: true }),
  };
}

async function resolved(host: string, resolve: ResolveName): Promise<string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new Refusal(502, `The name ${host} cannot be resolved (${code}).`);
  }
}

/** A service that listens on all addresses of this machine answers at its public ones, too. */
function kindOnThisMachine(address: string): AddressKind {
  const kind = kindOfAddress(address);
  if (kind !== 'public') return kind;
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return own.some((one) => one.address === address) ? 'internal' : kind;
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new Refusal(502, `The host cannot be reached (${code ?? message}).`);
}

function refuse(answer: ServerResponse, { status, message }: Refusal): void {
  if (answer.headersSent) return void answer.destroy();
  answer.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  answer.end(`${message}\n`);
}

/** The answer to a CONNECT, whose connection is no longer that of an HTTP server. */
function plainAnswer({ status, message }: Refusal): string {
  const reasons = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' };
  const body = `${message}\n`;
  return [
    `HTTP/1.1 ${status} ${reasons[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** The first bytes of a client. Undefined: it has left without any. */
async function firstBytes(near: Socket): Promise<Buffer | undefined> {
  await Promise.race([once(near, 'readable'), once(near, 'close')]);
  return (near.read() as Buffer | null) ?? undefined;
}

function joinAll(near: Socket, far: Socket, head: Buffer): void {
  if (head.length > 0) far.write(head);
  near.setTimeout(IDLE_MS);
  join(near, far);
  join(far, near);
}

function join(from: Socket, to: Socket): void {
  from.on('error', () => to.destroy()).on('close', () => to.destroySoon());
  from.on('timeout', () => from.destroy());
  from.pipe(to);
}
