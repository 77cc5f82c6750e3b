import type { Database, Fence, Sql, Transaction } from '#lib/database';
import { type SweepResult, sweepResult, type SweepScope } from '#lib/transitions';

/** One sweep: how far it looks, and its only way to write, which is behind the fence. */
export class Pass {
  /** $1 and $2 of its statements: rows at most; the workspace, or NULL for all. */
  readonly bounds: readonly [number, string | null];

  /** @param limit rows that it moves at most */
  constructor(
    private readonly database: Database,
    readonly fence: Fence,
    readonly limit: number,
    readonly scope: SweepScope,
  ) {
    this.bounds = [limit, scope.workspaceId];
  }

  /** The same, also for what is expensive to find. */
  thoroughly(): Pass {
    const { database, fence, limit, scope } = this;
    return new Pass(database, fence, limit, { ...scope, thorough: true });
  }

  /** Reads without locks, in no transaction. @param params of the statement, from $3 on */
  find<Row>(sql: Sql<Row>, ...params: unknown[]): Promise<Row[]> {
    return this.database.service.rows(sql, [...this.bounds, ...params]);
  }

  /** A statement in a transaction of its own. @param params of the statement, from $3 on */
  apply<Row>(sql: Sql<Row>, ...params: unknown[]): Promise<Row[]> {
    return this.transaction((tx) => tx.rows(sql, [...this.bounds, ...params]));
  }

  /** A transaction of the service role that commits only while the epoch lasts. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.service.transaction(async (tx) => {
      await this.fence(tx);
      return work(tx);
    });
  }

  /** The result, if it moved these rows. */
  moved(rows: readonly { workspace_id: string }[]): SweepResult {
    return sweepResult(rows, this.limit);
  }
}
