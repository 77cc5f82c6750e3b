import type pg from 'pg';
import type { Config } from '#lib/config';
import type { TokenService } from '#lib/identity';
import { newId } from '#lib/kernel';
import { ADD_AGENTS, ADD_MEMBER, ADD_WAITING, ADD_WORKSPACE } from './tables.js';

/** A caller with a token: a user or an agent. */
export interface Holder {
  id: string;
  token: string;
}

export type Agent = Holder;

/** A database of the benchmarks, and the tools to fill it. */
export class Site {
  constructor(
    readonly ownerUrl: string,
    readonly owner: pg.Pool,
    readonly env: Record<string, string>,
    readonly config: Config,
    private readonly tokens: TokenService,
  ) {}

  async newWorkspace(): Promise<string> {
    const id = newId();
    await this.owner.query(ADD_WORKSPACE, [id, 'Benchmarks', `bench-${id.slice(-12)}`]);
    return id;
  }

  /** A member who has signed in, with a token for this workspace. */
  async newMember(workspaceId: string): Promise<Holder> {
    const [userId, sessionId] = [newId(), newId()];
    await this.owner.query(ADD_MEMBER, [userId, workspaceId, sessionId]);
    const { token } = this.tokens.issueUserToken({ userId, sessionId, workspaceId });
    return { id: userId, token };
  }

  async newAgents(workspaceId: string, count: number, atOnce = 1000): Promise<Agent[]> {
    const ids = Array.from({ length: count }, () => newId());
    await this.owner.query(ADD_AGENTS, [workspaceId, ids, atOnce]);
    return ids.map((id) => ({
      id,
      token: this.tokens.issueAgentToken({ workspaceId, agentId: id, tokenVersion: 1 }).token,
    }));
  }

  /** Inserts queued tasks with the log of their creation, faster than through the API. */
  async addWaitingTasks(workspaceId: string, count: number): Promise<void> {
    await this.owner.query(ADD_WAITING, [workspaceId, count]);
  }

  /** Creates a workspace with queued tasks, and agents for them. */
  async newQueue(tasks: number, agents: number): Promise<{ workspaceId: string; agents: Agent[] }> {
    const workspaceId = await this.newWorkspace();
    const made = await this.newAgents(workspaceId, agents);
    await this.addWaitingTasks(workspaceId, tasks);
    await this.settle();
    return { workspaceId, agents: made };
  }

  /** Gives the database the statistics and the visibility map of one in use. */
  async settle(): Promise<void> {
    await this.owner.query('VACUUM (ANALYZE)');
  }
}
