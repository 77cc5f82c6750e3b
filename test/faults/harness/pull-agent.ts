import { newId } from '#lib/kernel';
import { apiClient, type ApiAnswer, type ApiClient } from '../../support/api-client.js';
import type { TestFleet } from '../../support/fleet.js';
import { AnswerBook, once, patiently } from './patience.js';

export interface PullAgentOptions {
  capabilities?: string[];
  maxConcurrentTasks?: number;
  heartbeatIntervalSeconds?: number;
  /** The silence after which it counts as dead. */
  staleThresholdSeconds?: number;
  /** The port of the agent's server. Default: the fleet's first. */
  port?: number;
}

export interface HeldRun {
  taskId: string;
  runId: string;
}

interface ClaimBody {
  tasks: { run: { id: string }; task: { id: string } }[];
}

interface LiveBody {
  items: { id: string; runId: string }[];
}

/**
 * An agent in this process. It uses HTTP like any other, and repeats requests like a correct one.
 */
export class PullAgent {
  /** The runs that `work` has completed. */
  completed = 0;
  private heartbeatTimer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  private ended = false;

  private constructor(
    readonly id: string,
    readonly api: ApiClient,
    readonly book: AnswerBook,
  ) {}

  static async register(
    fleet: TestFleet,
    options: PullAgentOptions = {},
    book = new AnswerBook(),
  ): Promise<PullAgent> {
    const id = newId();
    const { port = fleet.port, ...values } = options;
    const body = {
      name: `agent ${id.slice(-6)}`,
      heartbeatIntervalSeconds: 1,
      staleThresholdSeconds: 4,
      ...values,
      // Most tasks of these tests have a command, but none is executed.
      capabilities: [...(values.capabilities ?? []), 'command'],
    };
    await patiently(() => fleet.api.put(`/agents/${id}`, body), book);
    const token = await patiently(() => fleet.api.post(`/agents/${id}/token`, {}), book);
    const authorization = `Bearer ${String(token.body['token'])}`;
    return new PullAgent(id, apiClient(`http://127.0.0.1:${port}`, { authorization }), book);
  }

  heartbeat(): Promise<ApiAnswer | undefined> {
    const body = { status: 'healthy' };
    return once(() => this.api.post(`/agents/${this.id}/heartbeat`, body), this.book);
  }

  /** Sends a heartbeat now, and about three in each interval from now on. */
  async startHeartbeats(): Promise<void> {
    await this.heartbeat();
    this.heartbeatTimer = setInterval(() => void this.heartbeat(), 330);
  }

  stopHeartbeats(): void {
    clearInterval(this.heartbeatTimer);
  }

  /** Makes one attempt. @returns undefined if the outcome is unknown */
  async tryClaim(waitMs = 0, body: object = {}): Promise<HeldRun[] | undefined> {
    const answer = await once(
      () => this.api.post(`/agents/${this.id}/claim`, { waitMs, ...body }),
      this.book,
    );
    if (answer?.status !== 200) return undefined;
    const { tasks } = answer.body as unknown as ClaimBody;
    return tasks.map(({ run, task }) => ({ runId: run.id, taskId: task.id }));
  }

  /** Claims a task that is in the queue, or arrives within 25 seconds. */
  async claim(body: object = {}): Promise<HeldRun> {
    const [held] = (await this.tryClaim(25_000, body)) ?? [];
    if (!held) throw new Error('there was nothing to claim');
    return held;
  }

  /** Returns the runs that it holds according to the server. */
  async live(): Promise<HeldRun[]> {
    const path = `/agents/${this.id}/tasks?live=true`;
    const { body } = await patiently(() => this.api.get(path), this.book);
    const { items } = body as unknown as LiveBody;
    return items.map(({ id, runId }) => ({ taskId: id, runId }));
  }

  start(run: HeldRun): Promise<ApiAnswer> {
    return patiently(() => this.api.post(`/runs/${run.runId}/start`, {}), this.book);
  }

  complete(run: HeldRun): Promise<ApiAnswer> {
    const body = { outputResult: { by: this.id } };
    return patiently(() => this.api.post(`/runs/${run.runId}/complete`, body), this.book);
  }

  /** Claims and completes one task after the other until `leave`. */
  work(onCompleted: () => void = () => undefined): void {
    this.working = this.workOn(onCompleted);
  }

  async leave(): Promise<void> {
    this.ended = true;
    await this.working;
    this.stopHeartbeats();
  }

  private async workOn(onCompleted: () => void): Promise<void> {
    while (!this.ended) {
      // A lost answer may have contained a task. Without another request nobody else would get it.
      const held = (await this.tryClaim(1_000)) ?? (await this.live());
      for (const run of held) {
        await this.start(run);
        const { status } = await this.complete(run);
        if (status === 200) this.completed += 1;
        onCompleted();
      }
    }
  }
}
