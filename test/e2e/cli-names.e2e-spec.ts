import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { anAgent } from '../support/factories.js';
import { TestFleet } from '../support/fleet.js';
import { aTask } from '../support/task-factories.js';
import { type Ended, Terminal } from './terminal.js';

/** Short ids, names and numbers in the command line. */

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
});
afterAll(() => fleet.stop());

function drover(args: readonly string[]): Promise<Ended> {
  const { folder, access } = fleet;
  const own = { HOME: folder, DROVER_CONFIG: join(folder, 'config.json') };
  const env = { ...own, DROVER_HOME: join(folder, 'none'), ...access };
  return new Terminal(args, { env, cwd: folder, input: '' }).ended;
}

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await drover([...args, '--json']);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

it('the beginning of an id stands for a task, and a name for a project', async () => {
  const body = '{"title": "By name", "taskType": "nobody", "idempotent": 1}';
  const refused = await drover(['api', 'POST', '/agent-tasks', body]);
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('idempotent')]);
  await drover(['api', 'POST', '/projects', '{"name": "Short ids"}']);
  const options = ['--title', 'By name', '--type', 'nobody', '--project', 'Short ids'];
  const id = (await drover(['task', 'create', ...options])).stdout.trim();
  expect(await json('task', 'show', id.slice(0, 26))).toMatchObject({ id });
  expect(await json('attention')).toMatchObject({ failedTasks: 0, openQuestions: 0 });
  const list = ['task', 'list', '--project', 'Short ids', '--status', 'pending'];
  expect(await json(...list)).toMatchObject([{ id }]);
  const another = (await drover(['task', 'create', ...options])).stdout.trim();
  const ambiguous = await drover(['task', 'cancel', id.slice(0, 4)]);
  expect(ambiguous.code).toBe(2);
  expect(ambiguous.stderr).toMatch(/stands for more than one task:[^]*By name/);
  expect((await drover(['task', 'cancel', id.slice(0, 28), another])).code).toBe(0);
});

it('a name stands for a repository and a schedule, whose task keeps what an update does not name', async () => {
  await drover(['repo', 'add', 'https://example.com/shop.git', '--name', 'shop']);
  const { id: repositoryId } = await json<{ id: string }>('repo', 'show', 'shop');
  const task = ['--repo', 'shop', '--secret', 'KEY=swordfish'];
  await drover(['schedule', 'create', 'nightly', '--every', '1h', ...task, '--', 'true']);
  const update = ['--priority', '9', '--secret', 'MORE=x'];
  expect((await drover(['schedule', 'update', 'nightly', ...update, '--', 'false'])).code).toBe(0);
  expect(await json('schedule', 'show', 'nightly')).toMatchObject({
    tasks: [
      {
        repositoryId,
        priority: 9,
        inputContext: { command: ['false'] },
        secrets: { KEY: '[redacted]', MORE: '[redacted]' },
      },
    ],
  });
});

it('a name stands for a template, and options replace single variables and secrets of its task', async () => {
  const template = ['--type', 'nobody', '--env', 'A=1', 'B=2', '--secret', 'KEY=swordfish'];
  await drover(['template', 'create', 'deploy', ...template, '--', './deploy.sh']);
  const options = ['--template', 'deploy', '--env', 'B=3', '--secret', 'MORE=x', '--priority', '9'];
  const created = await json<object>('task', 'create', ...options);
  const secrets = { KEY: '[redacted]', MORE: '[redacted]' };
  const inputContext = { command: ['./deploy.sh'], env: { A: '1', B: '3' } };
  const task = { taskType: 'nobody', priority: 9, inputContext, secrets };
  expect(created).toMatchObject({ title: 'deploy', ...task });
  const update = ['--name', 'release', '--about', 'Puts it out', '--env', 'C=4'];
  expect((await drover(['template', 'update', 'deploy', ...update])).code).toBe(0);
  expect(await json('template', 'show', 'release')).toMatchObject({
    description: 'Puts it out',
    task: { inputContext: { env: { A: '1', B: '2', C: '4' } }, secrets: { KEY: '[redacted]' } },
  });
  expect((await drover(['template', 'delete', 'release'])).code).toBe(0);
  expect(await json('template', 'list')).toEqual([]);
});

it('an email address stands for a user and a member', async () => {
  await fleet.db.owner.query(
    `UPDATE users SET is_operator = true
     WHERE id IN (SELECT user_id FROM workspace_members WHERE workspace_id = $1)`,
    [fleet.workspaceId],
  );
  const created = await drover(['user', 'create', 'ann@example.test', '--name', 'Ann']);
  expect([created.code, created.stdout.trim().length > 11]).toEqual([0, true]);
  expect(await json('user', 'disable', 'ann@example.test')).toMatchObject({
    name: 'Ann',
    disabledAt: expect.any(String),
  });
  const unknown = await drover(['user', 'enable', 'nobody@example.test']);
  expect(unknown.stderr).toContain('drover user list');
  const member = await drover(['workspace', 'remove', 'ann@example.test']);
  expect(member.stderr).toContain('drover workspace members');
});

it('digits stand for a question, also when it is closed', async () => {
  const { db, workspaceId } = fleet;
  const agent = await anAgent(db.owner, workspaceId);
  const [id, run] = [newId(), newId()];
  const task = await aTask(db.owner, workspaceId, { status: 'PAUSED' });
  await db.owner.query(
    `WITH paused AS (UPDATE agent_tasks SET paused_by = 'run:' || $3, paused_for = 'question' WHERE id = $2)
     INSERT INTO questions (workspace_id, task_id, run_id, id, agent_id, prompt, free_text, deadline_at, on_deadline)
     VALUES ($1, $2, $3::uuid, $4, $5, 'Why?', true, now() + interval '1 day', 'fail')`,
    [workspaceId, task, run, id, agent],
  );
  const digits = id.slice(0, 30);
  expect((await drover(['question', 'answer', digits, 'Because'])).code).toBe(0);
  expect(await json('question', 'show', digits)).toMatchObject({ id, answer: 'Because' });
  expect((await drover(['question', 'show', 'why'])).stderr).toContain('drover question list');
});

it('options select many tasks, and a task shows its project, schedule, start and keys', async () => {
  await drover(['api', 'POST', '/projects', '{"name": "Many"}']);
  await drover(['schedule', 'create', 'later', '--every', '1h', '--project', 'Many', '--', 'true']);
  const times = ['--delay', '1h', '--expires-at', '2099-01-01T00:00:00Z'];
  const keys = ['--concurrency-key', 'k', '--debounce-key', 'd'];
  const fields = ['--title', 'One', '--type', 'nobody', '--project', 'Many', ...times, ...keys];
  const one = (await drover(['task', 'create', ...fields])).stdout.trim();
  const other = (await drover(['task', 'create', ...fields.slice(0, 6)])).stdout.trim();
  expect((await drover(['task', 'show', one])).stdout).toMatch(
    /project\tMany\nstart at\t\S+\nexpires at\t2099\S+\nconcurrency key\tk, limit 1\ndebounce key\td\n/,
  );
  expect((await drover(['task', 'edit', one, other, '--priority', '9'])).code).toBe(0);
  const scheduled = (await drover(['schedule', 'run', 'later'])).stdout.trim();
  expect((await drover(['task', 'show', scheduled])).stdout).toContain('schedule\tlater\n');
  expect((await drover(['task', 'cancel'])).code).toBe(2);
  const select = [
    '--project',
    'Many',
    '--type',
    'nobody',
    '--created-after',
    '2026-01-01T00:00:00Z',
  ];
  const cancelled = await drover(['task', 'cancel', ...select]);
  expect(cancelled.stdout).toBe('Tasks cancelled: 2 of 2\n');
  const found = await json('task', 'list', ...select, '--status', 'cancelled', '--sort', 'oldest');
  expect(found).toMatchObject([
    { id: one, priority: 9 },
    { id: other, priority: 9 },
  ]);
  expect(await json('task', 'list', '--id', other.slice(0, 28))).toMatchObject([{ id: other }]);
  const due = await drover(['schedule', 'preview', '--cron', '0 0 1 1 *', '--count', '2']);
  expect(due.stdout).toMatch(/^\d{4}-01-01T00:00:00\S*Z\n\d{4}-01-01T00:00:00\S*Z\n$/);
});

it('a name stands for the live agent of this name before a terminated one', async () => {
  const [first, later] = [randomUUID(), randomUUID()];
  const register = (id: string) => drover(['agent', 'register', id, '--name', 'again']);
  expect((await register(first)).code).toBe(0);
  expect((await drover(['agent', 'terminate', 'again'])).code).toBe(0);
  expect(await json('agent', 'show', 'again')).toMatchObject({ id: first });
  expect((await register(later)).code).toBe(0);
  expect(await json('agent', 'show', 'again')).toMatchObject({ id: later });
});

it('an argument that names a thing of another kind gets a hint', async () => {
  const { id } = await json<{ id: string }>('api', 'POST', '/projects', '{"name": "Looks alike"}');
  const byId = await drover(['task', 'show', id]);
  expect([byId.code, byId.stderr]).toEqual([
    5,
    expect.stringContaining(`drover project show ${id}`),
  ]);
  const byName = await drover(['schedule', 'show', 'Looks alike']);
  expect(byName.stderr).toContain(`drover project show ${id}`);
  expect(await json('project', 'show', 'Looks alike')).toMatchObject({ id });
});

it('a budget names its project, and a password prompt without input fails at once', async () => {
  const create = ['budget', 'create', '1000', '--project', 'Looks alike', '--every', 'month'];
  const budget = (await drover(create)).stdout.trim();
  expect(await json('budget', 'show', budget)).toMatchObject({ scopeName: 'Looks alike' });
  const closed = await drover(['login', `http://127.0.0.1:${fleet.port}`, '--email', 'a@b.test']);
  expect([closed.code, closed.stderr]).toEqual([2, expect.stringContaining('No answer')]);
});

it('a budget is created, raised and shown with its forecast', async () => {
  const to = new Date(Date.now() + 86_400_000).toISOString();
  // A budget of the workspace would stop the tasks of later tests.
  const project = (await drover(['project', 'create', 'Frugal'])).stdout.trim();
  const of = ['--project', 'Frugal'];
  const made = await drover(['budget', 'create', '1k', ...of, '--to', to]);
  const id = made.stdout.trim();
  const wrong = await drover(['budget', 'create', 'many', ...of, '--to', to]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('1,000,000, 500k')]);
  await drover(['budget', 'edit', id, '--tokens', '2,000']);
  expect(await json('budget', 'show', id)).toMatchObject({
    scopeId: project,
    allocated: '2000',
    projection: { recommendation: 'CONTINUE' },
  });
  await drover(['budget', 'edit', id, '--every', 'week', '--time-zone', 'Asia/Tokyo']);
  expect(await json('budget', 'show', id)).toMatchObject({
    recurrence: { every: 'week', timeZone: 'Asia/Tokyo', allocated: '2000' },
  });
  await drover(['budget', 'edit', id, '--once']);
  expect(await json('budget', 'show', id)).toMatchObject({ recurrence: null });
});
