import { Client } from './client.js';
import { Starts } from './paced.js';
import type { Rig } from './rig.js';
import type { Agent, Site } from './site.js';
import { TASK } from './tasks.js';

const WAIT_MS = 30_000;

/** Agents that wait for tasks over HTTP, each in a long poll, and a user who creates tasks. */
export class WaitingAgents {
  /** The arrival time of the answer with a task at the agent. */
  readonly starts = new Starts<string>();
  private readonly working: Promise<void>[];
  private waiting = 0;
  private allWait: () => void = () => undefined;
  private stopped = false;

  private constructor(
    private readonly client: Client,
    private readonly userToken: string,
    private readonly agents: readonly Agent[],
  ) {
    this.working = agents.map((agent) => this.work(agent));
  }

  /**
   * @param site with a server of all roles that is started for it
   */
  static async start(rig: Rig, site: Site, count: number): Promise<WaitingAgents> {
    const workspaceId = await site.newWorkspace();
    const { token } = await site.newMember(workspaceId);
    const agents = await site.newAgents(workspaceId, count);
    const { url } = await rig.startServer(site);
    return new WaitingAgents(new Client(url, count + 4), token, agents);
  }

  /** @returns the task's id */
  async create(): Promise<string> {
    const { id } = await this.client.post<{ id: string }>(
      '/api/v1/agent-tasks',
      this.userToken,
      TASK,
    );
    return id;
  }

  async untilAllWait(): Promise<void> {
    while (this.waiting < this.agents.length) {
      await new Promise<void>((resolve) => (this.allWait = resolve));
    }
    // The last claim has been sent, but the server has not found it empty yet. An idle fleet is at
    // rest.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const ended = Promise.allSettled(this.working);
    await this.client.close();
    await ended;
  }

  private async work({ id, token }: Agent): Promise<void> {
    interface Answer {
      tasks: { task: { id: string }; run: { id: string } }[];
    }
    const post = <T>(path: string, body: object) => this.client.post<T>(path, token, body);
    while (!this.stopped) {
      const claim = post<Answer>(`/api/v1/agents/${id}/claim`, { waitMs: WAIT_MS });
      this.waiting += 1;
      if (this.waiting === this.agents.length) this.allWait();
      const answer = await claim.catch(() => undefined);
      const at = performance.now();
      this.waiting -= 1;
      for (const { task, run } of answer?.tasks ?? []) {
        this.starts.note(task.id, at);
        await post(`/api/v1/runs/${run.id}/complete`, {});
      }
    }
  }
}
