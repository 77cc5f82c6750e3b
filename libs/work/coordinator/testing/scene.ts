import { expect } from '@jest/globals';
import { checkInvariants } from '#lib/invariants';
import type {
  TestAgent,
  TestServer,
  TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { eventsOf } from '../../../../test/support/events.js';

export interface Held {
  id: string;
  runId: string;
  /** The token of the run alone. */
  runToken: string;
  agent: TestAgent;
}

export interface TaskLog {
  event: string;
  level: string;
  message: string | null;
  runId: string | null;
  details: Record<string, unknown>;
}

type Body = Record<string, unknown>;

/** One workspace, with the reads and changes that recovery tests need. */
export class Scene {
  private constructor(
    readonly server: TestServer,
    readonly workspace: TestWorkspace,
  ) {}

  static async of(server: TestServer): Promise<Scene> {
    return new Scene(server, await server.newWorkspace());
  }

  get id(): string {
    return this.workspace.id;
  }

  async task(values: Body = {}): Promise<string> {
    const body = { title: 'A task', taskType: 'test', retryBackoffSeconds: 0, ...values };
    const answer = await this.workspace.api.post<{ id: string }>('/agent-tasks', body);
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  /** A task that an agent of its own has claimed, and started unless `start` is false. */
  async held(values: Body = {}, { start = true } = {}): Promise<Held> {
    const capability = `only-${Math.random().toString(36).slice(2)}`;
    const id = await this.task({ requiredCapabilities: [capability], ...values });
    const { kind } = (values['agent'] ?? {}) as { kind?: string };
    const executes = kind === undefined ? [] : ['command', `kind:${kind}`];
    const agent = await this.workspace.newAgent({ capabilities: [capability, ...executes] });
    const held = await this.claim(agent, id);
    if (start) expect((await agent.api.post(`/runs/${held.runId}/start`, {})).status).toBe(200);
    return held;
  }

  /** Another agent that could take the same task. */
  async heirOf({ agent }: Held): Promise<TestAgent> {
    const { rows } = await this.sql('SELECT capabilities FROM agents WHERE id = $1', agent.id);
    return this.workspace.newAgent({ capabilities: rows[0]?.['capabilities'] as string[] });
  }

  async claim(agent: TestAgent, taskId?: string): Promise<Held> {
    const { body } = await agent.api.post<{
      tasks: { run: { id: string; token: string }; task: { id: string } }[];
    }>(`/agents/${agent.id}/claim`, { taskId });
    const [claimed] = body.tasks;
    if (!claimed) throw new Error('nothing to claim');
    const { id: runId, token: runToken } = claimed.run;
    return { id: claimed.task.id, runId, runToken, agent };
  }

  async read(id: string): Promise<Body> {
    return (await this.workspace.api.get(`/agent-tasks/${id}`)).body;
  }

  async logs(id: string, event?: string): Promise<TaskLog[]> {
    const path = `/agent-tasks/${id}/logs?order=asc&limit=100`;
    const { body } = await this.workspace.api.get<{ items: TaskLog[] }>(path);
    return body.items.filter((log) => event === undefined || log.event === event);
  }

  async coordinatorLogs(event: string): Promise<TaskLog[]> {
    const { body } = await this.workspace.api.get<{ items: TaskLog[] }>(
      '/coordinator/logs?limit=200',
    );
    return body.items.filter((log) => log.event === event);
  }

  events(type: string): Promise<Body[]> {
    return eventsOf(this.server.db.owner, this.id, type);
  }

  /** Runs all steps of the coordinator in this workspace, now. */
  async recover(): Promise<Record<string, number>> {
    const { status, body } = await this.workspace.api.post<{
      counts: Record<string, number>;
      failedSteps: string[];
    }>('/coordinator/recover', { workspaceId: this.id });
    expect([status, body.failedSteps]).toEqual([200, []]);
    return body.counts;
  }

  /** Runs SQL as the owner of the tables, for states that Drover itself never writes. */
  sql(text: string, ...values: unknown[]) {
    return this.server.db.owner.query<Record<string, unknown>>(text, values);
  }

  async holdsEverything(): Promise<void> {
    const outcomes = await checkInvariants(this.server.db.ownerUrl);
    expect(outcomes.filter((outcome) => !outcome.holds)).toEqual([]);
  }
}
