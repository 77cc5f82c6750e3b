import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import type { NumberedEvent } from './domain/message.js';
import { ScanFloor } from './domain/scan-floor.js';
import { giveLeaseBack, takeLease } from './store/lease.sql.js';
import { lookForWork, type Outlook } from './store/look-for-work.sql.js';
import { numberBatch, readInFlight } from './store/number-batch.sql.js';

export const BATCH_SIZE = 500;
/** How long a relay that died, or sleeps, keeps the others waiting. */
const LEASE_SECONDS = 10;

/** This relay's side of the outbox: its lease, and the batch that it has in flight. */
@Injectable()
export class RelayedBatch {
  readonly owner = randomUUID();
  private readonly floor = new ScanFloor(performance.now());
  /** The id after which this round looks. */
  private after = '0';
  /** Whether the batch noted as in flight may not have reached the channels. */
  private undelivered = true;

  constructor(private readonly database: Database) {}

  async look(): Promise<Outlook> {
    this.after = this.floor.next(performance.now());
    const outlook = await firstRow(this.database.service, lookForWork, [this.owner, this.after]);
    return outlook ?? { waiting: false, elsewhere: false };
  }

  /**
   * The next batch, numbered and committed; or the one in flight again, if it may not have arrived. Looks
   * from where the last `look` did: a straggler that it has seen must not lie below another floor.
   *
   * @returns 'elsewhere' when another relay has the lease
   */
  async take(): Promise<NumberedEvent[] | 'elsewhere'> {
    const doubtful = this.undelivered;
    // From here on nobody knows, until `delivered` says so: even the commit's answer may get lost.
    this.undelivered = true;
    return this.database.service.transaction(async (tx) => {
      const lease = await firstRow(tx, takeLease, [this.owner, LEASE_SECONDS]);
      if (!lease) return 'elsewhere';
      const again = (doubtful || !lease.kept) && lease.in_flight.length > 0;
      return again
        ? tx.rows(readInFlight, [lease.in_flight])
        : tx.rows(numberBatch, [BATCH_SIZE, this.after]);
    });
  }

  /** The batch has reached the channels. */
  delivered(batch: readonly NumberedEvent[]): void {
    this.undelivered = false;
    const last = batch.at(-1);
    if (last) this.floor.passed(last.id, performance.now());
  }

  async giveBack(): Promise<void> {
    await this.database.service.rows(giveLeaseBack, [this.owner, !this.undelivered]);
  }
}
