import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '#lib/config';
import { Coalescer, Database, firstRow, type Sql } from '#lib/database';
import { type AgentCaller, agentKey, growingTo } from '#lib/kernel';
import { instruments } from '#lib/observability';
import { takeHolds, type TaskStatus, transitionAgents } from '#lib/transitions';
import {
  type ClaimedRow,
  type ClaimRow,
  claimOf,
  type ClaimStatements,
  hearAgents,
  type AgentClaim,
  type NothingClaimed,
} from '../store/claim-tasks.sql.js';
import { offerKey } from '../store/hand-out.sql.js';
import { givenTask } from './given-task.sql.js';
import { HeldWorkspaces } from './held-workspaces.js';
import { RunModels } from './run-models.js';
import { heldTasksWait } from './held-tasks-wait.sql.js';

export interface Claim extends AgentClaim {
  workspaceId: string;
  /** The task that the agent asks for; absent: the best one. */
  taskId?: string;
}

/** The result of one agent's claim. */
export interface ClaimOutcome {
  lifecycle: string;
  mode: 'pull' | 'push';
  claimed: ClaimedRow[];
  /** Why the agent was given nothing, if it was given nothing. */
  why: NothingClaimed;
  /** Some tasks may be held back. That may be why the agent was given nothing. */
  someHeld: boolean;
}

/** Rows of one agent; undefined when there is no such agent. */
type Answer = ClaimRow[] | undefined;

const REMEMBERED_AGENTS = 100_000;

/** Batches claims that arrive at the same time into one statement. */
@Injectable()
export class ClaimBatcher {
  private readonly coalescer: Coalescer<Claim, Answer>;
  /**
   * The tasks that agents take, from each agent's last claim, by `agentKey`. Only agents that take
   * the same tasks share a statement. The statement checks that; an agent batched by mistake is
   * sent again with agents like it.
   */
  private readonly offers = new LRUCache<string, string>(growingTo(REMEMBERED_AGENTS));

  constructor(
    private readonly database: Database,
    private readonly models: RunModels,
    private readonly held: HeldWorkspaces,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.coalescer = new Coalescer({
      identityOf: (claim) => claim.agent_id,
      run: (_, claims) => this.run(claims),
    });
  }

  /** One attempt, without waiting. @returns undefined when there is no such agent */
  async claim(claim: Claim): Promise<ClaimOutcome | undefined> {
    for (;;) {
      const rows = await (claim.taskId === undefined
        ? this.coalescer.submit(this.groupOf(claim), claim)
        : this.run([claim], claim.taskId).then(([answer]) => answer));
      if (!rows?.[0]) return undefined;
      const outcome = this.outcomeOf(claim, rows);
      if (outcome) return outcome;
    }
  }

  /**
   * The statement for claims of one workspace, each of another agent and none of a given task,
   * behind other statements of a transaction. For a workspace that holds nothing back.
   */
  stepOf(claims: readonly Claim[]): readonly [Sql<ClaimRow>, unknown[]] {
    const [plain] = claimOf(claims.length, wantedBy(claims), false);
    return [plain, this.paramsOf(claims, true)];
  }

  /**
   * Completes the claims of `stepOf` after their commit.
   *
   * @returns undefined for a claim that must be repeated alone
   */
  async settled(
    claims: readonly Claim[],
    rows: readonly ClaimRow[],
  ): Promise<(ClaimOutcome | undefined)[]> {
    const workspaceId = claims[0]?.workspaceId ?? '';
    if (rows[0]) this.held.note(workspaceId, rows[0].is_held);
    const answers = await this.answered(workspaceId, claims, rows);
    return claims.map((claim, index) => {
      const own = answers[index];
      return own?.[0]?.is_held === false ? this.outcomeOf(claim, own) : undefined;
    });
  }

  /** The reason if the agent got nothing because tasks are held back. */
  async whyHeld({ workspaceId, agentId }: AgentCaller): Promise<NothingClaimed | undefined> {
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, heldTasksWait, [workspaceId, agentId]);
    return row?.why ?? undefined;
  }

  /** Undefined for a task that the agent cannot take, and for an unknown task. */
  async statusOf(
    { workspaceId, agentId }: AgentCaller,
    taskId: string,
  ): Promise<TaskStatus | undefined> {
    const tenant = this.database.tenant(workspaceId);
    return (await firstRow(tenant, givenTask, [workspaceId, agentId, taskId]))?.status;
  }

  /** The plain statement notices the first hold of its workspace, the other one the last. */
  private async claimIn(
    workspaceId: string,
    [plain, holding]: ClaimStatements,
    params: unknown[],
  ): Promise<ClaimRow[]> {
    const tenant = this.database.tenant(workspaceId);
    if (!this.held.has(workspaceId)) {
      const rows = await tenant.rows(plain, params);
      if (!rows[0]?.is_held) return rows;
      this.held.note(workspaceId, true);
    }
    const steps = [[holding, params], [takeHolds]] as const;
    const [rows] = await tenant.pipeline(steps, { earlyLockRelease: true });
    if (rows[0]) this.held.note(workspaceId, rows[0].is_held);
    return rows;
  }

  /** Claims of one group can share a statement. */
  groupOf(claim: Claim): string {
    return `${claim.workspaceId} ${this.offers.get(keyOf(claim)) ?? '?'}`;
  }

  private async run(claims: readonly Claim[], taskId?: string): Promise<Answer[]> {
    const workspaceId = claims[0]?.workspaceId ?? '';
    const params = this.paramsOf(claims, false);
    if (taskId !== undefined) params.push(taskId);
    const statements = claimOf(claims.length, wantedBy(claims), taskId !== undefined);
    const rows = await this.claimIn(workspaceId, statements, params);
    return this.answered(workspaceId, claims, rows);
  }

  private paramsOf(claims: readonly Claim[], behindOthers: boolean): unknown[] {
    return [
      claims[0]?.workspaceId ?? '',
      claims.map((claim) => claim.agent_id),
      claims.map((claim) => claim.max),
      claims.map((claim) => claim.lease_seconds),
      this.config.tasks.defaultLeaseSeconds,
      behindOthers,
    ];
  }

  /** Undefined if the agent must come again. */
  private outcomeOf(claim: Claim, rows: readonly ClaimRow[]): ClaimOutcome | undefined {
    const [first] = rows;
    if (!first) return undefined;
    this.offers.set(keyOf(claim), offerKey(first));
    if (first.deferred) return undefined;
    const { lifecycle, mode, why, some_held: someHeld } = first;
    return { lifecycle, mode, claimed: rows.filter(hasTask), why, someHeld };
  }

  /** The rows of each agent, after the steps that follow each claim. */
  private async answered(
    workspaceId: string,
    claims: readonly Claim[],
    rows: readonly ClaimRow[],
  ): Promise<Answer[]> {
    const tenant = this.database.tenant(workspaceId);
    const unresponsive = new Set(rows.filter((row) => row.unresponsive).map((row) => row.agent_id));
    const claimed = rows.filter(hasTask);
    for (const row of claimed) instruments.dispatchSeconds.observe(row.waited_seconds);
    await this.models.choose(workspaceId, claimed);
    if (unresponsive.size > 0) await tenant.rows(hearAgents, [workspaceId, [...unresponsive]]);
    const starting = rows.filter((row) => row.lifecycle === 'STARTING' && row.mode === 'pull');
    const moves = [...new Set(starting.map((row) => row.agent_id))].map((agentId) => {
      return { workspaceId, agentId, to: 'ACTIVE', reason: 'claimed' } as const;
    });
    await transitionAgents(tenant, moves);
    const byAgent = new Map<string, ClaimRow[]>();
    for (const row of rows) {
      const known = byAgent.get(row.agent_id);
      if (known) known.push(row);
      else byAgent.set(row.agent_id, [row]);
    }
    return claims.map((claim) => byAgent.get(claim.agent_id));
  }
}

/** Maximum number of tasks of all claims. */
function wantedBy(claims: readonly Claim[]): number {
  return claims.reduce((sum, claim) => sum + claim.max, 0);
}

function keyOf({ workspaceId, agent_id: agentId }: Claim): string {
  return agentKey({ workspaceId, agentId });
}

function hasTask(row: ClaimRow): row is ClaimRow & ClaimedRow {
  return row.run_id !== null;
}
