import { Inject, Injectable } from '@nestjs/common';
import { AgentManagerService, type AgentView, requireSelf } from '#lib/agent-manager';
import {
  applyPlans,
  type LockedTask,
  transitionAgents,
  planFailure,
  planRelease,
  type FailurePlan,
  type RetryPolicy,
} from '#lib/transitions';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { type Actor, actorOf, type Caller, DroverError, redactText } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { agentRoom } from './agent-room.sql.js';
import { lockRunsOfAgent } from './runs-of-agent.sql.js';

/** Agents that leave, asked to or by themselves. Other agents continue their tasks. */
@Injectable()
export class AgentDeparture {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentManagerService,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Graceful: the agent takes no new work, and is TERMINATED when it holds none. Forced: TERMINATED
   * at once; its runs fail, and their tasks are retried by their policy.
   *
   * @throws DroverError `agent_not_found`, `agent_terminated`
   */
  async terminate(
    caller: Caller,
    agentId: string,
    {
      graceful = true,
      reason: why = 'terminated by request',
    }: { graceful?: boolean; reason?: string },
  ): Promise<AgentView> {
    const { workspaceId } = caller;
    const reason = redactText(why);
    await this.stopClaims(workspaceId, agentId, reason);
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const held = await tx.rows(lockRunsOfAgent, [workspaceId, agentId]);
      if (graceful && held.length > 0) return;
      await applyPlans(tx, this.failures(held, actorOf(caller)));
      await transitionAgents(tx, [{ workspaceId, agentId, to: 'TERMINATED', reason }]);
    });
    this.notify(agentId);
    return this.agents.get(caller, agentId);
  }

  /**
   * The agent itself leaves. Its tasks are released, which is no failed attempt unless their time
   * was over.
   */
  async deregister(caller: Caller, agentId: string, why = 'deregistered'): Promise<AgentView> {
    const { workspaceId } = requireSelf(caller, agentId);
    const reason = redactText(why);
    const agent = await this.agents.get(caller, agentId);
    if (agent.status === 'TERMINATED') return agent;
    await this.stopClaims(workspaceId, agentId, reason);
    const moved = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const held = await tx.rows(lockRunsOfAgent, [workspaceId, agentId]);
      const release = { actor: actorOf(caller), reason };
      const applied = await applyPlans(
        tx,
        held.map((task) => planRelease(task, release, this.retries, Math.random())),
      );
      await transitionAgents(tx, [{ workspaceId, agentId, to: 'TERMINATED', reason }]);
      return applied;
    });
    const ready = moved.filter((row) => row.status === 'PENDING').length;
    if (ready > 0) this.wakeUps.claims(workspaceId, ready);
    this.notify(agentId);
    return this.agents.get(caller, agentId);
  }

  /**
   * From now on the agent gets no task: a claim reads the lifecycle under the agent's lock. A
   * separate transaction, because the next one must see the runs that a claim has just made.
   * Between the two the coordinator may terminate the agent, which is what the caller asked for.
   */
  private async stopClaims(workspaceId: string, agentId: string, reason: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    const [draining] = await transitionAgents(tenant, [
      { workspaceId, agentId, to: 'DRAINING', reason },
    ]);
    if (draining) return;
    const agent = await firstRow(tenant, agentRoom, [workspaceId, agentId]);
    if (!agent) throw new DroverError('agent_not_found');
    if (agent.lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
  }

  private failures(held: readonly LockedTask[], actor: Actor): FailurePlan[] {
    const failure = {
      reason: 'agent_terminated',
      message: 'Its agent was terminated',
      actor,
    } as const;
    return held.map((task) => planFailure(task, failure, this.retries, Math.random()));
  }

  private get retries(): RetryPolicy {
    return { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
  }

  private notify(agentId: string): void {
    this.wakeUps.signals([agentId]);
    this.wakeUps.coordinator();
  }
}
