import pg from 'pg';

/** Milliseconds between two looks at the connections. */
const TICK_MS = 250;
/**
 * Ticks without an answer after which Postgres counts as silent: 2 s, as for readiness. Ticks of a
 * process that stands still come together as one, so its own pause is no silence of Postgres.
 */
const SILENT_TICKS = 8;
/** Ticks for a new connection: 5 s, because a busy Postgres begins sessions late. */
const CONNECT_TICKS = 20;

export interface BreakerOptions {
  /**
   * A connection for the probe alone, so that busy pools never look like a silent Postgres. It has
   * no time limit for connecting: the breaker counts ticks there as well.
   */
  probe(): pg.Client;
  /** Called when Postgres becomes silent, and when it answers again. */
  onChange?: ((isSilent: boolean) => void) | undefined;
}

/**
 * A circuit breaker of the pools. It keeps a connection, and asks Postgres for an answer while a
 * statement runs or waits. After 2 s of silence (a frozen server, a network that drops packets) it
 * breaks all connections and refuses new statements, until Postgres answers the probe. A Postgres
 * that refuses connections needs no breaker, because statements then fail at once. Locks do not
 * open it either.
 */
export class Breaker {
  /** A pool makes its clients of this class, also those that still connect. */
  readonly Client: new (config?: pg.ClientConfig) => pg.Client;
  private readonly clients = new Set<pg.Client>();
  /** Rejects callers that wait for a connection. */
  private readonly waiting = new Set<(error: Error) => void>();
  private readonly pools: pg.Pool[] = [];
  private readonly timer: NodeJS.Timeout;
  private prober: pg.Client | undefined;
  /** Ticks until Postgres counts as silent. Undefined while the probe neither connects nor asks. */
  private ticksLeft: number | undefined;
  private isOpen = false;

  constructor(private readonly options: BreakerOptions) {
    const { clients } = this;
    this.Client = class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super(config);
        clients.add(this);
        this.once('end', () => clients.delete(this));
      }
    };
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  /** Whether Postgres does not answer. */
  get silent(): boolean {
    return this.isOpen;
  }

  /** Statements of the pool make the breaker ask Postgres. */
  watch(pool: pg.Pool): void {
    this.pools.push(pool);
  }

  /**
   * Waits for a connection only as long as Postgres answers.
   *
   * @throws Error that `isUnreachable` knows
   */
  connect(connecting: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    if (this.isOpen) return Promise.reject(unanswered());
    return new Promise((resolve, reject) => {
      this.waiting.add(reject);
      connecting().then(
        // A caller that was refused meanwhile leaves its connection to the next one.
        (client) => (this.waiting.delete(reject) ? resolve(client) : client.release()),
        (error: unknown) => {
          this.waiting.delete(reject);
          reject(error as Error);
        },
      );
    });
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    if (this.isOpen) this.breakAll();
    await this.prober?.end();
  }

  private tick(): void {
    if (this.ticksLeft !== undefined) {
      this.ticksLeft -= 1;
      if (this.ticksLeft <= 0) this.open();
    } else if (!this.prober || this.pools.some(isInUse)) {
      void this.ask();
    }
  }

  private async ask(): Promise<void> {
    this.ticksLeft = CONNECT_TICKS;
    try {
      const prober = this.prober ?? (await this.connectProber());
      this.ticksLeft = SILENT_TICKS;
      await prober.query('SELECT 1');
      this.change(false);
    } catch {
      // A refused or broken connection is no answer. The next probe has a new one.
    }
    this.ticksLeft = undefined;
  }

  private async connectProber(): Promise<pg.Client> {
    const prober = this.options.probe();
    this.prober = prober;
    this.clients.add(prober);
    prober.on('error', () => undefined);
    prober.once('end', () => {
      this.clients.delete(prober);
      this.prober = undefined;
    });
    await prober.connect();
    return prober;
  }

  private open(): void {
    this.change(true);
    for (const reject of this.waiting) reject(unanswered());
    this.waiting.clear();
    this.breakAll();
  }

  /** Also the probe's connection, because it can be the only dead part. */
  private breakAll(): void {
    for (const client of this.clients) streamOf(client).destroy();
  }

  private change(isSilent: boolean): void {
    if (this.isOpen === isSilent) return;
    this.isOpen = isSilent;
    this.options.onChange?.(isSilent);
  }
}

function isInUse({ totalCount, idleCount, waitingCount }: pg.Pool): boolean {
  return totalCount > idleCount || waitingCount > 0;
}

/** The driver's published types leave the socket out. Its `end` waits for Postgres. */
function streamOf(client: pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}

/** Has the shape of a socket's error, by which Prisma recognises an outage. */
function unanswered(): Error {
  const error = new Error('Postgres does not answer');
  return Object.assign(error, { code: 'ETIMEDOUT', syscall: 'read', errno: -110 });
}
