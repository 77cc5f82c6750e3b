import { Inject, Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CronJob } from 'cron';
import { CONFIG, type Config } from '#lib/config';
import { Revocations } from '#lib/identity';
import { SessionAssigner } from '#lib/runs';
import { WakeUps } from '#lib/valkey';

const CRON_JOB = 'coordinator';

/** The triggers of a cycle: the schedule and each wake-up. */
@Injectable()
export class Triggers {
  /** True if this process has the role. */
  readonly enabled: boolean;
  private undo: (() => void)[] = [];

  constructor(
    private readonly wakeUps: WakeUps,
    private readonly sessions: SessionAssigner,
    private readonly revocations: Revocations,
    private readonly scheduler: SchedulerRegistry,
    @Inject(CONFIG) private readonly config: Pick<Config, 'coordinator' | 'roles'>,
  ) {
    this.enabled = config.roles.includes('coordinator');
  }

  connect(ring: () => void): void {
    const job = CronJob.from({ cronTime: this.config.coordinator.cron, onTick: ring, start: true });
    this.scheduler.addCronJob(CRON_JOB, job);
    this.undo = [
      this.wakeUps.onCoordinator(ring),
      this.wakeUps.onClaims((workspaceId) => {
        if (this.sessions.serves(workspaceId)) ring();
      }),
      this.wakeUps.onResync(ring),
      // The runs of an archived workspace must end.
      this.revocations.onRevoked(({ kind }) => {
        if (kind === 'workspace') ring();
      }),
      () => this.forgetJob(),
    ];
  }

  disconnect(): void {
    for (const undo of this.undo.splice(0)) undo();
  }

  /** On shutdown the scheduler can have removed the job already. */
  private forgetJob(): void {
    if (this.scheduler.doesExist('cron', CRON_JOB)) this.scheduler.deleteCronJob(CRON_JOB);
  }

  /** Makes the other servers check whether they can lead. */
  wakeOthers(): void {
    this.wakeUps.coordinator();
  }
}
