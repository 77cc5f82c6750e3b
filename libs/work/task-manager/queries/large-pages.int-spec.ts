import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

/** Answers stay within a server's memory, however large the values of tasks are. */

const TASKS = 40;
const MEGABYTE = 1_000_000;

interface Page {
  items: { id: string }[];
  nextCursor: string | null;
}

let server: TestServer;
let workspace: TestWorkspace;
let ids: string[];

beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
  const { rows } = await server.db.owner.query<{ id: string }>(
    `WITH capable AS (
       INSERT INTO capability_sets (workspace_id, key, capabilities) VALUES ($1, '', '{}'))
     INSERT INTO agent_tasks (workspace_id, id, title, task_type, ready_at, input_context)
     SELECT $1, uuidv7(), 'Large', 'test', now(), jsonb_build_object('text', repeat('x', $2))
     FROM generate_series(1, $3::int) RETURNING id`,
    [workspace.id, MEGABYTE, TASKS],
  );
  ids = rows.map(({ id }) => id);
}, 60_000);
afterAll(() => server.stop());

async function pagesOf(path: string, { api } = workspace): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const answer: { status: number; body: Page } = await api.get(`${path}${next}`);
    expect(answer.status).toBe(200);
    pages.push(answer.body);
    cursor = answer.body.nextCursor;
  }
  return pages;
}

const idsOf = (pages: Page[]) => pages.flatMap(({ items }) => items.map(({ id }) => id));

it('a list of large tasks comes in several complete pages', async () => {
  const pages = await pagesOf('/agent-tasks?limit=200');
  expect(pages.map(({ items }) => items.length)).toEqual([9, 9, 9, 9, 4]);
  expect(idsOf(pages)).toEqual(ids.toSorted().reverse());
});

it.each([
  [
    'the settings of its coding agent',
    'agent',
    `jsonb_build_object('kind', 'codex', 'settings', jsonb_build_object('x', repeat('x', $2)))`,
  ],
  ['its steps', 'steps', `array_fill(repeat('x', $2 / 100), ARRAY[100])`],
  ['its script', 'acceptance_script', `repeat('x', $2)`],
])('a page of tasks is cut by the size of %s, too', async (_, column, value) => {
  const other = await server.newWorkspace();
  await server.db.owner.query(
    `WITH capable AS (
       INSERT INTO capability_sets (workspace_id, key, capabilities) VALUES ($1, '', '{}'))
     INSERT INTO agent_tasks (workspace_id, id, title, task_type, ready_at, ${column})
     SELECT $1, uuidv7(), 'Large', 'test', now(), ${value} FROM generate_series(1, 10)`,
    [other.id, MEGABYTE],
  );
  const pages = await pagesOf('/agent-tasks?limit=200', other);
  expect(pages.map(({ items }) => items.length)).toEqual([9, 1]);
});

it('a list of large templates comes in several complete pages', async () => {
  const small = { name: 'Small', task: { taskType: 'test' } };
  const { body } = await workspace.api.post<{ createdBy: string }>('/task-templates', small);
  await server.db.owner.query(
    `INSERT INTO task_templates (workspace_id, id, name, task, created_by)
     SELECT $1, uuidv7(), 'Large ' || n, jsonb_build_object('text', repeat('x', $2)), $3
     FROM generate_series(1, 20) n`,
    [workspace.id, MEGABYTE, body.createdBy],
  );
  const pages = await pagesOf('/task-templates?limit=200');
  expect(pages.map(({ items }) => items.length)).toEqual([9, 9, 3]);
  expect(new Set(idsOf(pages)).size).toBe(21);
});

it('a log with large details comes in several complete pages', async () => {
  await server.db.owner.query(
    `INSERT INTO task_log_lines (workspace_id, task_id, event, actor_kind, details)
     SELECT $1, $2, 'output', 'agent', jsonb_build_object('text', repeat('x', $3))
     FROM generate_series(1, 20)`,
    [workspace.id, ids[0], MEGABYTE],
  );
  for (const order of ['asc', 'desc']) {
    const pages = await pagesOf(`/agent-tasks/${ids[0]}/logs?limit=200&order=${order}`);
    expect(pages).toHaveLength(3);
    expect(new Set(idsOf(pages)).size).toBe(20);
  }
});

it('a claim gives at most what one answer can carry, and the next claim gives the rest', async () => {
  const agents = await Promise.all(
    [1, 2].map(() => workspace.newAgent({ maxConcurrentTasks: 50 })),
  );
  const claim = async ({ id, api }: (typeof agents)[number]) => {
    const { body } = await api.post<{ tasks: unknown[] }>(`/agents/${id}/claim`, { maxTasks: 50 });
    return body.tasks.length;
  };
  const [first, second] = [
    await Promise.all(agents.map(claim)),
    await Promise.all(agents.map(claim)),
  ];
  expect(Math.max(...first, ...second)).toBeLessThanOrEqual(34);
  expect([...first, ...second].reduce((sum, count) => sum + count, 0)).toBe(TASKS);
  const [agent] = agents as [(typeof agents)[number]];
  const pages = await pagesOf(`/agents/${agent.id}/tasks?limit=200`);
  expect(idsOf(pages)).toHaveLength((first[0] ?? 0) + (second[0] ?? 0));
}, 60_000);
