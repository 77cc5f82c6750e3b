import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql, SqlRunner, Step } from '../statements/sql.js';

/** Its row says whether it wrote something. It writes nothing if the transaction has not yet. */
export type CompanionSql = Sql<{ kept: boolean }>;
export type CompanionStep = readonly [sql: CompanionSql, params: readonly unknown[]];

/** Chooses the statement for a transaction of a tenant, or (undefined) of the service role. */
type StepFor = (workspaceId: string | undefined) => CompanionStep | undefined;

/** A change that its request alone does not describe. */
export interface DescribedChange {
  /** Undefined for a change of the installation. */
  workspaceId?: string;
  /** The user who makes the change, if the request is not one of the workspace's callers. */
  userId: string;
  details: Record<string, unknown>;
}

const current = new AsyncLocalStorage<Companion | undefined>();

/** A statement that the first transaction which changes something commits as its last. */
export class Companion {
  private state: 'waiting' | 'taken' | 'committed' = 'waiting';
  private hasDescribed = false;

  /** @param stepOfChange the statement of a described change */
  constructor(
    private readonly stepFor: StepFor,
    private readonly stepOfChange: (change: DescribedChange) => Step | undefined,
  ) {}

  /** True if the transaction that has this companion described its change itself. */
  get isDescribed(): boolean {
    return this.hasDescribed;
  }

  describe(change: DescribedChange): Step | undefined {
    this.hasDescribed = true;
    return this.stepOfChange(change);
  }

  get isCommitted(): boolean {
    return this.state === 'committed';
  }

  /** Runs work whose first changing transaction has this companion. */
  accompany<T>(work: () => T): T {
    return current.run(this, work);
  }

  /** No later transaction has it, for instance of work that outlives its request. */
  dismiss(): void {
    if (this.state === 'waiting') this.state = 'taken';
  }

  /** One of several concurrent transactions gets it. */
  take(workspaceId: string | undefined): CompanionStep | undefined {
    if (this.state !== 'waiting') return undefined;
    const step = this.stepFor(workspaceId);
    if (step === undefined) return undefined;
    this.state = 'taken';
    this.hasDescribed = false;
    return step;
  }

  settle(kept: boolean): void {
    this.state = kept ? 'committed' : 'waiting';
  }
}

/** The companion in one transaction. */
export interface Accompanied {
  step: CompanionStep;
  /** Takes the rows of the statement. */
  ran(rows: readonly { kept: boolean }[]): void;
  /** Runs the statement as the last of the transaction, unless that has described its change. */
  finish(tx: SqlRunner): Promise<void>;
}

/**
 * Runs a transaction with the companion of its caller, if one waits.
 *
 * @param workspaceId undefined for the service role
 */
export function accompanied<T>(
  workspaceId: string | undefined,
  run: (companion: Accompanied | undefined) => Promise<T>,
): Promise<T> {
  const companion = current.getStore();
  const step = companion?.take(workspaceId);
  if (companion === undefined || step === undefined) return run(undefined);
  let kept = false;
  const ran = (rows: readonly { kept: boolean }[]) => void (kept = rows[0]?.kept === true);
  const finish = async (tx: SqlRunner) =>
    ran(companion.isDescribed ? [{ kept: true }] : await tx.rows(...step));
  return run({ step, ran, finish }).then(
    (result) => {
      companion.settle(kept);
      return result;
    },
    (error: unknown) => {
      companion.settle(false);
      throw error;
    },
  );
}

/** Runs work that serves several callers, or is no change of its caller's. */
export function unaccompanied<T>(work: () => T): T {
  return current.getStore() === undefined ? work() : current.run(undefined, work);
}

/** Describes a change of the current request in its transaction. Outside of requests it does nothing. */
export async function describeChange(tx: SqlRunner, change: DescribedChange): Promise<void> {
  const step = current.getStore()?.describe(change);
  if (step !== undefined) await tx.rows(...step);
}
