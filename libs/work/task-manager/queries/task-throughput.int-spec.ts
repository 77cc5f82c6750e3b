import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import type { TaskThroughputView } from './task-throughput.js';

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer();
});

afterAll(() => app.stop());

async function read(query = '', { api }: TestWorkspace = workspace): Promise<TaskThroughputView> {
  const { status, body } = await api.get<TaskThroughputView>(`/agent-tasks/throughput${query}`);
  expect(status).toBe(200);
  return body;
}

/** A completed task that waited and ran for so many seconds, and ended so long ago. */
async function aTask(taskType: string, [ago, waited, ran]: [number, number, number]) {
  const { body } = await workspace.api.post<{ id: string }>('/agent-tasks', {
    title: 'T',
    taskType,
  });
  await app.db.owner.query(
    `UPDATE agent_tasks SET status = 'COMPLETED', progress_percent = 100,
      completed_at = now() - make_interval(secs => $2),
       started_at = now() - make_interval(secs => $2 + $3),
       ready_at = now() - make_interval(secs => $2 + $3 + $4)
     WHERE id = $1`,
    [body.id, ago, ran, waited],
  );
}

const countOf = ({ steps }: TaskThroughputView) =>
  steps.reduce((sum, { completed }) => sum + completed, 0);

it('throughput counts completed tasks in thirty steps with waits and durations', async () => {
  workspace = await app.newWorkspace();
  expect(await read()).toMatchObject({ completed: 0, wait: null, run: null });
  await aTask('build', [1, 2, 10]);
  await aTask('test', [1, 4, 30]);
  await aTask('build', [1_800, 4, 20]);
  await aTask('test', [7_200, 100, 100]);
  const hour = await read();
  expect(hour.completed).toBe(3);
  expect(hour.wait?.p50).toBeCloseTo(4, 5);
  expect(hour.run?.p50).toBeCloseTo(20, 5);
  expect(hour.run?.p95).toBeCloseTo(29, 5);
  expect([hour.steps.length, countOf(hour)]).toEqual([30, 3]);
  const starts = hour.steps.map(({ from }) => Date.parse(from));
  expect(starts.every((start, step) => start - (starts[0] ?? 0) === step * 120_000)).toBe(true);
  const halfAnHourAgo = hour.steps.filter(({ completed }) => completed > 0)[0];
  const distance = Date.now() - 1_800_000 - Date.parse(halfAnHourAgo?.from ?? '');
  expect(Math.floor(distance / 120_000)).toBe(0);
  await app.db.owner.query(
    `UPDATE agent_tasks SET status = 'FAILED', completed_at = NULL, failed_at = completed_at,
       failure_reason = 'test'
     WHERE workspace_id = $1 AND task_type = 'test'`,
    [workspace.id],
  );
  const failed = await read();
  expect([failed.completed, failed.failed]).toEqual([2, 1]);
  expect(failed.steps.filter((step) => step.failed > 0)).toHaveLength(1);
  await app.db.owner.query(
    `UPDATE agent_tasks SET status = 'COMPLETED', completed_at = failed_at, failed_at = NULL,
       failure_reason = NULL
     WHERE workspace_id = $1 AND task_type = 'test'`,
    [workspace.id],
  );
  expect(await read('?minutes=180')).toMatchObject({ completed: 4 });
  expect(await read('?minutes=1')).toMatchObject({ completed: 2 });
});

it('a task without a reported start runs from its claim on', async () => {
  const { api, newAgent } = await app.newWorkspace();
  const { body } = await api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 'test' });
  const agent = await newAgent();
  const claimed = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
  );
  await agent.api.post(`/runs/${claimed.body.tasks[0]?.run.id}/complete`, {});
  await app.db.owner.query(
    `UPDATE agent_tasks SET ready_at = completed_at - interval '30 seconds',
       assigned_at = completed_at - interval '20 seconds' WHERE id = $1 AND started_at IS NULL`,
    [body.id],
  );
  const { body: read } = await api.get<TaskThroughputView>('/agent-tasks/throughput');
  expect(read).toMatchObject({ completed: 1, wait: { p50: 10 }, run: { p50: 20 } });
});

it('throughput covers one workspace and whole minutes', async () => {
  const stranger = await app.newWorkspace();
  expect(await read('', stranger)).toMatchObject({ completed: 0 });
  for (const minutes of ['0', '1441', 'x', '1.5'])
    expect(await stranger.api.get(`/agent-tasks/throughput?minutes=${minutes}`)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
});

it('throughput counts waiting and running tasks of one workspace', async () => {
  const { api, newAgent } = await app.newWorkspace();
  const create = async (values: object = {}) =>
    (await api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 'test', ...values }))
      .body.id;
  const first = await create({ priority: 10 });
  await Promise.all([create(), create({ dependsOn: [first] }), create({ dependsOn: [first] })]);
  const agent = await newAgent();
  await agent.api.post(`/agents/${agent.id}/claim`, { maxTasks: 1 });
  const none = { running: 0, paused: 0, retrying: 0 };
  const counts = { ready: 1, blocked: 2, assigned: 1, ...none };
  expect((await api.get('/agent-tasks/counts')).body).toEqual(counts);
  const viewer = await app.newWorkspace('VIEWER');
  expect((await viewer.api.get('/agent-tasks/counts')).body).toEqual({
    ready: 0,
    blocked: 0,
    assigned: 0,
    ...none,
  });
});
