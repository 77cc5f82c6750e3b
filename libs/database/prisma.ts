import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { translateError } from './db-errors.js';
import { PrismaClient, type Prisma } from './generated/client.js';

export type PrismaTransaction = Prisma.TransactionClient;

const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 15_000 };

/** Prisma on the same pools. Each call is a transaction, because the tenant is named for one. */
export class PrismaTenants {
  private readonly app: PrismaClient;
  private readonly service: PrismaClient;

  constructor(appPool: pg.Pool, servicePool: pg.Pool) {
    this.app = new PrismaClient({ adapter: new PrismaPg(appPool) });
    this.service = new PrismaClient({ adapter: new PrismaPg(servicePool) });
  }

  asTenant<T>(workspaceId: string, work: (tx: PrismaTransaction) => Promise<T>): Promise<T> {
    return translated(
      this.app.$transaction(async (tx) => {
        await tx.$executeRaw`SELECT set_config('app.workspace_id', ${workspaceId}, true)`;
        return work(tx);
      }, TRANSACTION_LIMITS),
    );
  }

  asService<T>(work: (tx: PrismaTransaction) => Promise<T>): Promise<T> {
    return translated(this.service.$transaction(work, TRANSACTION_LIMITS));
  }

  async disconnect(): Promise<void> {
    await Promise.all([this.app.$disconnect(), this.service.$disconnect()]);
  }
}

function translated<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw translateError(rootCause(error), false);
  });
}

/** Prisma wraps the driver's error; its cause is what says whether the database was there. */
function rootCause(error: unknown): unknown {
  const code = (error as { code?: string } | null)?.code;
  const unreachable =
    code === 'P1001' ||
    code === 'P1002' ||
    code === 'P1008' ||
    code === 'P1017' ||
    code === 'P2024' ||
    code === 'P2028';
  return unreachable ? Object.assign(new Error('Connection terminated'), { cause: error }) : error;
}
