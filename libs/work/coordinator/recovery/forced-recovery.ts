import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Cycle } from '../cycle/cycle.js';
import type { CycleReport } from '../domain/cycle-report.js';
import { EventLog } from '../status/event-log.js';
import { fenceFor, LeadershipLost } from '../leadership/fence.js';
import { Leadership } from '../leadership/leadership.js';
import { readLeadership } from '../store/leadership.sql.js';

const ATTEMPTS = 3;

/**
 * Runs the sweeps at once, the slow ones too, on any server and also without a leader. It runs in
 * the epoch of the present leader, behind the same fence. Two concurrent passes skip each other's
 * rows, and a change of leader ends this pass like any other.
 */
@Injectable()
export class ForcedRecovery {
  private last: Promise<unknown> = Promise.resolve();
  /** Requests that wait for their turn, by workspace; null: all of them. */
  private readonly waiting = new Map<string | null, Promise<CycleReport>>();

  constructor(
    private readonly database: Database,
    private readonly leadership: Leadership,
    private readonly cycle: Cycle,
    private readonly eventLog: EventLog,
  ) {}

  /**
   * Runs one request at a time on this server. Equal requests share the answer of a request that
   * still waits for its turn. A request that has begun may have passed the rows in question
   * already.
   *
   * @param workspaceId the one workspace whose rows are swept; null: all
   * @throws DroverError `conflict_retry` when leaders change faster than it can run
   */
  run(workspaceId: string | null): Promise<CycleReport> {
    const waiting = this.waiting.get(workspaceId);
    if (waiting) return waiting;
    const turn = this.last
      .catch(() => undefined)
      .then(() => {
        this.waiting.delete(workspaceId);
        return this.runOnce(workspaceId);
      });
    this.waiting.set(workspaceId, turn);
    this.last = turn;
    return turn;
  }

  private async runOnce(workspaceId: string | null): Promise<CycleReport> {
    const scope = { workspaceId, thorough: true };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const present = await firstRow(this.database.service, readLeadership);
      const fence = fenceFor(present?.epoch ?? '0', this.leadership.ttlMs);
      try {
        return await this.cycle.run(fence, () => Promise.resolve(), scope);
      } catch (error) {
        if (!(error instanceof LeadershipLost)) throw error;
      } finally {
        await this.eventLog.flush();
      }
    }
    throw new DroverError('conflict_retry', { retryAfterSeconds: 1 });
  }
}
