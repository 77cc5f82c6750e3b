import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { soundServer } from '../../../../test/support/sound-server.js';
import { waitFor } from '../../../../test/support/wait-for.js';

interface Task {
  id: string;
  title: string;
  tags: string[];
  createdAt: string;
  startAt: string | null;
  failureFingerprint: string | null;
  replaysId: string | null;
  dependsOn: string[];
  requiredCapabilities: string[];
  unmetDependencies: number;
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
  skips: { code: string; count: number }[];
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
  server = await soundServer();
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

  it('tasks that are cancelled with another are no failures', async () => {
    const create = async (values: object = {}) =>
      (await workspace.api.post<Task>('/agent-tasks', { title: 'T', taskType: 'test', ...values }))
        .body.id;
    const first = await create();
    const second = await create({ dependsOn: [first] });
    await workspace.api.post(`/agent-tasks/${first}/cancel`, { cascade: true });
    expect(await groups()).toEqual([]);
    const { body } = await workspace.api.get<{ items: Task[] }>('/agent-tasks?status=CANCELLED');
    expect(body.items.map(({ id }) => id)).toEqual([second, first]);
  });

  it('a bulk retry leaves replayed tasks to their replays', async () => {
    const [dead = '', other = ''] = await fail(['no', 'no']);
    await replay({ ids: [dead] });
    const filter = { status: ['FAILED'] };
    const { body } = await workspace.api.post('/agent-tasks/bulk/retry', { filter });
    expect(body).toEqual({ matched: 2, changed: 1, skipped: 1 });
    const statuses = async () =>
      (
        await workspace.api.get<{ items: { id: string; status: string }[] }>('/agent-tasks')
      ).body.items
        .filter(({ id }) => id === dead || id === other)
        .map(({ status }) => status);
    expect(await statuses()).toEqual(['PENDING', 'FAILED']);
    expect(await workspace.api.post(`/agent-tasks/${dead}/retry`)).toMatchObject({ status: 200 });
  });

  it('a replay has the values and secrets of the dead task, and the changed input', async () => {
    const [dead = ''] = await fail(['no'], {
      tags: ['a', 'b'],
      inputContext: { region: 'us', size: 3 },
      secrets: { TOKEN: 'a-very-secret-value' },
    });
    const { body } = await replay({ ids: [dead], inputContext: { region: 'eu' } });
    const ids = [expect.any(String)];
    expect(body).toEqual({ matched: 1, replayed: 1, skipped: 0, skips: [], ids });
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

  it('a replay requires what the dead task required, however much that is', async () => {
    const requiredCapabilities = Array.from({ length: 20 }, (_, n) => `skill-${n}`);
    const capabilities = [...requiredCapabilities, 'command'];
    agent = await workspace.newAgent({ capabilities, maxConcurrentTasks: 50 });
    const inputContext = { command: ['true'] };
    const [dead = ''] = await fail(['no'], { requiredCapabilities, inputContext });
    const { body } = await replay({ ids: [dead] });
    expect(body).toMatchObject({ replayed: 1, skips: [] });
    expect(await read(body.ids[0] ?? '')).toMatchObject({
      requiredCapabilities: (await read(dead)).requiredCapabilities,
    });
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
    expect(body.skips).toEqual([{ code: 'project_archived', count: 1 }]);
    const delays = await Promise.all(
      body.ids.map(async (id) => {
        const { startAt, createdAt } = await read(id);
        return startAt === null ? 0 : Date.parse(startAt) - Date.parse(createdAt);
      }),
    );
    expect(delays).toEqual([0, 30_000, 60_000]);
    expect((await groups()).map(({ count }) => count)).toEqual([1]);
  });

  it('replays depend on each other as the dead tasks did, and keep the assigned agent', async () => {
    // Its coordinator ends the tasks that depend on a failed one.
    const leading = await sharedServer('all');
    workspace = await leading.newWorkspace();
    agent = await workspace.newAgent({ maxConcurrentTasks: 50 });
    const policy = 'fail';
    const tasks = [
      { ref: 'build' },
      { ref: 'fetch' },
      { ref: 'test', dependsOn: [{ ref: 'build', policy }], agentId: agent.id },
      { ref: 'ship', dependsOn: [{ ref: 'test', policy }, { ref: 'fetch' }] },
    ].map((task) => ({ title: task.ref, taskType: 'test', maxRetries: 0, ...task }));
    const made = await workspace.api.post<{ ids: string[] }>('/agent-tasks/batch', { tasks });
    const [build = '', fetched = '', test = '', ship = ''] = made.body.ids;
    for (const { task, run } of await claim()) {
      const end = task.id === fetched ? ['complete', {}] : ['fail', { error: { message: 'no' } }];
      await agent.api.post(`/runs/${run.id}/${end[0]}`, end[1]);
    }
    const fingerprint = async () => (await read(ship)).failureFingerprint;
    await waitFor('the end of the last task', fingerprint);
    const alone = await replay({ ids: [test] });
    const skips = [{ code: 'dependency_failed', count: 1 }];
    expect(alone.body).toEqual({ matched: 1, replayed: 0, skipped: 1, skips, ids: [] });

    const { body } = await replay({ ids: [ship, test, build] });
    expect(body).toMatchObject({ matched: 3, replayed: 3, skips: [] });
    const replays = await Promise.all(body.ids.map(read));
    const of = (dead: string) => replays.find(({ replaysId }) => replaysId === dead);
    expect(of(build)).toMatchObject({ dependsOn: [], requiredCapabilities: [] });
    expect(of(test)).toMatchObject({
      dependsOn: [of(build)?.id],
      requiredCapabilities: [`agent:${agent.id}`],
    });
    expect(of(ship)?.dependsOn.sort()).toEqual([fetched, of(test)?.id].sort());
    expect(of(ship)).toMatchObject({ unmetDependencies: 1 });
    expect((await claim()).map(({ task }) => task.id)).toEqual([of(build)?.id]);
    await leading.stop();
  });

  it('a replay waits for the earlier replay of its prerequisite, also in another request', async () => {
    const dead: string[] = [];
    // A transaction replays up to 100.
    for (let batch = 0; batch < 3; batch++) {
      dead.push(...(await fail(Array.from({ length: 40 }, () => 'no'))));
    }
    const [first = '', last = ''] = [dead[0], dead.at(-1)];
    await server.db.owner.query(
      `INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy, settled_at)
       VALUES ($1, $2, $3, 'fail', now()), ($1, $3, $4, 'fail', now())`,
      [workspace.id, first, last, dead[1]],
    );
    const earlier = await replay({ ids: [dead[1]] });
    const { body } = await replay({ filter: { deadLetter: true } });
    expect(body).toMatchObject({ matched: 119, replayed: 119, skips: [] });
    const { body: pending } = await workspace.api.get<{ items: Task[] }>('/agent-tasks?limit=200');
    const of = (id: string) => pending.items.find(({ replaysId }) => replaysId === id);
    expect(of(last)?.dependsOn).toEqual(earlier.body.ids);
    expect(of(first)?.dependsOn).toEqual([of(last)?.id]);
  });

  it('a replay names tasks', async () => {
    expect(await replay({})).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(await replay({ filter: {} })).toMatchObject({ status: 400 });
  });
});
