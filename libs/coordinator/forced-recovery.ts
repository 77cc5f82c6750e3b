import { Inject, Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Cycle } from './cycle.js';
import type { CycleReport } from './domain/cycle-report.js';
import { Journal } from './journal.js';
import { fenceFor, LeadershipLost } from './leadership/fence.js';
import { Leadership } from './leadership/leadership.js';
import { readLeadership } from './store/leadership.sql.js';

const ATTEMPTS = 3;

/**
 * The sweeps at once, on any server, whoever leads, and also while nobody does. It runs in the epoch of
 * the present leader, behind the same fence: two that sweep at once skip each other's rows, and a
 * change of leader ends this one like any other that is under way.
 */
@Injectable()
export class ForcedRecovery {
  private underWay: Promise<CycleReport> | undefined;

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Leadership) private readonly leadership: Leadership,
    @Inject(Cycle) private readonly cycle: Cycle,
    @Inject(Journal) private readonly journal: Journal,
  ) {}

  /**
   * Those who ask while one is under way on this server share the next one's answer with each other.
   *
   * @throws DroverError `conflict_retry` when leaders change faster than it can run
   */
  async run(): Promise<CycleReport> {
    // One that began before the question may have passed what the question is about.
    await this.underWay?.catch(() => undefined);
    this.underWay ??= this.runOnce().finally(() => {
      this.underWay = undefined;
    });
    return this.underWay;
  }

  private async runOnce(): Promise<CycleReport> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const present = await firstRow(this.database.service, readLeadership);
      const fence = fenceFor(present?.epoch ?? '0', this.leadership.ttlMs);
      try {
        return await this.cycle.run(fence, () => Promise.resolve());
      } catch (error) {
        if (!(error instanceof LeadershipLost)) throw error;
      } finally {
        await this.journal.flush();
      }
    }
    throw new DroverError('conflict_retry', { retryAfterSeconds: 1 });
  }
}
