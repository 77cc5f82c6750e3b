import { Inject, Injectable } from '@nestjs/common';
import { AgentManagerService, type AgentView, itself, moveAgent } from '#lib/agent-manager';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Transaction } from '#lib/database';
import { type Actor, actorOf, type Caller } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { planRecovery } from '../domain/recover.js';
import { planRelease } from '../domain/release.js';
import { letGoOfRuns } from '../store/let-go-of-runs.sql.js';
import type { LockedTask } from '../domain/locked-task.js';
import { applyMoves } from '../store/moves.js';
import { lockRunsOfAgent } from '../store/runs-of-agent.sql.js';

/** Agents that leave: told to, or by themselves. Their tasks go on elsewhere. */
@Injectable()
export class AgentDeparture {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(AgentManagerService) private readonly agents: AgentManagerService,
    @Inject(WakeUps) private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Graceful: it takes no new work, and is TERMINATED when it holds none. Forced: TERMINATED at once;
   * its runs have failed, and their tasks are retried by their policy.
   *
   * @throws DroverError `agent_not_found`, `agent_terminated`
   */
  async terminate(
    caller: Caller,
    agentId: string,
    { graceful = true, reason = 'terminated by request' }: { graceful?: boolean; reason?: string },
  ): Promise<AgentView> {
    const { workspaceId } = caller;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const held = await tx.rows(lockRunsOfAgent, [workspaceId, agentId]);
      const waits = graceful && held.length > 0;
      if (!waits) await this.failRuns(tx, held, actorOf(caller));
      await moveAgent(tx, { workspaceId, agentId, to: waits ? 'DRAINING' : 'TERMINATED', reason });
    });
    this.tell(agentId);
    return this.agents.get(caller, agentId);
  }

  /** The agent itself goes; what it still holds is released, and does not count as a failed attempt. */
  async deregister(caller: Caller, agentId: string, reason = 'deregistered'): Promise<AgentView> {
    const { workspaceId } = itself(caller, agentId);
    const agent = await this.agents.get(caller, agentId);
    if (agent.status === 'TERMINATED') return agent;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const held = await tx.rows(lockRunsOfAgent, [workspaceId, agentId]);
      await this.releaseRuns(tx, held, actorOf(caller), reason);
      await moveAgent(tx, { workspaceId, agentId, to: 'TERMINATED', reason });
    });
    this.tell(agentId);
    return this.agents.get(caller, agentId);
  }

  private async failRuns(
    tx: Transaction,
    held: readonly LockedTask[],
    actor: Actor,
  ): Promise<void> {
    await letGoOfPaused(tx, held, 'agent_terminated');
    const failure = {
      reason: 'agent_terminated',
      message: 'Its agent was terminated',
      actor,
    } as const;
    const policy = { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
    const plans = held
      .filter((task) => task.status !== 'PAUSED')
      .map((task) => planRecovery(task, failure, policy, Math.random()));
    await applyMoves(
      tx,
      plans.map((plan) => plan.first),
    );
    await applyMoves(
      tx,
      plans.flatMap((plan) => plan.then ?? []),
    );
  }

  private async releaseRuns(
    tx: Transaction,
    held: readonly LockedTask[],
    actor: Actor,
    reason: string,
  ): Promise<void> {
    await letGoOfPaused(tx, held, reason);
    const plans = held.map((task) => planRelease(task, { actor, reason }));
    await applyMoves(
      tx,
      plans.flatMap((plan) => (plan.kind === 'move' ? [plan.move] : [])),
    );
  }

  private tell(agentId: string): void {
    this.wakeUps.signals([agentId]);
    this.wakeUps.coordinator();
  }
}

async function letGoOfPaused(
  tx: Transaction,
  held: readonly LockedTask[],
  endReason: string,
): Promise<void> {
  const runs = held
    .filter((task) => task.status === 'PAUSED')
    .map((task) => ({
      workspace_id: task.workspace_id,
      run_id: task.run_id,
      to_state: 'RELEASED',
      end_reason: endReason,
    }));
  if (runs.length > 0) await tx.rows(letGoOfRuns, [JSON.stringify(runs)]);
}
