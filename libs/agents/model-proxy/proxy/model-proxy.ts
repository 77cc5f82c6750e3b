import { once, setMaxListeners } from 'node:events';
import { chmodSync, closeSync, constants, openSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import type {
  Admission,
  ModelAccess,
  ModelReplacement,
  ModelRequest,
  ModelUsage,
  Provider,
  Refusal,
  SeenLimit,
} from '../domain/contract.js';
import { connectorTo } from './connector.js';
import { Exchange } from './exchange.js';
import { TokenCheck } from './token-check.js';

export interface ModelProxyOptions {
  /** A Unix socket, which is bound into a sandbox, or a free port of 127.0.0.1. */
  listen: { socket: string } | 'loopback';
  /** The run's token, which the agent sends as its API key. */
  token: string;
  /**
   * Returns the way to a provider, or the reason why the run has none. It is asked for each request,
   * so the caller caches it.
   */
  access(provider: Provider): Promise<ModelAccess | Refusal>;
  /**
   * Decides before each request that has usage. A rejection refuses the request with status 503. The
   * signal is aborted when the agent no longer waits.
   */
  admit(request: ModelRequest, signal: AbortSignal): Promise<Admission>;
  /** Called exactly once for each admitted request. */
  ended(usage: ModelUsage): void;
  /**
   * Called for a limit that the agent gets as its refusal, or sees in its stream, with the limits of
   * the fallbacks that were asked.
   */
  limited(limit: SeenLimit, ofFallbacks: readonly SeenLimit[]): void;
  /** Called when a fallback answers. */
  replaced(replacement: ModelReplacement): void;
  limits?: Partial<ProxyLimits>;
}

export interface ProxyLimits {
  /** The longest wait for the start of an answer, and for its next byte, in milliseconds. */
  silenceMs: number;
  /** The longest time to read on after the agent broke off, in milliseconds. */
  readOnMs: number;
  /** The most bytes to read on after the agent broke off. */
  readOnBytes: number;
  /** The largest request in bytes. */
  bodyBytes: number;
}

const TEN_MINUTES = 600_000;
const MIB = 1024 * 1024;
const LIMITS: ProxyLimits = {
  silenceMs: TEN_MINUTES,
  readOnMs: TEN_MINUTES,
  readOnBytes: 32 * MIB,
  bodyBytes: 32 * MIB,
};
/** An agent sends its request at once. */
const REQUEST_MS = 60_000;
const CONNECT_MS = 10_000;
/** Providers keep idle connections longer. */
const IDLE_MS = 30_000;
/** A connection takes two descriptors of the host. */
const MAX_CONNECTIONS = 512;

/**
 * The way of one run to its models. It puts the key into each request, asks for its admission, passes
 * the answer on unchanged and reports its usage.
 */
export class ModelProxy {
  private readonly exchanges = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly server: Server,
    private readonly upstream: Agent,
    /** The address for the agent, for example `http://127.0.0.1:4000`. Empty for a Unix socket. */
    readonly url: string,
  ) {}

  static async open(options: ModelProxyOptions): Promise<ModelProxy> {
    const limits = { ...LIMITS, ...options.limits };
    const upstream = new Agent({
      connect: connectorTo(CONNECT_MS),
      keepAliveTimeout: IDLE_MS,
      headersTimeout: limits.silenceMs,
      bodyTimeout: limits.silenceMs,
      allowH2: false,
    });
    const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS });
    server.maxConnections = MAX_CONNECTIONS;
    const url = await listen(server, options.listen);
    const proxy = new ModelProxy(server, upstream, url);
    const token = new TokenCheck(options.token);
    const { signal } = proxy.closing;
    setMaxListeners(0, signal);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const parts = { request, response, upstream, options, limits, token, signal };
      proxy.follow(new Exchange(parts).run());
    });
    server.on('error', () => undefined);
    return proxy;
  }

  /**
   * Refuses new requests and ends the connections of the agent. It reads open answers to their end,
   * for their usage, but for at most `waitMs`; the usage of the others is estimated.
   */
  close(waitMs = 30_000): Promise<void> {
    this.closed ??= this.end(waitMs);
    return this.closed;
  }

  private async end(waitMs: number): Promise<void> {
    const closed = new Promise((resolve) => void this.server.close(resolve));
    this.server.closeAllConnections();
    const ended = new AbortController();
    const all = Promise.all(this.exchanges).finally(() => ended.abort());
    await Promise.race([all, delay(waitMs, undefined, ended).catch(() => undefined)]);
    this.closing.abort();
    await all;
    await Promise.all([closed, this.upstream.destroy()]);
  }

  private follow(exchange: Promise<void>): void {
    this.exchanges.add(exchange);
    void exchange.finally(() => this.exchanges.delete(exchange));
  }
}

async function listen(server: Server, where: ModelProxyOptions['listen']): Promise<string> {
  if (where === 'loopback') {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  // The path of a Unix socket has at most 107 bytes. The descriptor makes it short.
  const folder = openSync(dirname(where.socket), constants.O_RDONLY | constants.O_DIRECTORY);
  server.once('close', () => closeSync(folder));
  try {
    const path = `/proc/self/fd/${folder}/${basename(where.socket)}`;
    server.listen(path);
    await once(server, 'listening');
    // The session can have another user. Only the host can enter the folder.
    chmodSync(path, 0o666);
    return '';
  } catch (error) {
    if (server.listening) server.close();
    else closeSync(folder);
    throw error;
  }
}
