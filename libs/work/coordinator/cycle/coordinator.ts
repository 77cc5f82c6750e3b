import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { isUnreachable } from '#lib/database';
import { Doorbell } from '#lib/kernel';
import { CycleScheduler } from './cycle-scheduler.js';
import { Outage } from '../domain/outage.js';
import type { Pause } from '../domain/pause.js';
import { EventLog } from '../status/event-log.js';
import { LeadershipLost } from '../leadership/fence.js';
import { Leadership } from '../leadership/leadership.js';
import { Triggers } from './triggers.js';

/** A follower checks at wake-ups whether the leader has gone, but at most once in this time. */
const FOLLOWER_GAP_MS = 500;
const AFTER_ERROR_MS = 1_000;

/** The one loop of the coordinator, in the role `coordinator`. Cycles never overlap. */
@Injectable()
export class Coordinator implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly bell = new Doorbell();
  private readonly outage = new Outage();
  private readonly ending = new AbortController();
  private loop: Promise<void> | undefined;
  private requested = true;
  private epoch: string | undefined;

  constructor(
    private readonly leadership: Leadership,
    private readonly scheduler: CycleScheduler,
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
    if (this.loop) return;
    this.triggers.connect(() => this.bell.ring());
    this.loop = this.run();
  }

  /** Resolves when the current sweep has ended and this process has given up the leadership. */
  async stop(): Promise<void> {
    this.ending.abort();
    this.bell.ring();
    this.triggers.disconnect();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.ending.signal.aborted) {
      const pause = await this.tick().catch((error: unknown) => this.afterFailure(error));
      await this.wait(pause);
    }
    await this.eventLog.flush();
    await this.leadership.resign().catch(() => undefined);
    this.triggers.wakeOthers();
  }

  private async tick(): Promise<Pause> {
    const leads = await this.leadership.keep();
    this.noteTerm();
    if (!leads) return { waitMs: this.leadership.tickMs, cooldownMs: FOLLOWER_GAP_MS };
    const { requested } = this;
    this.requested = false;
    const pause = await this.scheduler.tick(requested, this.ending.signal);
    this.noteDatabaseIsBack();
    return pause;
  }

  private noteTerm(): void {
    const { epoch } = this.leadership;
    if (epoch === this.epoch) return;
    const before = this.epoch;
    this.epoch = epoch;
    if (epoch === undefined) {
      this.logTerm('leadership_lost', 'Another coordinator leads now', before);
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

  private async afterFailure(error: unknown): Promise<Pause> {
    if (this.ending.signal.aborted) return { waitMs: 0, cooldownMs: 0 };
    this.requested = true;
    await this.leadership.standDown();
    // Another server that can reach the database can then lead before its next periodic check.
    if (this.epoch !== undefined) this.triggers.wakeOthers();
    this.noteTerm();
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
    return { waitMs: AFTER_ERROR_MS, cooldownMs: AFTER_ERROR_MS };
  }

  private afterOutage(error: unknown): Pause {
    const { waitMs, alert } = this.outage.failed(performance.now());
    this.eventLog.write({
      level: alert ? 'CRITICAL' : 'WARN',
      event: alert ? 'database_down' : 'database_unreachable',
      message: alert
        ? 'The database has been unreachable for more than five minutes'
        : 'The database cannot be reached; the coordinator waits',
      details: { error: String(error), retryInMs: waitMs },
    });
    return { waitMs, cooldownMs: waitMs };
  }

  private async wait({ waitMs, cooldownMs }: Pause): Promise<void> {
    const start = performance.now();
    let rung = false;
    for (;;) {
      const left: number = (rung ? cooldownMs : waitMs) - (performance.now() - start);
      if (left <= 0 || this.ending.signal.aborted) break;
      rung = (await this.bell.wait(left)) || rung;
    }
    this.requested ||= rung;
  }
}
