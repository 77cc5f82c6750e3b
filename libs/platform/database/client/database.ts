import pg from 'pg';
import { translateError } from '../errors/db-errors.js';
import { Breaker } from './breaker.js';
import { type Accompanied, accompanied } from './companion.js';
import { connectionOf, createPool, REQUEST_LIMITS } from './pools.js';
import { PrismaTenants, type PrismaWork } from './prisma.js';
import { Refusals } from '../errors/refusals.js';
import {
  command,
  type Pipeline,
  type PipelineRows,
  type Sql,
  type SqlRunner,
  type Step,
} from '../statements/sql.js';
import {
  FLUSH,
  runTenantQuery,
  SET_TENANT,
  type Statement,
  type TenantQueryOptions,
} from './tenant-query.js';
import { runTransaction, withClient, withRetry, type Transaction } from './transaction.js';

export interface DatabaseOptions {
  /** Connects as drover_app. Row-level security shows it one tenant at a time. */
  appUrl: string;
  /** Connects as drover_service, for coordinator, relay and look-ups before a tenant is known. */
  serviceUrl: string;
  /** Maximum number of connections for each of the two roles. Default: 20 and 10. */
  maxAppConnections?: number;
  maxServiceConnections?: number;
  applicationName?: string;
  statementTimeoutMs?: number;
  /** Whether PgBouncer is in between; see `poolerOf`. */
  pooled?: boolean;
  connectionTimeoutMs?: number;
  onError?: (error: Error) => void;
  /** Called when Postgres does not answer for 2 s, and when it answers again. */
  onSilence?: (isSilent: boolean) => void;
}

/** Connections of one pool, and the number of callers that wait for one. */
export interface PoolUsage {
  pool: 'app' | 'service';
  busy: number;
  idle: number;
  waiting: number;
  max: number;
}

const setTenant = command<unknown>(SET_TENANT.name, SET_TENANT.text);
const flush = command<unknown>(FLUSH.name, FLUSH.text);

/**
 * The only way to Postgres. Every statement runs either for a tenant, bounded by row-level
 * security, or for the service role.
 */
export class Database {
  readonly service: ServiceScope;
  /**
   * Records whether the database accepts changes. Every statement and transaction reports to it.
   */
  readonly refusals = new Refusals();
  private readonly breaker: Breaker;
  private readonly appPool: pg.Pool;
  private readonly servicePool: pg.Pool;
  private readonly prisma: PrismaTenants;

  constructor(options: DatabaseOptions) {
    const common = {
      applicationName: options.applicationName ?? 'drover',
      statementTimeoutMs: options.statementTimeoutMs,
      pooled: options.pooled,
      connectionTimeoutMs: options.connectionTimeoutMs,
    };
    this.breaker = new Breaker({
      probe: () =>
        new pg.Client(connectionOf({ ...common, url: options.serviceUrl, connectionTimeoutMs: 0 })),
      onChange: options.onSilence,
    });
    const { onError } = options;
    const { breaker } = this;
    this.appPool = createPool({
      ...common,
      url: options.appUrl,
      max: options.maxAppConnections ?? 20,
      limits: REQUEST_LIMITS,
      breaker,
      onError,
    });
    this.servicePool = createPool({
      ...common,
      url: options.serviceUrl,
      max: options.maxServiceConnections ?? 10,
      breaker,
      onError,
    });
    this.prisma = new PrismaTenants(this.appPool, this.servicePool, this.refusals);
    this.service = new ServiceScope(this.servicePool, this.prisma, this.refusals);
  }

  tenant(workspaceId: string): TenantScope {
    return new TenantScope(this.appPool, this.prisma, this.refusals, workspaceId);
  }

  /** The usage of both pools. */
  usage(): PoolUsage[] {
    const of = (pool: pg.Pool, name: PoolUsage['pool']) => {
      const { totalCount, idleCount, waitingCount, options } = pool;
      return {
        pool: name,
        busy: totalCount - idleCount,
        idle: idleCount,
        waiting: waitingCount,
        max: options.max,
      };
    };
    return [of(this.appPool, 'app'), of(this.servicePool, 'service')];
  }

  /** Resolves when both pools are empty. Waits for running statements. */
  async close(): Promise<void> {
    await this.prisma.disconnect();
    await Promise.all([this.appPool.end(), this.servicePool.end()]);
    await this.breaker.close();
  }
}

export type PipelineOptions = Pick<TenantQueryOptions, 'earlyLockRelease' | 'mayBeLost'>;

/** Statements and transactions of one tenant. */
export class TenantScope implements SqlRunner {
  constructor(
    private readonly pool: pg.Pool,
    private readonly prismaTenants: PrismaTenants,
    private readonly refusals: Refusals,
    readonly workspaceId: string,
  ) {}

  /** Runs one statement with its tenant and its commit in one round trip. */
  async rows<Row>(
    sql: Sql<Row>,
    params: readonly unknown[] = [],
    options?: PipelineOptions,
  ): Promise<Row[]> {
    const [rows] = await this.pipeline([[sql, params]], options);
    return rows;
  }

  /**
   * Runs several statements as one transaction in one round trip. An error rolls all back. Each
   * statement sees the effects of those before it.
   *
   * @returns the rows of each
   */
  pipeline<const Steps extends Pipeline>(
    steps: Steps,
    options: PipelineOptions = {},
  ): Promise<PipelineRows<Steps>> {
    const writes = steps.some(([sql]) => sql.kind === 'command');
    const how = { pinned: steps[0][0].pinned, ...options };
    const run = (all: readonly Step[]) => {
      const [first, ...others] = all.map(([{ name, text }, params = []]) => {
        return { name, text, values: [...params] };
      });
      return retried(this.refusals, writes, () =>
        withClient(this.pool, writes, (client) =>
          runTenantQuery(client, this.workspaceId, [first as Statement, ...others], how),
        ),
      );
    };
    const running = writes
      ? accompanied(this.workspaceId, async (companion) => {
          if (companion === undefined) return run(steps);
          const results = await run([...steps, companion.step]);
          companion.ran(results.pop() as { kept: boolean }[]);
          return results;
        })
      : run(steps);
    return running as Promise<PipelineRows<Steps>>;
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const setUp = (tx: Transaction) => tx.rows(setTenant, [this.workspaceId]);
    return accompanied(this.workspaceId, (companion) =>
      runTransaction(this.pool, setUp, withCompanion(work, companion)),
    ).catch(this.refusals.noted);
  }

  /** Everyday reads and writes through Prisma, in a transaction that sets the tenant. */
  prisma<T>(work: PrismaWork<T>): Promise<T> {
    return this.prismaTenants.asTenant(this.workspaceId, work);
  }
}

/** The service role. Its statements must filter by workspace themselves. */
export class ServiceScope implements SqlRunner {
  constructor(
    private readonly pool: pg.Pool,
    private readonly prismaTenants: PrismaTenants,
    private readonly refusals: Refusals,
  ) {}

  rows<Row>(sql: Sql<Row>, params: readonly unknown[] = []): Promise<Row[]> {
    const config = { name: sql.name, text: sql.text, values: [...params] };
    const writes = sql.kind === 'command';
    const run = () =>
      retried(this.refusals, writes, () =>
        withClient(this.pool, writes, async (client) => {
          const result = await client.query(config);
          return result.rows as Row[];
        }),
      );
    if (!writes) return run();
    return accompanied(undefined, (companion) =>
      companion ? this.run((tx) => tx.rows(sql, params), companion) : run(),
    );
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return accompanied(undefined, (companion) => this.run(work, companion));
  }

  private run<T>(work: TransactionWork<T>, companion?: Accompanied): Promise<T> {
    const all = withCompanion(work, companion);
    return runTransaction(this.pool, () => Promise.resolve(), all).catch(this.refusals.noted);
  }

  prisma<T>(work: PrismaWork<T>): Promise<T> {
    return this.prismaTenants.asService(work);
  }

  /** Resolves when everything that was visible before is on disk, and on synchronous standbys. */
  async flush(): Promise<void> {
    await this.rows(flush);
  }
}

type TransactionWork<T> = (tx: Transaction) => Promise<T>;

function withCompanion<T>(
  work: TransactionWork<T>,
  companion: Accompanied | undefined,
): TransactionWork<T> {
  if (companion === undefined) return work;
  return async (tx) => {
    const result = await work(tx);
    await companion.finish(tx);
    return result;
  };
}

function retried<T>(refusals: Refusals, writes: boolean, work: () => Promise<T>): Promise<T> {
  return withRetry(work).catch((error: unknown) => refusals.noted(translateError(error, writes)));
}
