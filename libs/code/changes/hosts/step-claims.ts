import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database, firstRow, violatedConstraint } from '#lib/database';
import { Revocations } from '#lib/identity';
import { type AgentCaller, DroverError, withAnySignal } from '#lib/kernel';
import { type CheckWork, RepositoryChecks } from '#lib/repositories';
import { ClaimWaiters, type ClaimWaiter } from '#lib/runs';
import { WakeUps } from '#lib/valkey';
import { ChangeSteps } from './change-steps.js';
import type { StepWork } from './host-change.js';
import { StepWorks } from './step-works.js';
import { type ClaimedStep, claimStep } from './steps.sql.js';

interface StepClaim {
  agent: AgentCaller;
  /** 0 answers at once. */
  waitMs: number;
  /** The host checks repositories as well. */
  takesChecks?: boolean;
  /** The host brings changes and pull requests together. */
  knowsForges?: boolean;
}

/** Work of a host: a step of a change, or a check of a repository. */
export type HostWork = StepWork | CheckWork;

/** In ms. A waiting claim looks again, because a step becomes due or a wake-up is lost. */
const LOOK_AGAIN_MS = { min: 1_000, spread: 1_000 };
/** If two hosts take changes of one branch at once, the second looks again, at most so often. */
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
    private readonly works: StepWorks,
    private readonly checks: RepositoryChecks,
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
   * Gives a host the next step or check, or waits for one. Undefined if there is none in time.
   *
   * @param gone aborts when the client has closed its connection
   * @throws DroverError `token_revoked`, `secrets_unreadable`
   */
  async claim(request: StepClaim, gone: AbortSignal): Promise<HostWork | undefined> {
    const { agent } = request;
    const waiter = this.waiters.join(agent.workspaceId);
    try {
      return await this.revocations.heeding(agent, (revoked) =>
        withAnySignal([gone, this.closing.signal, revoked], (stop) =>
          this.claimOrWait(request, waiter, stop),
        ),
      );
    } finally {
      waiter.leave();
    }
  }

  private async claimOrWait(
    { agent, waitMs, takesChecks = false, knowsForges = false }: StepClaim,
    waiter: ClaimWaiter,
    stop: AbortSignal,
  ): Promise<HostWork | undefined> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      this.revocations.refuse(agent);
      const claimed = await this.claimNow(agent, knowsForges);
      if (claimed) return this.workOf(agent, claimed);
      const check = takesChecks ? await this.checks.claim(agent) : undefined;
      if (check) return check;
      const left = deadline - performance.now();
      if (left <= 0 || stop.aborted) return undefined;
      const lookAgain = LOOK_AGAIN_MS.min + Math.random() * LOOK_AGAIN_MS.spread;
      await waiter.next(Math.min(left, lookAgain), stop);
      if (stop.aborted) return undefined;
    }
  }

  private async claimNow(
    { workspaceId, agentId }: AgentCaller,
    knowsForges: boolean,
  ): Promise<ClaimedStep | undefined> {
    const params = [workspaceId, agentId, knowsForges];
    for (let collisions = 0; ; collisions++) {
      try {
        return await firstRow(this.database.tenant(workspaceId), claimStep, params);
      } catch (error) {
        if (violatedConstraint(error) !== 'changes_landing_key') throw error;
        if (collisions >= MAX_COLLISIONS) return undefined;
      }
    }
  }

  /** If the repository of a step cannot be opened, the step counts as failed, and is due later. */
  private async workOf(agent: AgentCaller, row: ClaimedStep): Promise<StepWork> {
    try {
      return await this.works.of(agent.workspaceId, row);
    } catch (error) {
      const { task_id: changeId, step_generation: generation } = row;
      const reason = error instanceof DroverError ? error.message : 'The server failed';
      const report = { generation, outcome: 'failed' as const, reason };
      await this.steps.report({ agent, changeId, generation }, report);
      throw error;
    }
  }
}
