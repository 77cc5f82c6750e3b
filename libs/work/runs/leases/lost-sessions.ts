import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database } from '#lib/database';
import type { Actor } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { applyPlans, planFailure, type FailurePlan } from '#lib/transitions';
import { type LostSession, lockLostSessions } from './lost-sessions.sql.js';

/** The sessions that a gateway reports. */
export interface HeldSessions {
  gatewayId: string;
  /** The gateway's present life. */
  bootId: string;
  /** The number of the heartbeat. */
  sequence: number;
  runIds: readonly string[];
}

const AT_ONCE = 500;

/**
 * Ends the runs whose session their gateway has lost, by a restart or otherwise. The report is
 * evidence, so no threshold is waited for. Full jitter of the retries spreads tasks that failed
 * together, and each task continues from its last checkpoint.
 */
@Injectable()
export class LostSessions {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * @returns the number of ended runs
   */
  async recover(held: HeldSessions): Promise<number> {
    let ended = 0;
    for (;;) {
      const tasks = await this.recoverSome(held);
      ended += tasks;
      if (tasks < AT_ONCE) break;
    }
    if (ended > 0) this.wakeUps.coordinator();
    return ended;
  }

  private recoverSome({ gatewayId, bootId, sequence, runIds }: HeldSessions): Promise<number> {
    const actor: Actor = { kind: 'system', id: `gateway:${gatewayId}` };
    return this.database.service.transaction(async (tx) => {
      const params = [gatewayId, bootId, runIds, sequence, AT_ONCE];
      const tasks = await tx.rows(lockLostSessions, params);
      await applyPlans(
        tx,
        tasks.map((task) => this.plan(task, actor)),
      );
      return tasks.length;
    });
  }

  private plan(task: LostSession, actor: Actor): FailurePlan {
    const failure = task.of_earlier_life
      ? ({ reason: 'gateway_restart', message: 'Its gateway has restarted' } as const)
      : ({ reason: 'infrastructure', message: 'Its gateway has lost its session' } as const);
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    return planFailure(task, { ...failure, actor }, policy, Math.random());
  }
}
