import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Line, type Relay } from './line.js';

/**
 * A proxy to a server on this machine that can be broken while it is in use.
 *
 * Bytes pass unchanged unless `relay` adds an intermediary that understands the protocol.
 */
export class FaultyProxy {
  private readonly lines = new Set<Line>();
  private isCut = false;
  private isBlackHole = false;
  private delayMs = 0;

  private constructor(
    private readonly server: Server,
    /** The server's URL through the proxy. */
    readonly url: string,
  ) {}

  static async to(target: string, relay?: (line: Line) => Relay): Promise<FaultyProxy> {
    const url = new URL(target);
    const { hostname, port } = url;
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const proxy = new FaultyProxy(server, url.href);
    server.on('connection', (near) => proxy.accept(near, { hostname, port, relay }));
    return proxy;
  }

  /** The number of open connections, including black holes. */
  get size(): number {
    return this.lines.size;
  }

  /** Breaks all connections and refuses new ones until `mend`. */
  cut(): void {
    this.isCut = true;
    this.breakAll();
  }

  /** Breaks all connections and accepts new ones. */
  breakAll(): void {
    for (const line of this.lines) line.drop();
  }

  /**
   * Keeps connections open without any traffic, as when a router on the way fails. Current
   * connections, and those opened before `mend`, stay dead, and neither side learns it.
   */
  blackHole(): void {
    this.isBlackHole = true;
    for (const line of this.lines) line.silence();
  }

  /** Delays every byte by this time, in both directions. */
  delay(ms: number): void {
    this.delayMs = ms;
    for (const line of this.lines) line.delayMs = ms;
  }

  mend(): void {
    this.isCut = false;
    this.isBlackHole = false;
    this.delay(0);
  }

  close(): Promise<void> {
    this.cut();
    return new Promise((resolve) => void this.server.close(() => resolve()));
  }

  private accept(
    near: Socket,
    to: { hostname: string; port: string; relay?: ((line: Line) => Relay) | undefined },
  ): void {
    if (this.isCut) return void near.destroy();
    const line = new Line(near, connect(Number(to.port), to.hostname), () =>
      this.lines.delete(line),
    );
    this.lines.add(line);
    line.delayMs = this.delayMs;
    if (this.isBlackHole) line.silence();
    line.pass(to.relay?.(line));
  }
}
