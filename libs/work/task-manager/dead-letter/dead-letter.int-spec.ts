import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

interface Task {
  id: string;
  title: string;
  tags: string[];
  createdAt: string;
  startAt: string | null;
  failureFingerprint: string | null;
  replaysId: string | null;
  replayedById: string | null;
}
interface Group {
  fingerprint: string;
  count: number;
  newestTaskId: string;
  error: string | null;
}
interface Replayed {
  matched: number;
  replayed: number;
  skipped: number;
  ids: string[];
}
interface Claimed {
  task: { id: string; inputContext: object; secrets: object };
  run: { id: string };
}

let server: TestServer;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await sharedServer('sound');
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 50 });
});
afterAll(() => server.stop());

async function claim(): Promise<Claimed[]> {
  const { body } = await agent.api.post<{ tasks: Claimed[] }>(`/agents/${agent.id}/claim`, {
    maxTasks: 50,
  });
  return body.tasks;
}

/** Creates tasks that fail for good with these errors. */
async function fail(errors: string[], values: object = {}): Promise<string[]> {
  const tasks = errors.map((_, n) => ({
    title: `Task ${n}`,
    taskType: 'test',
    maxRetries: 0,
    ...values,
  }));
  const { body } = await workspace.api.post<{ ids: string[] }>('/agent-tasks/batch', { tasks });
  for (const { task, run } of await claim()) {
    const message = errors[body.ids.indexOf(task.id)];
    await agent.api.post(`/runs/${run.id}/fail`, { error: { message } });
  }
  return body.ids;
}

const read = async (id: string) => (await workspace.api.get<Task>(`/agent-tasks/${id}`)).body;
const groups = async () => (await workspace.api.get<{ items: Group[] }>('/dead-letter')).body.items;
const replay = (body: object) => workspace.api.post<Replayed>('/dead-letter/replay', body);

describe('the dead letter', () => {
  it('tasks that failed in the same way are one group, whatever ids and times they name', async () => {
    const ids = await fail([
      'Order 17 of 2026-01-01T10:00:00Z: time-out after 30s',
      'Order 4711 of 2026-02-03T11:12:13Z: time-out after 31s\n at line 7',
      'Disk full',
    ]);
    const cancelled = await workspace.api.post<Task>('/agent-tasks', {
      title: 'T',
      taskType: 'test',
    });
    await workspace.api.post(`/agent-tasks/${cancelled.body.id}/cancel`);
    const found = await groups();
    expect(found.map(({ count }) => count)).toEqual([2, 1]);
    expect(found[0]).toMatchObject({ newestTaskId: ids[1], taskType: 'test' });
    const path = `/agent-tasks?failureFingerprint=${found[0]?.fingerprint}`;
    const { body } = await workspace.api.get<{ items: Task[] }>(path);
    expect(body.items.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    await workspace.api.post(`/agent-tasks/${ids[2]}/archive`);
    expect(await groups()).toHaveLength(1);
    await workspace.api.post(`/agent-tasks/${ids[0]}/retry`);
    expect((await groups()).map(({ count }) => count)).toEqual([1]);
  });

  it('a replay has the values and secrets of the dead task, and the changed input', async () => {
    const [dead = ''] = await fail(['no'], {
      tags: ['a', 'b'],
      inputContext: { region: 'us', size: 3 },
      secrets: { TOKEN: 'a-very-secret-value' },
    });
    const { body } = await replay({ ids: [dead], inputContext: { region: 'eu' } });
    expect(body).toEqual({ matched: 1, replayed: 1, skipped: 0, ids: [expect.any(String)] });
    const [id = ''] = body.ids;
    expect(await read(id)).toMatchObject({ title: 'Task 0', tags: ['a', 'b'], replaysId: dead });
    expect(await read(dead)).toMatchObject({ replayedById: id, failureFingerprint: null });
    const [claimed] = await claim();
    expect(claimed?.task).toMatchObject({
      id,
      inputContext: { region: 'eu', size: 3 },
      secrets: { TOKEN: 'a-very-secret-value' },
    });
    expect(await groups()).toEqual([]);
  });

  it('a dead task is replayed once, however many ask at once', async () => {
    const ids = await fail(Array.from({ length: 20 }, (_, n) => `error ${n}`));
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => replay({ filter: { deadLetter: true } })),
    );
    const replayed = answers.flatMap(({ body }) => body.ids);
    expect(replayed).toHaveLength(ids.length);
    const { body } = await workspace.api.get<{ items: Task[] }>('/agent-tasks?status=PENDING');
    expect(new Set(body.items.map(({ replaysId }) => replaysId))).toEqual(new Set(ids));
  });

  it('replays at a rate start one after the other, and a refused one is skipped', async () => {
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    await fail(['no'], { projectId: project.id });
    await fail(['no', 'no', 'no']);
    await workspace.api.post(`/projects/${project.id}/archive`);
    const [group] = await groups();
    const filter = { failureFingerprint: group?.fingerprint };
    const { body } = await replay({ filter, perMinute: 2 });
    expect(body).toMatchObject({ matched: 4, replayed: 3, skipped: 1 });
    const delays = await Promise.all(
      body.ids.map(async (id) => {
        const { startAt, createdAt } = await read(id);
        return startAt === null ? 0 : Date.parse(startAt) - Date.parse(createdAt);
      }),
    );
    expect(delays).toEqual([0, 30_000, 60_000]);
    expect((await groups()).map(({ count }) => count)).toEqual([1]);
  });

  it('a replay names tasks', async () => {
    expect(await replay({})).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(await replay({ filter: {} })).toMatchObject({ status: 400 });
  });
});
