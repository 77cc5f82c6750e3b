import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { TaskInserts } from './task-inserts.js';

let server: TestApp;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
afterAll(() => server.stop());

function aTask(requiredCapabilities: string[], inputContext: Record<string, unknown> = {}) {
  return {
    row: {
      id: newId(),
      title: 'T',
      taskType: 't',
      priority: 5,
      maxRetries: 3,
      tags: [],
      retryBackoffSeconds: 1,
      estimatedTokens: '8970',
      estimateSource: 'default',
      requiredCapabilities,
      steps: [],
      deliverables: [],
      acceptance: [],
      capabilityKey: requiredCapabilities.join(','),
      unmetDependencies: 0,
      hasDependents: false,
      inputContext,
      metadata: {},
      secrets: {},
      actorKind: 'user',
      actorId: null,
      createdBy: null,
    },
    originals: [],
  };
}

it('concurrent tasks of several authors share a statement, and a bad one is refused alone', async () => {
  const workspace = await server.newWorkspace();
  const wanted = (title: string, more: object = {}) => ({ title, taskType: 'test', ...more });
  const answers = await Promise.all([
    workspace.api.post('/agent-tasks', wanted('first', { tags: ['a', 'b'], priority: 9 })),
    workspace.api.post('/agent-tasks', wanted('bad', { projectId: newId() })),
    workspace.api.post('/agent-tasks', wanted('second', { requiredCapabilities: ['x'] })),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 404, 201]);
  expect(answers[1]?.body).toMatchObject({ code: 'project_not_found' });
  const { rows } = await server.db.owner.query(
    `SELECT t.title, t.created_by, l.actor_kind, l.actor_id, (SELECT count(*)::int FROM journal e
       WHERE e.task_id = t.id) AS events
     FROM agent_tasks t JOIN agent_task_logs l ON l.task_id = t.id
     WHERE t.workspace_id = $1 ORDER BY t.title`,
    [workspace.id],
  );
  const author = { created_by: workspace.userId, actor_kind: 'user', actor_id: workspace.userId };
  expect(rows).toEqual([
    { title: 'first', ...author, events: 1 },
    { title: 'second', ...author, events: 1 },
  ]);
});

it('a set of capabilities that was rolled back is not relied on', async () => {
  const { id: workspaceId } = await server.newWorkspace();
  const tenant = server.app.get(Database, { strict: false }).tenant(workspaceId);
  const inserts = server.app.get(TaskInserts, { strict: false });
  const undone = tenant.transaction(async (tx) => {
    await inserts.many(tx, workspaceId, [aTask(['rare'])], []);
    throw new RangeError('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await inserts.one(workspaceId, aTask(['rare']));
  const { rows } = await server.db.owner.query(
    'SELECT key FROM capability_sets WHERE workspace_id = $1',
    [workspaceId],
  );
  expect(rows).toEqual([{ key: 'rare' }]);
});

it("a command's capability is added if a server of an earlier version did not", async () => {
  const { id: workspaceId } = await server.newWorkspace();
  const inserts = server.app.get(TaskInserts, { strict: false });
  const old = [aTask(['x', 'b'], { command: ['true'] }), aTask([], { command: null }), aTask([])];
  for (const task of old) await inserts.one(workspaceId, task);
  const stored = async () => {
    const { rows } = await server.db.owner.query<{
      required: string[];
      key: string;
      set: string[];
    }>(
      `SELECT t.required_capabilities AS required, t.capability_key AS key, s.capabilities AS set
       FROM agent_tasks t LEFT JOIN capability_sets s ON s.workspace_id = t.workspace_id
         AND s.key = t.capability_key
       WHERE t.workspace_id = $1 ORDER BY t.id`,
      [workspaceId],
    );
    return rows;
  };
  const required = ['b', 'command', 'x'];
  const free = { required: [], key: '', set: [] };
  expect(await stored()).toEqual([{ required, key: 'b,command,x', set: required }, free, free]);
  await server.db.owner.query(
    `UPDATE agent_tasks SET required_capabilities = '{}', capability_key = '!' WHERE id = $1`,
    [old[0]?.row.id],
  );
  expect((await stored())[0]).toMatchObject({ required: ['command'], key: '!command' });
});

it.each([
  ['that share all other fields', {}],
  ['of which one has other capabilities', { requiredCapabilities: ['x'] }],
  ['of which one has other metadata', { metadata: { own: 1 } }],
])('many tasks %s are stored as they were sent', async (_, last) => {
  const workspace = await server.newWorkspace();
  const tasks: Record<string, unknown>[] = Array.from({ length: 30 }, (_unused, n) => ({
    title: `Task ${n}`,
    taskType: n % 2 ? 'odd' : 'even',
    ...(n % 3 ? { description: `About ${n}` } : {}),
    priority: 1 + (n % 10),
    inputContext: { n },
    maxRetries: 1,
    acceptance: ['true'],
    requiredCapabilities: ['y'],
  }));
  Object.assign(tasks[29] as object, last);
  const { status, body } = await workspace.api.post<{ ids: string[]; items: { id: string }[] }>(
    '/agent-tasks/batch',
    { tasks },
  );
  expect(status).toBe(201);
  const stored = body.items.map(({ id }) => workspace.api.get(`/agent-tasks/${id}`));
  const views = (await Promise.all(stored)).map((answer) => answer.body);
  expect(views).toMatchObject(tasks);
  expect(views).toEqual(body.items);
  expect(views.map(({ id }) => id)).toEqual(body.ids);
});

it('a batch is answered with ids alone if the client prefers that, also when it is repeated', async () => {
  const workspace = await server.newWorkspace();
  const tasks = [
    { title: 'one', taskType: 't' },
    { title: 'two', taskType: 't' },
  ];
  const create = () =>
    workspace.api.post<{ ids: string[]; items: unknown[] }>(
      '/agent-tasks/batch',
      { tasks },
      { prefer: 'respond-async, return=minimal', 'idempotency-key': 'once' },
    );
  const { status, body, headers } = await create();
  expect([status, headers.get('preference-applied')]).toEqual([201, 'return=minimal']);
  const { rows } = await server.db.owner.query<{ id: string }>(
    'SELECT id FROM agent_tasks WHERE workspace_id = $1 ORDER BY title',
    [workspace.id],
  );
  expect(body).toEqual({ ids: rows.map(({ id }) => id), items: [] });
  expect((await create()).body).toEqual(body);
});
