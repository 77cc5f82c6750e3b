import { Injectable } from '@nestjs/common';
import { endOverduePauses, Pauses } from '#lib/admission';
import { Database, type Fence } from '#lib/database';
import { WakeUps } from '#lib/valkey';
import { countByWorkspace, type SweepResult, sweepResult, together } from '#lib/transitions';
import { suspendPausedTasks, resumeTasks } from './suspend-tasks.sql.js';

/** Ends overdue pauses, and moves tasks of paused types out of the way of others. */
@Injectable()
export class TaskSuspension {
  constructor(
    private readonly database: Database,
    private readonly pauses: Pauses,
    private readonly wakeUps: WakeUps,
  ) {}

  async sweep(fence: Fence, limit: number): Promise<SweepResult> {
    const done = await this.database.service.transaction(async (tx) => {
      await fence(tx);
      return {
        ended: await tx.rows(endOverduePauses),
        suspended: await tx.rows(suspendPausedTasks, [limit]),
        freed: await tx.rows(resumeTasks, [limit]),
      };
    });
    await this.wake(done);
    return together(sweepResult(done.suspended, limit), sweepResult(done.freed, limit));
  }

  private async wake({
    ended,
    freed,
  }: {
    ended: readonly { workspace_id: string | null }[];
    freed: readonly { workspace_id: string; status: string }[];
  }): Promise<void> {
    const waiting = freed.filter((task) => task.status === 'PENDING');
    for (const [id, count] of countByWorkspace(waiting)) this.wakeUps.claims(id, count);
    if (ended.some((pause) => pause.workspace_id === null)) await this.pauses.wakeEverybody();
    for (const { workspace_id: id } of ended) if (id !== null) this.wakeUps.manyClaims(id);
  }
}
