import { newId } from '#lib/kernel';
import type { ApiClient } from '../../support/api-client.js';
import type { TestFleet } from '../../support/fleet.js';
import { waitFor } from '../../support/wait-for.js';
import { patiently } from './patience.js';
import type { PrivateValkey } from './private-valkey.js';
import { PullAgent } from './pull-agent.js';

/** The agents of the load do not have it. */
const CAPABILITY = 'viewed';

/** The parts of the views in Valkey that are about the work. */
interface Viewed {
  pending: string[];
  active: string[];
  held: string[];
  retrying: string[];
  status: string | null;
}

/** Work that does not move by itself, with its views in Valkey (`VALKEY_VIEWS`). */
export class ViewedWork {
  private expected: Viewed;
  /** The ids of all of its tasks, also of former ones. */
  private readonly tasks: string[];

  private constructor(
    private readonly fleet: TestFleet,
    private readonly agent: PullAgent,
    private waiting: string,
    private readonly running: { taskId: string; runId: string },
    private readonly retrying: string,
  ) {
    this.tasks = [waiting, running.taskId, retrying];
    this.expected = {
      pending: [waiting],
      active: [`${running.taskId}:${running.runId}`],
      held: [running.taskId],
      retrying: [retrying],
      status: 'WORKING',
    };
  }

  /** Makes a waiting task, a live run and a task that waits for its retry. */
  static async start(fleet: TestFleet): Promise<ViewedWork> {
    const agent = await PullAgent.register(fleet, {
      capabilities: [CAPABILITY],
      maxConcurrentTasks: 5,
      heartbeatIntervalSeconds: 60,
      staleThresholdSeconds: 600,
    });
    const claim = async () => {
      const taskId = await create(fleet);
      const [run] = (await agent.tryClaim(0, { taskId })) ?? [];
      if (!run) throw new Error('The task was not claimed');
      return run;
    };
    const failed = await claim();
    await move(agent.api, `/runs/${failed.runId}/fail`, {
      error: { message: 'no', class: 'exit_code' },
    });
    const running = await claim();
    return new ViewedWork(fleet, agent, await create(fleet), running, failed.taskId);
  }

  /** Completes the run and replaces the waiting task. */
  async change(): Promise<void> {
    await move(this.agent.api, `/runs/${this.running.runId}/complete`, {});
    await this.cancel(this.waiting);
    this.waiting = await create(this.fleet);
    this.tasks.push(this.waiting);
    const { retrying } = this.expected;
    this.expected = { pending: [this.waiting], active: [], held: [], retrying, status: 'IDLE' };
  }

  /** Waits until the views show the work as it is, and no former state of it. */
  async expectViews(valkey: PrivateValkey): Promise<void> {
    const expected = JSON.stringify(this.expected);
    let seen = '';
    const shown = waitFor('the views of the work', async () => {
      seen = JSON.stringify(await this.look(valkey));
      return seen === expected;
    });
    await shown.catch((cause: unknown) => {
      throw new Error(`The views are ${seen} instead of ${expected}`, { cause });
    });
  }

  async end(): Promise<void> {
    await this.cancel(this.waiting);
    await this.cancel(this.retrying);
    await this.agent.leave();
  }

  private cancel(taskId: string): Promise<void> {
    return move(this.fleet.api, `/agent-tasks/${taskId}/cancel`, {});
  }

  private look(valkey: PrivateValkey): Promise<Viewed> {
    const { workspaceId } = this.fleet;
    // The other tasks are those of the load.
    const own = (names: string[]) =>
      names.filter((name) => this.tasks.includes(name.split(':')[0] ?? ''));
    return valkey.ask(async (commands) => ({
      pending: own(await commands.zrange(`tasks:pending:${workspaceId}`, 0, -1)),
      active: own(await commands.smembers(`tasks:active:${workspaceId}`)),
      held: await commands.hkeys(`agent:tasks:${this.agent.id}`),
      retrying: own(await commands.lrange(`coordinator:recovery_queue:${workspaceId}`, 0, -1)),
      status: await commands.hget(`agent:status:${this.agent.id}`, 'status'),
    }));
  }
}

/** The views can only show a change that took place. */
async function move(api: ApiClient, path: string, body: object): Promise<void> {
  const answer = await patiently(() => api.post(path, body));
  if (answer.status !== 200) {
    throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

async function create(fleet: TestFleet): Promise<string> {
  const values = { title: newId(), taskType: 'viewed', retryBackoffSeconds: 3_600 };
  const { body } = await fleet.api.post('/agent-tasks', {
    ...values,
    requiredCapabilities: [CAPABILITY],
  });
  return String(body['id']);
}
