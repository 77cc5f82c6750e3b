import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database, firstRow, violatedConstraint } from '#lib/database';
import { Revocations } from '#lib/identity';
import { type AgentCaller, DroverError, withAnySignal } from '#lib/kernel';
import { Repositories } from '#lib/repositories';
import { ClaimWaiters, type ClaimWaiter } from '#lib/runs';
import { WakeUps } from '#lib/valkey';
import { PullRequests } from '../forge/pull-requests.js';
import { ChangeSteps } from './change-steps.js';
import { commitMessage, type StepWork, toHostChange } from './host-change.js';
import { type ClaimedStep, claimStep, wordsOfChange } from './steps.sql.js';

interface StepClaim {
  agent: AgentCaller;
  /** 0 answers at once. */
  waitMs: number;
}

/** A due time can come, or a wake-up get lost: a waiting claim looks again, in ms. */
const LOOK_AGAIN_MS = { min: 1_000, spread: 1_000 };
/** Two hosts that take changes of one branch at once: the second looks again. */
const MAX_COLLISIONS = 5;

/** Gives hosts the steps of changes, with leases. */
@Injectable()
export class StepClaims implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly waiters = new ClaimWaiters();
  private readonly closing = new AbortController();
  private readonly unsubscribe: (() => void)[];

  constructor(
    private readonly database: Database,
    private readonly steps: ChangeSteps,
    private readonly repositories: Repositories,
    private readonly pullRequests: PullRequests,
    private readonly revocations: Revocations,
    wakeUps: WakeUps,
  ) {
    this.unsubscribe = [
      wakeUps.onSteps((workspaceId) => this.waiters.wake(workspaceId, 1)),
      wakeUps.onResync(() => this.waiters.wakeAll()),
    ];
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }

  onModuleDestroy(): void {
    for (const stop of this.unsubscribe) stop();
  }

  /**
   * Gives a host the next step, or waits for one. Undefined if there is none in time.
   *
   * @param gone aborts when the client has closed its connection
   * @throws DroverError `token_revoked`
   */
  async claim({ agent, waitMs }: StepClaim, gone: AbortSignal): Promise<StepWork | undefined> {
    const waiter = this.waiters.join(agent.workspaceId);
    try {
      return await this.revocations.heeding(agent, (revoked) =>
        withAnySignal([gone, this.closing.signal, revoked], (stop) =>
          this.claimOrWait({ agent, waitMs }, waiter, stop),
        ),
      );
    } finally {
      waiter.leave();
    }
  }

  private async claimOrWait(
    { agent, waitMs }: StepClaim,
    waiter: ClaimWaiter,
    stop: AbortSignal,
  ): Promise<StepWork | undefined> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      this.revocations.refuse(agent);
      const claimed = await this.claimNow(agent);
      if (claimed) return this.workOf(agent, claimed);
      const left = deadline - performance.now();
      if (left <= 0 || stop.aborted) return undefined;
      const lookAgain = LOOK_AGAIN_MS.min + Math.random() * LOOK_AGAIN_MS.spread;
      await waiter.next(Math.min(left, lookAgain), stop);
      if (stop.aborted) return undefined;
    }
  }

  private async claimNow({ workspaceId, agentId }: AgentCaller): Promise<ClaimedStep | undefined> {
    for (let collisions = 0; ; collisions++) {
      try {
        return await firstRow(this.database.tenant(workspaceId), claimStep, [workspaceId, agentId]);
      } catch (error) {
        if (violatedConstraint(error) !== 'changes_landing_key') throw error;
        if (collisions >= MAX_COLLISIONS) return undefined;
      }
    }
  }

  /** A step whose repository cannot be opened is given back. */
  private async workOf(agent: AgentCaller, row: ClaimedStep): Promise<StepWork> {
    const { workspaceId } = agent;
    const { task_id: changeId, step_generation: generation, step: kind, step_until: until } = row;
    const tenant = this.database.tenant(workspaceId);
    try {
      const [repository, words] = await Promise.all([
        this.repositories.access({ workspaceId, id: row.repository_id }),
        firstRow(tenant, wordsOfChange, [workspaceId, changeId]),
      ]);
      const { title, summary } = words ?? { title: changeId, summary: null };
      const message = commitMessage({ title, summary }, row);
      const step = { changeId, kind, generation, until };
      const pullRequest = await this.pullRequests.workOf(workspaceId, row, repository);
      return { step, change: toHostChange(row), repository, title, message, pullRequest };
    } catch (error) {
      const reason = error instanceof DroverError ? error.message : 'The server failed';
      const report = { generation, outcome: 'failed' as const, reason };
      await this.steps.report({ agent, changeId, generation }, report);
      throw error;
    }
  }
}
