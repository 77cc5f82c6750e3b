import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Revocations, TokenService } from '#lib/identity';
import {
  type AgentCaller,
  DroverError,
  errorInRules,
  operationRulesOf,
  type PermissionRule,
  tokenMarksOf,
  withAnySignal,
} from '#lib/kernel';
import { legalTaskTransitions, TASK_PHASES } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { NothingClaimed } from '../store/claim-tasks.sql.js';
import { ClaimWaiters, type ClaimWaiter } from './claim-waiters.js';
import { ClaimBatcher, type ClaimOutcome } from './claim-batcher.js';
import { HeldSecrets } from '#lib/secrets';
import { RunReports } from '../reports/run-reports.js';
import { type ClaimedTask, toClaimedTask } from './run-view.js';

export interface ClaimRequest {
  agent: AgentCaller;
  /** 1 to 50. */
  maxTasks: number;
  /** The task that the agent asks for; absent: the best one that it may take. */
  taskId?: string;
  /** How long to wait for a task if none is ready, in ms; 0 answers at once. */
  waitMs: number;
  /** The lease's length in seconds; absent: the agent's heartbeats renew it, if it sends any. */
  leaseSeconds?: number;
}

// Wake-ups can get lost: Valkey is down, or another server's message is dropped. A waiting claim
// looks again after this time, in ms, spread so that claims do not look together.
const LOOK_AGAIN_MS = { min: 2_000, spread: 2_000 };

export interface ClaimAnswer {
  tasks: ClaimedTask[];
  /** Why the last look found none. */
  reason?: NothingClaimed;
}

interface Attempt {
  tasks: ClaimedTask[];
  lifecycle?: string;
  mode?: 'pull' | 'push';
  why?: NothingClaimed;
  someHeld?: boolean;
}

/** Gives agents tasks, at once or as soon as one becomes ready. */
@Injectable()
export class ClaimService implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly waiters = new ClaimWaiters();
  private readonly closing = new AbortController();
  private readonly unsubscribe: (() => void)[];

  constructor(
    private readonly claims: ClaimBatcher,
    private readonly secrets: HeldSecrets,
    private readonly tokens: TokenService,
    private readonly revocations: Revocations,
    private readonly reports: RunReports,
    wakeUps: WakeUps,
  ) {
    this.unsubscribe = [
      wakeUps.onClaims((workspaceId, count) => this.waiters.wake(workspaceId, count)),
      wakeUps.onResync(() => this.waiters.wakeAll()),
    ];
  }

  /**
   * @param gone aborts when the client has closed its connection: nobody would work on a task
   *   claimed after that
   * @throws DroverError `agent_not_found`, `agent_draining`, `agent_terminated`, `agent_is_push`,
   *   `token_revoked` as soon as the agent's token is, `task_not_found` and `illegal_transition` of
   *   a requested task
   */
  async claim(request: ClaimRequest, gone: AbortSignal): Promise<ClaimAnswer> {
    const waiter = this.waiters.join(request.agent.workspaceId);
    try {
      const answer = await this.revocations.heeding(request.agent, (revoked) =>
        withAnySignal([gone, this.closing.signal, revoked], (stop) =>
          this.claimOrWait(request, waiter, stop),
        ),
      );
      if (!gone.aborted || answer.tasks.length === 0) return answer;
      const runIds = answer.tasks.map(({ run }) => run.id);
      await this.releaseRuns(request.agent, runIds, 'client_gone');
      return { tasks: [] };
    } finally {
      waiter.leave();
    }
  }

  /**
   * One attempt, without waiting. Also empty when the agent may not claim.
   *
   * @param claimed the result of the claim, if it was made already
   */
  async claimNow(
    request: Omit<ClaimRequest, 'waitMs'>,
    claimed?: ClaimOutcome,
  ): Promise<ClaimedTask[]> {
    return (await this.attempt(request, claimed)).tasks;
  }

  /** Claims that wait for a task in this process. */
  get waiting(): number {
    return this.waiters.size;
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }

  onModuleDestroy(): void {
    for (const stop of this.unsubscribe) stop();
  }

  private async claimOrWait(
    request: ClaimRequest,
    waiter: ClaimWaiter,
    stop: AbortSignal,
  ): Promise<ClaimAnswer> {
    const deadline = performance.now() + request.waitMs;
    for (;;) {
      const attempt = await this.attempt(request);
      if (attempt.tasks.length > 0) return { tasks: attempt.tasks };
      refuseUnlessMayClaim(attempt);
      waiter.passOn();
      if (request.taskId !== undefined) await this.requireWaiting(request.agent, request.taskId);
      const left = deadline - performance.now();
      if (left <= 0 || stop.aborted) return this.explainNothing(request, attempt);
      const lookAgain = LOOK_AGAIN_MS.min + Math.random() * LOOK_AGAIN_MS.spread;
      await waiter.next(Math.min(left, lookAgain), stop);
      this.revocations.refuse(request.agent);
      if (stop.aborted) return this.explainNothing(request, attempt);
    }
  }

  /** Refuses a claim of one task as soon as waiting for it is in vain. */
  private async requireWaiting(agent: AgentCaller, taskId: string): Promise<void> {
    const current = await this.claims.statusOf(agent, taskId);
    if (!current) throw new DroverError('task_not_found');
    if (!['leased', 'closed'].includes(TASK_PHASES[current])) return;
    const detail = `The task is ${current}, and cannot be claimed.`;
    const members = { current, requested: 'ASSIGNED', legal: legalTaskTransitions(current) };
    throw new DroverError('illegal_transition', { detail, members });
  }

  /** A claim that returns tasks never pays for the reason of an empty one. */
  private async explainNothing(
    { agent }: ClaimRequest,
    { why, someHeld }: Attempt,
  ): Promise<ClaimAnswer> {
    if (why !== 'nothing_ready' || !someHeld) return { tasks: [], reason: why };
    return { tasks: [], reason: (await this.claims.whyHeld(agent)) ?? why };
  }

  private async attempt(
    request: Omit<ClaimRequest, 'waitMs'>,
    claimed?: ClaimOutcome,
  ): Promise<Attempt> {
    const { agent, maxTasks, leaseSeconds, taskId } = request;
    const { workspaceId, agentId } = agent;
    const claim = { workspaceId, agent_id: agentId, max: maxTasks, taskId };
    const outcome =
      claimed ?? (await this.claims.claim({ ...claim, lease_seconds: leaseSeconds ?? null }));
    if (!outcome) return { tasks: [] };
    const rows = await this.secrets.openForRuns({ workspaceId, agentId }, outcome.claimed);
    // Every task that was claimed has failed at once: there may be more.
    if (rows.length === 0 && outcome.claimed.length > 0) return this.attempt(request);
    if (this.revocations.isRevoked(agent)) {
      const runIds = rows.map(({ run_id: runId }) => runId);
      await this.releaseRuns(agent, runIds, 'token_revoked');
    }
    this.revocations.refuse(agent);
    const marks = tokenMarksOf(agent);
    const tasks = rows.map((row) => {
      const operations = operationsOf(row.agent);
      const ids = { workspaceId, agentId, taskId: row.id, runId: row.run_id };
      const run = { ...ids, ...marks, ...(operations && { operations }) };
      return toClaimedTask(row, this.tokens.issueRunToken(run));
    });
    const { lifecycle, mode, why, someHeld } = outcome;
    return { tasks, lifecycle, mode, why, someHeld };
  }

  /**
   * Nobody gets the answer to the claim. A run that cannot be released now ends with its lease,
   * unless heartbeats renew it.
   */
  private async releaseRuns(
    { workspaceId, agentId }: AgentCaller,
    runIds: readonly string[],
    reason: string,
  ): Promise<void> {
    const actor = { kind: 'system', id: null } as const;
    const releases = runIds.map((runId) =>
      this.reports.release({ workspaceId, agentId, runId, actor }, { reason }),
    );
    await Promise.allSettled(releases);
  }
}

function refuseUnlessMayClaim({ lifecycle, mode }: Attempt): void {
  if (lifecycle === undefined) throw new DroverError('agent_not_found');
  if (lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
  if (lifecycle === 'DRAINING') throw new DroverError('agent_draining');
  if (mode === 'push') throw new DroverError('agent_is_push');
}

/** The rules of a task's coding agent for operations of the API. */
function operationsOf(agent: unknown): string[] | undefined {
  const { settings } = (agent ?? {}) as { settings?: { permissions?: unknown } };
  const rules = settings?.permissions ?? [];
  // Tasks that are older than rules can have anything there.
  if (errorInRules(rules, '') !== undefined) return undefined;
  return operationRulesOf(rules as PermissionRule[]);
}
