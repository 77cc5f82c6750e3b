import type { Database, Fence, Sql, Transaction } from '#lib/database';
import { type Subjects, windowsOf } from './search-rounds.js';
import { type SweepResult, sweepResult, type SweepScope } from '#lib/transitions';

/** The range of one sweep, and its only way to write, which is behind the fence. */
export class Pass {
  /** $1 and $2 of its statements: the maximum number of rows, and the workspace (NULL: all). */
  readonly bounds: readonly [number, string | null];

  /**
   * @param limit maximum number of rows to move
   * @param beganAt the begin of the cycle, on the clock of performance.now()
   * @param subjects the rows that slow searches look at; default: all of the scope
   */
  constructor(
    private readonly database: Database,
    readonly fence: Fence,
    readonly limit: number,
    readonly scope: SweepScope,
    readonly beganAt = performance.now(),
    private readonly subjects?: Subjects,
  ) {
    this.bounds = [limit, scope.workspaceId];
  }

  /** The same pass with the expensive searches. */
  thoroughly(subjects?: Subjects): Pass {
    const { database, fence, limit, scope, beganAt } = this;
    return new Pass(database, fence, limit, { ...scope, thorough: true }, beganAt, subjects);
  }

  /**
   * Reads the rows of a search (`store/searches.sql.ts`), without locks, each key once.
   *
   * @param limit number of rows after which it ends
   */
  async search<Row extends { id: string; workspace_id?: string }>(
    sql: Sql<Row>,
    limit = this.limit,
  ): Promise<Row[]> {
    const found = new Map<string, Row>();
    const { workspaceId } = this.scope;
    const all = this.subjects ? [this.subjects] : windowsOf(this.database, workspaceId);
    for await (const { entries, keys } of all) {
      const params = [limit, workspaceId, ...entries, ...keys.flat()];
      for (const row of await this.database.service.rows(sql, params)) {
        found.set(`${row.workspace_id} ${row.id}`, row);
      }
      if (found.size >= limit) break;
    }
    return [...found.values()];
  }

  /** Reads without locks and without a transaction. @param params parameters from $3 on */
  find<Row>(sql: Sql<Row>, ...params: unknown[]): Promise<Row[]> {
    return this.database.service.rows(sql, [...this.bounds, ...params]);
  }

  /** Runs one statement in a transaction of its own. @param params parameters from $3 on */
  apply<Row>(sql: Sql<Row>, ...params: unknown[]): Promise<Row[]> {
    return this.transaction((tx) => tx.rows(sql, [...this.bounds, ...params]));
  }

  /** A transaction of the service role. It commits only while the epoch lasts. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.database.service.transaction(async (tx) => {
      await this.fence(tx);
      return work(tx);
    });
  }

  /** The result of a sweep that moved these rows. */
  countMoved(rows: readonly { workspace_id: string }[]): SweepResult {
    return sweepResult(rows, this.limit);
  }
}
