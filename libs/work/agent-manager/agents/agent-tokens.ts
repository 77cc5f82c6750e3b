import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import { IssuedTokens, Revocations } from '#lib/identity';
import { type Caller, DroverError } from '#lib/kernel';
import type { AgentRow } from '../domain/agent-view.js';
import { lockAgent } from './find-agent.sql.js';
import { raiseTokenVersion } from './raise-token-version.sql.js';

export interface AgentToken {
  /** Shown once. */
  token: string;
  agentId: string;
  expiresAt: string;
}

/**
 * The credentials of agents: issued, rotated, revoked. Only a token's id and version are stored.
 */
@Injectable()
export class AgentTokens {
  constructor(
    private readonly database: Database,
    private readonly issued: IssuedTokens,
    private readonly revocations: Revocations,
  ) {}

  /**
   * @param request.rotate earlier tokens of the agent and its runs are refused from now on,
   *   everywhere within about a second
   * @throws DroverError `agent_not_found`, `agent_terminated`
   */
  async issue(
    caller: Caller,
    agentId: string,
    request: { expiresInSeconds?: number; rotate?: boolean },
  ): Promise<AgentToken> {
    const { expiresInSeconds, rotate } = request;
    const issued = await this.inTransaction(caller.workspaceId, agentId, async (tx, agent) => {
      if (agent.lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
      const tokenVersion = rotate ? await this.makeOld(tx, agent) : agent.tokenVersion;
      return this.issued.issue(tx, caller, { agentId, tokenVersion, expiresInSeconds });
    });
    if (rotate) await this.revocations.announce();
    const { token, expiresAt } = issued;
    return { token, agentId, expiresAt: expiresAt.toISOString() };
  }

  /**
   * Revokes all tokens of the agent and its runs, everywhere within about a second. New ones can be
   * issued.
   *
   * @throws DroverError `agent_not_found`
   */
  async revoke({ workspaceId }: Caller, agentId: string): Promise<void> {
    await this.inTransaction(workspaceId, agentId, (tx, agent) => this.makeOld(tx, agent));
    await this.revocations.announce();
  }

  private inTransaction<T>(
    workspaceId: string,
    agentId: string,
    work: (tx: Transaction, agent: AgentRow) => T | Promise<T>,
  ): Promise<T> {
    return this.database.tenant(workspaceId).transaction(async (tx) => {
      const agent = await firstRow(tx, lockAgent, [workspaceId, agentId]);
      if (!agent) throw new DroverError('agent_not_found');
      return work(tx, agent);
    });
  }

  private async makeOld(tx: Transaction, agent: AgentRow): Promise<number> {
    await tx.rows(raiseTokenVersion, [agent.workspaceId, agent.id]);
    await this.issued.forget(tx, agent.workspaceId, agent.id);
    const minVersion = agent.tokenVersion + 1;
    const { workspaceId, id: agentId } = agent;
    await this.revocations.revoke(tx, [{ kind: 'agent', workspaceId, agentId, minVersion }]);
    return minVersion;
  }
}
