import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type pg from 'pg';
import { isRetryable, isTimedOut, isUnreachable, translateError } from '../errors/db-errors.js';
import type { Prisma, PrismaClient } from '../generated/client.js';
import type { Refusals } from '../errors/refusals.js';
import type { SqlRunner } from '../statements/sql.js';
import { type Accompanied, accompanied } from './companion.js';
import { withRetry } from './transaction.js';

export type PrismaTransaction = Prisma.TransactionClient;

/**
 * The work of one transaction, through Prisma and through statements that Prisma has no words for.
 * It runs again after a deadlock.
 */
export type PrismaWork<T> = (tx: PrismaTransaction, sql: SqlRunner) => Promise<T>;

/** More than are open at once while it is loaded. */
const FILES_OF_PRISMA = 64;
const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 15_000 };

interface Clients {
  app: PrismaClient;
  service: PrismaClient;
}

/** Prisma on the same pools. Each call is a transaction, because the tenant is named for one. */
export class PrismaTenants {
  private made: Promise<Clients> | undefined;

  constructor(
    private readonly appPool: pg.Pool,
    private readonly servicePool: pg.Pool,
    private readonly refusals: Refusals,
    private readonly load = makeClients,
  ) {}

  async asTenant<T>(workspaceId: string, work: PrismaWork<T>): Promise<T> {
    const { app } = await this.clients();
    const asTenant: PrismaWork<T> = async (tx, sql) => {
      await tx.$executeRaw`SELECT set_config('app.workspace_id', ${workspaceId}, true)`;
      return work(tx, sql);
    };
    return accompanied(workspaceId, (companion) => run(app, asTenant, companion)).catch(
      this.refusals.noted,
    );
  }

  async asService<T>(work: PrismaWork<T>): Promise<T> {
    const { service } = await this.clients();
    return accompanied(undefined, (companion) => run(service, work, companion)).catch(
      this.refusals.noted,
    );
  }

  async disconnect(): Promise<void> {
    const clients = await this.made?.catch(() => undefined);
    await Promise.all([clients?.app.$disconnect(), clients?.service.$disconnect()]);
  }

  private clients(): Promise<Clients> {
    return (this.made ??= this.load(this.appPool, this.servicePool).catch((error: unknown) => {
      this.made = undefined;
      throw error;
    }));
  }
}

/** Library and engine take some 50 MB, and are loaded by the first request that needs them. */
async function makeClients(appPool: pg.Pool, servicePool: pg.Pool): Promise<Clients> {
  await requireDescriptors(FILES_OF_PRISMA);
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../generated/client.js'),
  ]);
  const on = (pool: pg.Pool): PrismaClient => new PrismaClient({ adapter: new PrismaPg(pool) });
  return { app: on(appPool), service: on(servicePool) };
}

/**
 * Node remembers a module that could not be read, until the process ends. So it is not asked to
 * read any while the process may open no more files.
 *
 * @throws EMFILE or ENFILE when `count` more can't be opened
 */
async function requireDescriptors(count: number): Promise<void> {
  const opening = Array.from({ length: count }, () => open(devNull));
  const opened = await Promise.allSettled(opening);
  const files = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await Promise.all(files.map((file) => file.close()));
  const refused = opened.find((one) => one.status === 'rejected');
  if (refused) throw refused.reason;
}

function run<T>(
  client: PrismaClient,
  work: PrismaWork<T>,
  companion: Accompanied | undefined,
): Promise<T> {
  let committing = false;
  const attempt = () => {
    committing = false;
    const transaction = client.$transaction(async (tx) => {
      const result = await work(tx, statementsOf(tx));
      await companion?.finish(statementsOf(tx));
      committing = true;
      return result;
    }, TRANSACTION_LIMITS);
    return transaction.catch((error: unknown) => {
      throw rootCause(error);
    });
  };
  return withRetry(attempt).catch((error: unknown) => {
    throw translateError(error, committing);
  });
}

function statementsOf(tx: PrismaTransaction): SqlRunner {
  return { rows: ({ text }, params = []) => tx.$queryRawUnsafe(text, ...params) };
}

const UNREACHABLE = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028'];
const CONFLICT = 'P2034';

/** The class of violated constraints. */
const VIOLATION = '23';
/** Prisma does not tell the names of all constraints. */
const CONSTRAINT = /constraint "([^"]+)"/;

interface Cause {
  originalCode?: string;
  originalMessage?: string;
  severity?: string;
  constraint?: { index?: string };
}

interface PrismaError {
  code?: string;
  meta?: { driverAdapterError?: { cause?: Cause } };
}

/**
 * Prisma wraps the driver's error; its cause is what says whether to try again, or that the
 * database was away.
 */
function rootCause(error: unknown): unknown {
  const { code = '', meta } = (error ?? {}) as PrismaError;
  if (UNREACHABLE.includes(code))
    return Object.assign(new Error('Connection terminated'), { cause: error });
  const cause = meta?.driverAdapterError?.cause ?? {};
  const { originalCode, originalMessage = '', severity, constraint } = cause;
  const original = Object.assign(new Error(`Prisma ${code}`), {
    code: code === CONFLICT ? '40001' : originalCode,
    severity,
    constraint: constraint?.index ?? CONSTRAINT.exec(originalMessage)?.[1],
    cause: error,
  });
  const passes = isRetryable(original) || isTimedOut(original) || isUnreachable(original);
  return passes || originalCode?.startsWith(VIOLATION) ? original : error;
}
