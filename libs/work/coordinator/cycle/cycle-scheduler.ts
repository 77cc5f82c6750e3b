import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import type { LoopPause } from '#lib/kernel';
import { Cycle } from './cycle.js';
import { type CycleReport, hasFailed, leavesMore, movedIn } from '../domain/cycle-report.js';
import { gapAfter, gapBeforeRepeating, untilDue, WATCH_MS } from '../domain/next-cycle.js';
import { EventLog } from '../status/event-log.js';
import { LeadershipLost } from '../leadership/fence.js';
import { Leadership } from '../leadership/leadership.js';
import { recordCycle } from '../store/leadership.sql.js';
import { dueParams, MAY_BE_FORBIDDEN, readDues } from './next-due.sql.js';

/** The cycles of the leading process: when they run, and the record of each. */
@Injectable()
export class CycleScheduler {
  /** The time of the next cycle that nobody requests, on the monotonic clock. */
  private dueAt = 0;

  constructor(
    private readonly database: Database,
    private readonly leadership: Leadership,
    private readonly cycle: Cycle,
    private readonly eventLog: EventLog,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway' | 'admission'>,
  ) {}

  /**
   * Runs a cycle if one was requested or is due, then reads when the next one is due: for a row or
   * for an expensive search.
   *
   * @param ended aborts a cycle between two sweeps
   */
  async tick(requested: boolean, ended: AbortSignal): Promise<LoopPause> {
    const due = requested || performance.now() >= this.dueAt;
    const report = due ? await this.runCycle(ended) : undefined;
    const dueInMs = await this.dueInMs(report);
    const pause = pauseBefore(dueInMs, report);
    this.dueAt = performance.now() + Math.max(dueInMs, pause.cooldownMs);
    return { ...pause, waitMs: Math.min(pause.waitMs, this.leadership.tickMs) };
  }

  private async dueInMs(report: CycleReport | undefined): Promise<number> {
    if (report && leavesMore(report)) return 0;
    const dues = await firstRow(this.database.service, readDues, dueParams(this.config));
    const untilRow = untilDue(dues ?? {}, report && MAY_BE_FORBIDDEN);
    return Math.max(0, Math.min(untilRow, this.cycle.nextSearchAt() - performance.now()));
  }

  private async runCycle(ended: AbortSignal): Promise<CycleReport> {
    const epoch = this.leadership.epoch ?? '-1';
    const report = await this.cycle.run(this.leadership.fence(), async () => {
      ended.throwIfAborted();
      if (!(await this.leadership.keep())) throw new LeadershipLost(epoch);
    });
    await this.database.service.rows(recordCycle, [epoch, JSON.stringify(report)]);
    await this.eventLog.flush();
    return report;
  }
}

/**
 * If work is still due right after a cycle, the pause is longer than before work that is due later.
 */
function pauseBefore(dueInMs: number, report: CycleReport | undefined): LoopPause {
  if (!report) return { waitMs: Math.min(dueInMs, WATCH_MS), cooldownMs: 0 };
  const failed = hasFailed(report);
  const repeats = failed || (dueInMs === 0 && movedIn(report) === 0);
  const cooldownMs = repeats
    ? gapBeforeRepeating(report.durationMs, failed)
    : gapAfter(report.durationMs);
  return { waitMs: Math.max(cooldownMs, Math.min(dueInMs, WATCH_MS)), cooldownMs };
}
