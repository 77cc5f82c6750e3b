import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Line, type Relay } from './line.js';

/**
 * A way to a server on this machine that can be broken while it is in use.
 *
 * Bytes pass as they come unless `relay` puts something in between, which understands the protocol.
 */
export class FaultyProxy {
  private readonly lines = new Set<Line>();
  private isCut = false;
  private isBlackHole = false;
  private delayMs = 0;

  private constructor(
    private readonly server: Server,
    /** The server's URL, by way of the proxy. */
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

  /** Connections that stand now, black holes included. */
  get size(): number {
    return this.lines.size;
  }

  /** Connections break, and new ones are refused, until `mend`. */
  cut(): void {
    this.isCut = true;
    this.breakAll();
  }

  /** Connections break; new ones are welcome. */
  breakAll(): void {
    for (const line of this.lines) line.drop();
  }

  /**
   * Connections stay open, and nothing comes through any more, as when a router on the way has gone.
   * Those that stand now, and those made before `mend`, are dead for good, and nobody tells them.
   */
  blackHole(): void {
    this.isBlackHole = true;
    for (const line of this.lines) line.silence();
  }

  /** Holds every byte back for this long, both ways. */
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
