import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { drawHorizon, readRollupProgress, rollUpReports } from './roll-up.sql.js';

/** The maximum number of reports in one batch. */
const BATCH_SIZE = 5_000;

/** The result of one look at the ledger. */
export type RollupResult =
  | { kind: 'idle'; position: string }
  /** A batch was added. If it was full, more reports can wait. */
  | { kind: 'added'; position: string; full: boolean }
  /** A transaction below the horizon is open, or another server adds a batch now. */
  | { kind: 'held_back'; position: string };

/** All reports up to `last` are visible once the transactions below `xid` have ended. */
interface Horizon {
  last: string;
  xid: string;
}

/**
 * Adds the reports of the ledger to the sums, each once, in the order of their numbers. Numbers
 * become visible out of order, so it never reads past a transaction that can still write below
 * them.
 */
@Injectable()
export class UsageRollup {
  /**
   * It stays until all reports up to it are added: under steady load the next one would wait too.
   */
  private horizon: Horizon | undefined;

  constructor(private readonly database: Database) {}

  /** Adds at most one batch. */
  async round(batchSize = BATCH_SIZE): Promise<RollupResult> {
    const { last, position } = await this.progress();
    if (BigInt(last) <= BigInt(position)) return { kind: 'idle', position };
    if (!this.horizon || BigInt(this.horizon.last) <= BigInt(position)) {
      this.horizon = { last, xid: await this.drawXid() };
    }
    const params = [this.horizon.last, this.horizon.xid, batchSize];
    const row = await firstRow(this.database.service, rollUpReports, params);
    if (!row) return { kind: 'held_back', position };
    return { kind: 'added', position: row.position, full: row.added >= batchSize };
  }

  private async progress() {
    const row = await firstRow(this.database.service, readRollupProgress);
    if (!row) throw new Error('The row of usage_rollup_progress is missing');
    return row;
  }

  private async drawXid(): Promise<string> {
    const row = await firstRow(this.database.service, drawHorizon);
    if (!row) throw new Error('Postgres gave no transaction id');
    return row.xid;
  }
}
