import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { mayWriteHeartbeats, takeRoom } from './write-probes.sql.js';

/**
 * Tests whether the database accepts changes. Answering reads does not suffice, because a heartbeat
 * is a change.
 */
@Injectable()
export class WriteProbe {
  private underWay: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  /**
   * One probe at a time for all concurrent callers, because a database that does not answer must
   * not get more connections each second.
   *
   * @throws DroverError `database_unavailable`, `outcome_unknown` or `conflict_retry` (it waited
   *   for a lock)
   */
  ask(): Promise<void> {
    return (this.underWay ??= this.run().finally(() => (this.underWay = undefined)));
  }

  private async run(): Promise<void> {
    const { service, refusals } = this.database;
    await service.rows(mayWriteHeartbeats);
    if (!refusals.standing) return;
    await service.rows(takeRoom);
    refusals.over();
  }
}
