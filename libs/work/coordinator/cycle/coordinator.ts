import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { isUnreachable } from '#lib/database';
import { BackgroundLoop, type LoopPause, steadyPause } from '#lib/kernel';
import { CycleScheduler } from './cycle-scheduler.js';
import { Outage } from '../domain/outage.js';
import { EventLog } from '../status/event-log.js';
import { LeadershipLost } from '../leadership/fence.js';
import { Leadership } from '../leadership/leadership.js';
import { Housekeeping } from '../upkeep/housekeeping.js';
import { Triggers } from './triggers.js';

/** A follower checks at wake-ups whether the leader has gone, but at most once in this time. */
const FOLLOWER_GAP_MS = 500;
const AFTER_ERROR_MS = 1_000;
const HOUSEKEEPING_PAUSE_MS = 1_000;

/**
 * The loop of the coordinator, in the role `coordinator`. Cycles never overlap. Housekeeping has a
 * loop of its own, because a long round must delay no cycle and cost no leadership.
 */
@Injectable()
export class Coordinator implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new BackgroundLoop(
    () => this.tick(),
    (error) => this.afterFailure(error),
  );
  private readonly upkeep = new BackgroundLoop(
    () => this.keepHouse(),
    () => HOUSEKEEPING_PAUSE_MS,
  );
  private readonly outage = new Outage();
  private started = false;
  private requested = true;
  private epoch: string | undefined;

  constructor(
    private readonly leadership: Leadership,
    private readonly scheduler: CycleScheduler,
    private readonly housekeeping: Housekeeping,
    private readonly eventLog: EventLog,
    private readonly triggers: Triggers,
  ) {}

  onApplicationBootstrap(): void {
    if (this.triggers.enabled) this.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  start(): void {
    if (this.started) return;
    this.started = true;
    this.triggers.connect(() => this.request());
    this.loop.start();
    this.upkeep.start();
  }

  /** Resolves when the current sweep has ended and this process has given up the leadership. */
  async stop(): Promise<void> {
    this.triggers.disconnect();
    await this.loop.stop();
    if (!this.started) return;
    await this.eventLog.flush();
    await this.leadership.resign().catch(() => undefined);
    this.triggers.wakeOthers();
    await this.upkeep.stop();
  }

  private request(): void {
    this.requested = true;
    this.loop.nudge();
  }

  private async tick(): Promise<LoopPause> {
    const leads = await this.leadership.keep();
    this.noteTerm('Another coordinator leads now');
    if (!leads) {
      await this.eventLog.flush();
      return { waitMs: this.leadership.tickMs, cooldownMs: FOLLOWER_GAP_MS };
    }
    const { requested } = this;
    this.requested = false;
    const pause = await this.scheduler.tick(requested, this.loop.stopping);
    this.noteDatabaseIsBack();
    return pause;
  }

  private async keepHouse(): Promise<number> {
    if (this.leadership.epoch !== undefined) await this.housekeeping.runIfDue();
    return HOUSEKEEPING_PAUSE_MS;
  }

  private noteTerm(whyLost: string): void {
    const { epoch } = this.leadership;
    if (epoch === this.epoch) return;
    const before = this.epoch;
    this.epoch = epoch;
    if (epoch === undefined) {
      this.logTerm('leadership_lost', whyLost, before);
      return;
    }
    this.requested = true;
    this.logTerm('leadership_acquired', 'This coordinator leads now', epoch);
  }

  private logTerm(event: string, message: string, epoch: string | undefined): void {
    const details = { epoch, instanceId: this.leadership.instanceId };
    this.eventLog.write({ level: 'INFO', event, message, details });
  }

  private noteDatabaseIsBack(): void {
    const lastedMs = this.outage.over(performance.now());
    if (lastedMs === undefined) return;
    this.eventLog.write({
      level: 'INFO',
      event: 'database_back',
      message: 'The database answers again',
      details: { lastedMs: Math.round(lastedMs) },
    });
  }

  private async afterFailure(error: unknown): Promise<LoopPause> {
    if (this.loop.stopping.aborted) return steadyPause(0);
    this.requested = true;
    await this.leadership.standDown();
    // Another server that can reach the database can then lead before its next periodic check.
    if (this.epoch !== undefined) this.triggers.wakeOthers();
    this.noteTerm('This coordinator gave up the leadership');
    if (error instanceof LeadershipLost) {
      return { waitMs: this.leadership.tickMs, cooldownMs: FOLLOWER_GAP_MS };
    }
    if (isUnreachable(error)) return this.afterOutage(error);
    this.eventLog.write({
      level: 'ERROR',
      event: 'cycle_failed',
      message: 'Cycle aborted by an error',
      details: { error: String(error) },
    });
    await this.eventLog.flush();
    return steadyPause(AFTER_ERROR_MS);
  }

  private afterOutage(error: unknown): LoopPause {
    const { waitMs, alert } = this.outage.failed(performance.now());
    this.eventLog.write({
      level: alert ? 'CRITICAL' : 'WARN',
      event: alert ? 'database_down' : 'database_unreachable',
      message: alert
        ? 'The database has been unreachable for more than five minutes'
        : 'The database cannot be reached; the coordinator waits',
      details: { error: String(error), retryInMs: waitMs },
    });
    return steadyPause(waitMs);
  }
}
