import { Agent as HttpAgent, request } from 'undici';
import type { Benchmark } from '../harness/benchmark.js';
import { figure, quantile } from '../harness/figure.js';
import type { Rig } from '../harness/rig.js';
import type { Agent } from '../harness/site.js';

const AGENTS = 20;
const SAMPLES = 300;
const WAIT_MS = 30_000;
const TASK = { title: 'A task', taskType: 'test', inputContext: { command: ['true'] } };

/** From the answer to a creation to the answer of a claim that was waiting for it. */
export const dispatch: Benchmark = {
  name: 'dispatch',
  what: `dispatch latency of an idle fleet of ${AGENTS} agents`,
  async run(rig) {
    const fleet = await IdleFleet.start(rig);
    await fleet.latencies(SAMPLES / 3);
    const [p50, p99]: [number[], number[]] = [[], []];
    for (let repeat = 0; repeat < rig.repeats; repeat++) {
      const latencies = await fleet.latencies(SAMPLES);
      p50.push(quantile(latencies, 0.5));
      p99.push(quantile(latencies, 0.99));
    }
    await fleet.stop();
    return [
      figure({ name: 'dispatch-p50', unit: 'ms', goal: { atMost: 5 } }, p50),
      figure({ name: 'dispatch-p99', unit: 'ms', goal: { atMost: 20 } }, p99),
    ];
  },
};

interface Claimed {
  tasks: { task: { id: string }; run: { id: string } }[];
}

/** Agents that wait for work over HTTP, and whoever hands it in. */
class IdleFleet {
  private readonly http = new HttpAgent({ connections: AGENTS + 4 });
  private readonly claims: Promise<void>[];
  private waiting = 0;
  private allWait: () => void = () => undefined;
  private stopped = false;

  private constructor(
    private readonly url: string,
    private readonly userToken: string,
    agents: readonly Agent[],
  ) {
    this.claims = agents.map((agent) => this.work(agent));
  }

  static async start(rig: Rig): Promise<IdleFleet> {
    const site = await rig.newSite();
    const workspaceId = await site.newWorkspace();
    const { token } = await site.newMember(workspaceId);
    const agents = await site.newAgents(workspaceId, AGENTS);
    const server = await rig.startServer(site);
    return new IdleFleet(server.url, token, agents);
  }

  /** One task after the other, each when all agents wait again; in milliseconds, 0 if the agent was first. */
  async latencies(samples: number): Promise<number[]> {
    const latencies: number[] = [];
    while (latencies.length < samples) {
      await this.everybodyWaits();
      latencies.push(await this.oneTask());
    }
    return latencies;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const ended = Promise.allSettled(this.claims);
    await this.http.destroy();
    await ended;
  }

  private async oneTask(): Promise<number> {
    const arrivals = new Map<string, number>();
    let heard: () => void = () => undefined;
    this.onArrival = (taskId, at) => {
      arrivals.set(taskId, at);
      heard();
    };
    const { id } = await this.post<{ id: string }>('/agent-tasks', this.userToken, TASK);
    const answeredAt = performance.now();
    while (!arrivals.has(id)) await new Promise<void>((resolve) => (heard = resolve));
    return Math.max(0, (arrivals.get(id) ?? 0) - answeredAt);
  }

  private onArrival: (taskId: string, at: number) => void = () => undefined;

  private async work({ id, token }: Agent): Promise<void> {
    while (!this.stopped) {
      const claim = this.post<Claimed>(`/agents/${id}/claim`, token, { waitMs: WAIT_MS });
      this.waiting += 1;
      if (this.waiting === AGENTS) this.allWait();
      const answer = await claim.catch(() => undefined);
      const at = performance.now();
      this.waiting -= 1;
      for (const { task, run } of answer?.tasks ?? []) {
        this.onArrival(task.id, at);
        await this.post(`/runs/${run.id}/complete`, token, {});
      }
    }
  }

  private async everybodyWaits(): Promise<void> {
    while (this.waiting < AGENTS) await new Promise<void>((resolve) => (this.allWait = resolve));
    // The last claim has been sent, but has yet to be found empty: an idle fleet is one at rest.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  private async post<T>(path: string, token: string, body: object): Promise<T> {
    const { statusCode, body: answer } = await request(`${this.url}/api/v1${path}`, {
      method: 'POST',
      dispatcher: this.http,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode >= 300) throw new Error(`${path}: ${statusCode} ${text}`);
    return JSON.parse(text) as T;
  }
}
