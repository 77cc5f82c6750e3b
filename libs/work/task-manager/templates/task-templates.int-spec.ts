import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { waitFor } from '../../../../test/support/wait-for.js';

interface Template {
  id: string;
  version: number;
  task: Record<string, unknown>;
}

const HIDDEN = '[redacted]';
const DEPLOY = {
  taskType: 'command',
  priority: 8,
  tags: ['release'],
  inputContext: { command: ['./deploy.sh'], env: { REGION: 'eu' } },
};

let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

async function create(task: object = DEPLOY, name = 'deploy'): Promise<Template> {
  const answer = await workspace.api.post<Template>('/task-templates', { name, task });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

const path = ({ id }: Template, rest = '') => `/task-templates/${id}${rest}`;

async function claimed() {
  const agent = await workspace.newAgent({ capabilities: ['command'], maxConcurrentTasks: 10 });
  const claim = `/agents/${agent.id}/claim`;
  const { body } = await agent.api.post<{ tasks: { task: object }[] }>(claim, { maxTasks: 10 });
  return body.tasks.map(({ task }) => task);
}

it('a task has the fields of its template, and those of the request replace them', async () => {
  const template = await create();
  const headers = { 'idempotency-key': newId() };
  const first = await workspace.api.post<{ id: string }>(path(template, '/tasks'), {}, headers);
  expect(first).toMatchObject({ status: 201, body: { ...DEPLOY, title: 'deploy' } });
  const again = await workspace.api.post<{ id: string }>(path(template, '/tasks'), {}, headers);
  expect(again.body.id).toBe(first.body.id);
  const fields = { title: 'Deploy to the US', inputContext: { command: ['./us.sh'] }, tags: [] };
  const other = await workspace.api.post(path(template, '/tasks'), fields);
  expect(other).toMatchObject({ status: 201, body: { ...DEPLOY, ...fields } });
  const without = { priority: null, tags: null, title: null, timeoutSeconds: null };
  const bare = await workspace.api.post(path(template, '/tasks'), without);
  const defaults = { priority: 5, tags: [], title: 'deploy', timeoutSeconds: null };
  expect(bare).toMatchObject({ status: 201, body: { ...DEPLOY, ...defaults } });
  expect(await workspace.api.post(path(template, '/tasks'), { priority: 11 })).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', errors: [{ field: 'priority' }] },
  });
});

it('only runs get the secrets of a template, and changes keep those that they send back hidden', async () => {
  // Have no recognisable form: only `secrets` marks them.
  const [key, other] = [`correct horse ${newId()}`, `battery staple ${newId()}`];
  const secrets = { KEY: key, REGION: 'eu-north' };
  const task = { ...DEPLOY, description: `With ${key}`, secrets, metadata: { token: 'swordfish' } };
  const template = await create(task);
  const shown = {
    ...DEPLOY,
    description: `With ${HIDDEN}`,
    secrets: { KEY: HIDDEN, REGION: HIDDEN },
    metadata: { token: HIDDEN },
  };
  expect(template.task).toEqual(shown);
  const changed = await workspace.api.patch<Template>(path(template), {
    task: { ...shown, priority: 9, secrets: { KEY: HIDDEN } },
  });
  expect(changed.body.task).toEqual({ ...shown, priority: 9, secrets: { KEY: HIDDEN } });
  const renamed = await workspace.api.patch<Template>(path(template), { name: 'deploy 2' });
  expect(renamed).toMatchObject({ status: 200, body: { name: 'deploy 2', task: { priority: 9 } } });
  await workspace.api.post(path(template, '/tasks'));
  await workspace.api.post(path(template, '/tasks'), { secrets: { KEY: HIDDEN, MORE: other } });
  const received = { description: `With ${key}`, metadata: { token: 'swordfish' } };
  expect(await claimed()).toMatchObject([
    { ...received, secrets: { KEY: key } },
    { ...received, secrets: { KEY: key, MORE: other } },
  ]);
  for (const secret of [key, other, 'swordfish']) {
    expect(await tablesWith(server, secret)).toEqual([]);
  }
  await workspace.api.patch(path(template), { task: DEPLOY });
  expect(await tablesWith(server, template.id)).not.toContain('task_template_secrets');
});

it('an older version is refused, a name is free after a deletion, and the tasks stay', async () => {
  const template = await create();
  const { body: task } = await workspace.api.post<{ id: string }>(path(template, '/tasks'));
  const headers = { 'if-match': `"${template.version}"` };
  const change = { name: 'release', description: 'Puts it out' };
  const changed = await workspace.api.patch(path(template), change, headers);
  expect(changed).toMatchObject({ status: 200, body: { ...change, task: DEPLOY } });
  expect(await workspace.api.patch(path(template), change, headers)).toMatchObject({
    status: 412,
    body: { code: 'version_mismatch' },
  });
  const same = { name: 'release', task: DEPLOY };
  expect(await workspace.api.post('/task-templates', same)).toMatchObject({
    status: 409,
    body: { code: 'task_template_exists' },
  });
  const named = await workspace.api.get('/task-templates?name=release');
  expect(named.body).toMatchObject({ items: [{ id: template.id, ...change }] });
  expect(await workspace.api.delete(path(template))).toMatchObject({ status: 204 });
  expect(await workspace.api.get(path(template))).toMatchObject({ status: 404 });
  expect(await workspace.api.get(`/agent-tasks/${task.id}`)).toMatchObject({ status: 200 });
  await create(DEPLOY, 'release');
});

it('a change cannot show a secret, or keep a hidden value that the template does not have', async () => {
  const template = await create({ ...DEPLOY, metadata: { token: 'swordfish' } });
  const described = { description: 'The key is mackerel' };
  expect(await workspace.api.patch(path(template), described)).toMatchObject({ status: 200 });
  const refusal = (field: string) => ({
    status: 400,
    body: { code: 'validation_failed', errors: [{ field }] },
  });
  const secrets = { KEY: 'mackerel' };
  const hidden = { OTHER: HIDDEN };
  for (const [task, field] of [
    [{ ...DEPLOY, secrets }, 'description'],
    [{ ...DEPLOY, secrets: hidden }, 'task.secrets.OTHER'],
    [{ ...DEPLOY, metadata: hidden }, 'task.metadata.OTHER'],
  ] as const) {
    expect(await workspace.api.patch(path(template), { task })).toMatchObject(refusal(field));
  }
  const fields = { inputContext: { env: hidden } };
  expect(await workspace.api.post(path(template, '/tasks'), fields)).toMatchObject(
    refusal('inputContext.env.OTHER'),
  );
});

it('a description and a secret that change at the same moment cannot be the same', async () => {
  const template = await create();
  const connection = await server.db.owner.connect();
  await connection.query('BEGIN');
  await connection.query('SELECT FROM task_templates WHERE id = $1 FOR UPDATE', [template.id]);
  const changes = [
    workspace.api.patch(path(template), { description: 'swordfish' }),
    workspace.api.patch(path(template), { task: { ...DEPLOY, secrets: { KEY: 'swordfish' } } }),
  ];
  await waitFor('both changes to wait', async () => {
    const sql = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await server.db.owner.query(sql)).rows.length === 2;
  });
  await connection.query('COMMIT');
  connection.release();
  const statuses = (await Promise.all(changes)).map(({ status }) => status);
  expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 400]);
});

it.each([
  [{ task: { title: 'T' } }, 'task.taskType'],
  [{ task: { ...DEPLOY, priority: 0 } }, 'task.priority'],
  [{ task: { ...DEPLOY, parentTaskId: newId() } }, 'task.parentTaskId'],
  [{ task: { ...DEPLOY, secrets: { A: HIDDEN } } }, 'task.secrets.A'],
  [{ task: { taskType: 'swordfish', secrets: { A: 'swordfish' } } }, 'task.taskType'],
  [{ name: 'a swordfish', task: { ...DEPLOY, secrets: { A: 'swordfish' } } }, 'name'],
  [{ description: 'a swordfish', task: { ...DEPLOY, secrets: { A: 'swordfish' } } }, 'description'],
  [{ task: { ...DEPLOY, metadata: { list: [{ a: HIDDEN }] } } }, 'task.metadata.list[0].a'],
  [
    { task: { ...DEPLOY, inputContext: { command: ['a', `--token=${HIDDEN}`] } } },
    'task.inputContext.command[1]',
  ],
])('the template %j is refused', async (values, field) => {
  const body = { name: 'bad', ...values };
  expect(await workspace.api.post('/task-templates', body)).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', errors: [{ field }] },
  });
});

it('a workspace has at most 1,000 templates', async () => {
  await create();
  await server.db.owner.query(
    `INSERT INTO task_templates (workspace_id, id, name, task, created_by)
     SELECT workspace_id, uuidv7(), 'template ' || n, task, created_by
     FROM task_templates, generate_series(2, 1000) n WHERE workspace_id = $1`,
    [workspace.id],
  );
  const body = { name: 'more', task: DEPLOY };
  expect(await workspace.api.post('/task-templates', body)).toMatchObject({
    status: 409,
    body: { code: 'task_template_limit', limit: 1_000 },
  });
});

it('a task with the public form of a secret is refused, alone and in a batch', async () => {
  const copy = { title: 'Copy', ...DEPLOY, secrets: { TOKEN: HIDDEN }, metadata: { a: [HIDDEN] } };
  const errorsOf = async (path: string, body: object) => {
    const { status, body: problem } = await workspace.api.post<{ errors: { field: string }[] }>(
      path,
      body,
    );
    expect(status).toBe(400);
    return problem.errors.map(({ field }) => field).sort();
  };
  expect(await errorsOf('/agent-tasks', copy)).toEqual(['metadata.a[0]', 'secrets.TOKEN']);
  const tasks = [
    { title: 'T', taskType: 'test' },
    { title: 'C', taskType: 'test', inputContext: { key: HIDDEN } },
  ];
  expect(await errorsOf('/agent-tasks/batch', { tasks })).toEqual(['tasks[1].inputContext.key']);
});
