import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aProject } from '../../../../test/support/factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { TASK_SORTS } from '../domain/task-filter.js';

interface Task {
  id: string;
  title: string;
  status: string;
  version: number;
  inputContext: unknown;
  [field: string]: unknown;
}
interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
interface Problem {
  code: string;
  errors?: { field: string; message: string }[];
}

let server: TestServer;
let workspace: TestWorkspace;
let stranger: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
  workspace = await server.newWorkspace();
  stranger = await server.newWorkspace();
});

afterAll(() => server.stop());

async function create(values: Record<string, unknown> = {}, owner = workspace): Promise<Task> {
  const { status, body } = await owner.api.post<Task>('/agent-tasks', {
    title: 'A task',
    taskType: 'test',
    ...values,
  });
  expect(status).toBe(201);
  return body;
}

/** A task under a live run of its own agent. */
async function running(values: Record<string, unknown> = {}) {
  const capability = `only-${newId()}`;
  // With the highest priority, because the agent could also take tasks that need nothing.
  const task = await create({ ...values, priority: 10, requiredCapabilities: [capability] });
  const agent = await workspace.newAgent({ capabilities: [capability] });
  const claimed = await agent.api.post<{ tasks: { run: { id: string }; task: Task }[] }>(
    `/agents/${agent.id}/claim`,
  );
  expect(claimed.body.tasks[0]?.task.id).toBe(task.id);
  const runId = claimed.body.tasks[0]?.run.id as string;
  await agent.api.post(`/runs/${runId}/start`, { sessionKey: 's' });
  return { task, agent, runId };
}

async function idsOf(query: string, owner = workspace): Promise<string[]> {
  const { status, body } = await owner.api.get<Page<Task>>(`/agent-tasks?${query}`);
  expect(status).toBe(200);
  return body.items.map(({ id }) => id);
}

describe('GET /agent-tasks/:id', () => {
  it('GET answers like POST, with the version as ETag', async () => {
    const prerequisite = await create();
    const created = await create({
      dependsOn: [{ taskId: prerequisite.id, policy: 'fail' }],
      tags: ['b', 'a'],
      metadata: { team: 'x' },
      description: 'why',
      queueExpiresInSeconds: 60,
    });
    const { status, headers, body } = await workspace.api.get<Task>(`/agent-tasks/${created.id}`);
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"1"');
    expect(body).toEqual({ ...created, queueExpiresAt: expect.any(String) });
    expect(body).toMatchObject({
      dependsOn: [prerequisite.id],
      dependencies: [{ taskId: prerequisite.id, policy: 'fail', settled: false }],
      tags: ['a', 'b'],
      unmetDependencies: 1,
      readyAt: null,
    });
    const before = await workspace.api.get<Task>(`/agent-tasks/${prerequisite.id}`);
    expect(before.body).toMatchObject({ blocks: [created.id], dependsOn: [], dependencies: [] });
  });

  it('secrets are hidden from people and visible to the agent that holds the task', async () => {
    const inputContext = { apiKey: 'abc', nested: [{ PASSWORD: 'def' }], open: 1 };
    const { task, agent } = await running({ inputContext });
    const seen = await workspace.api.get<Task>(`/agent-tasks/${task.id}`);
    expect(seen.body.inputContext).toEqual({
      apiKey: '[redacted]',
      nested: [{ PASSWORD: '[redacted]' }],
      open: 1,
    });
    const held = await agent.api.get<Task>(`/agent-tasks/${task.id}`);
    expect(held.body).toMatchObject({ inputContext });
  });

  it('a task is invisible to other tenants, and to agents that do not hold it', async () => {
    const { task } = await running();
    const other = await workspace.newAgent();
    for (const path of ['', '/runs', '/logs', '/explain', '/dependencies']) {
      for (const api of [stranger.api, other.api]) {
        const { status, body } = await api.get<Problem>(`/agent-tasks/${task.id}${path}`);
        expect([path, status, body.code]).toEqual([path, 404, 'task_not_found']);
      }
    }
  });

  it('an invalid id is refused', async () => {
    const { status, body } = await workspace.api.get<Problem>('/agent-tasks/me');
    expect(status).toBe(400);
    expect(body.errors?.[0]?.field).toBe('id');
  });
});

describe('GET /agent-tasks', () => {
  it('the list shows every task once, newest first, page by page', async () => {
    const { api } = await server.newWorkspace();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { body } = await api.post<Task>('/agent-tasks', { title: `${i}`, taskType: 'test' });
      ids.push(body.id);
    }
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 3; pages++) {
      const { body } = await api.get<Page<Task>>(`/agent-tasks?limit=2${cursor}`);
      seen.push(...body.items.map(({ id }) => id));
      expect(body.nextCursor === null).toBe(pages === 2);
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(ids.reverse());
  });

  it.each([
    ['newest', 'edcba'],
    ['oldest', 'abcde'],
    ['priority', 'dbeca'],
    ['updated', 'cedba'],
  ])('the list shows every task once in the order %s, page by page', async (sort, order) => {
    const { api } = await server.newWorkspace();
    const ids = new Map<string, string>();
    for (const [title, priority] of [
      ['a', 1],
      ['b', 9],
      ['c', 2],
      ['d', 9],
      ['e', 2],
    ] as const) {
      const { body } = await api.post<Task>('/agent-tasks', { title, taskType: 'test', priority });
      ids.set(title, body.id);
    }
    await api.post(`/agent-tasks/${ids.get('c')}/pause`, {});
    let seen = '';
    let cursor = '';
    for (let pages = 0; pages < 3; pages++) {
      const { body } = await api.get<Page<Task>>(`/agent-tasks?limit=2&sort=${sort}${cursor}`);
      seen += body.items.map(({ title }) => title).join('');
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect([seen, cursor]).toEqual([order, '&cursor=null']);
    const { body: page } = await api.get<Page<Task>>(`/agent-tasks?limit=1&sort=${sort}`);
    for (const otherSort of TASK_SORTS.filter((name) => name !== sort)) {
      const other = `/agent-tasks?sort=${otherSort}&cursor=${page.nextCursor}`;
      expect((await api.get<Problem>(other)).body.code).toBe('malformed_cursor');
    }
  });

  describe('filters', () => {
    let owner: TestWorkspace;
    let project: string;
    let a: Task;
    let b: Task;
    let agentId: string;

    beforeAll(async () => {
      owner = await server.newWorkspace();
      project = await aProject(server.db.owner, owner.id);
      a = await create(
        { title: 'Count 100% of_it', priority: 8, tags: ['x', 'y'], taskType: 'one' },
        owner,
      );
      b = await create(
        {
          description: 'ÄPFEL count',
          priority: 3,
          tags: ['x'],
          projectId: project,
          agent: { kind: 'codex' },
        },
        owner,
      );
      const agent = await owner.newAgent();
      agentId = agent.id;
      await agent.api.post(`/agents/${agentId}/claim`, { maxTasks: 1 });
      await create({}, await server.newWorkspace());
    });

    it.each([
      ['status=ASSIGNED', 'a'],
      ['status=PENDING', 'b'],
      ['status=PENDING,ASSIGNED', 'ba'],
      ['status=PENDING&status=ASSIGNED', 'ba'],
      ['status=RUNNING', ''],
      ['priority=8', 'a'],
      ['priority>=4', 'a'],
      ['priority%3E=4', 'a'],
      ['priority<=4', 'b'],
      ['priorityGte=3&priorityLte=8', 'ba'],
      ['tags=x', 'ba'],
      ['tags=x,y', 'a'],
      ['tags=x&tags=y', 'a'],
      ['tags=x,z', ''],
      ['taskType=one', 'a'],
      ['agentKind=codex', 'b'],
      ['text=count', 'ba'],
      ['text=COUNT+100%25', 'a'],
      ['text=%25', 'a'],
      ['text=_', 'a'],
      ['text=%C3%A4pfel', 'b'],
      ['createdAfter=2020-01-01T00:00:00Z', 'ba'],
      ['createdBefore=2020-01-01T00:00:00Z', ''],
      ['updatedAfter=2999-01-01T00:00:00Z', ''],
      ['createdBefore=0001-01-01T00:00:00Z', ''],
      ['updatedBefore=9999-12-31T23:59:59-12:00', 'ba'],
      ['status=ASSIGNED&priority>=8&tags=y&text=count&taskType=one', 'a'],
    ])('the filter %s applies', async (query, expected) => {
      const names = new Map([
        [a.id, 'a'],
        [b.id, 'b'],
      ]);
      const ids = await idsOf(query, owner);
      expect(ids.map((id) => names.get(id)).join('')).toBe(expected);
    });

    it('a text of four digits finds titles and the beginnings of ids', async () => {
      const workspace = await server.newWorkspace();
      const named = await create({ title: 'Invoice beef' }, workspace);
      const other = await create({}, workspace);
      const digits = named.id.slice(0, 4).toUpperCase();
      expect(await idsOf(`text=${digits}`, workspace)).toEqual([other.id, named.id]);
      expect(await idsOf('text=beef', workspace)).toEqual([named.id]);
      expect(await idsOf(`text=${digits.slice(0, 3)}`, workspace)).toEqual([]);
    });

    it('tasks that wait for a retry and cancelled ones are found apart', async () => {
      const workspace = await server.newWorkspace();
      const agent = await workspace.newAgent({ maxConcurrentTasks: 2 });
      const retried = await create({ maxRetries: 1, retryBackoffSeconds: 3600 }, workspace);
      await agent.api.post<object>(`/agents/${agent.id}/claim`, {});
      const { runId } = (await workspace.api.get<{ runId: string }>(`/agent-tasks/${retried.id}`))
        .body;
      await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'on purpose' } });
      const [cancelled, waiting] = [await create({}, workspace), await create({}, workspace)];
      await workspace.api.post(`/agent-tasks/${cancelled.id}/cancel`);
      expect(await idsOf('status=RETRYING', workspace)).toEqual([retried.id]);
      expect(await idsOf('status=CANCELLED', workspace)).toEqual([cancelled.id]);
      expect(await idsOf('status=ABORTED', workspace)).toEqual([cancelled.id, retried.id]);
      const both = 'status=CANCELLED,PENDING,RUNNING';
      expect(await idsOf(both, workspace)).toEqual([waiting.id, cancelled.id]);
      expect(await idsOf(`${both}&taskType=none`, workspace)).toEqual([]);
    });

    it('the filters agent, project and milestone apply', async () => {
      expect(await idsOf(`agentId=${agentId}`, owner)).toEqual([a.id]);
      expect(await idsOf(`projectId=${project.toUpperCase()}`, owner)).toEqual([b.id]);
      const milestone = newId();
      await server.db.owner.query(
        'INSERT INTO milestones (workspace_id, id, project_id, name) VALUES ($1, $2, $3, $4)',
        [owner.id, milestone, project, 'A milestone'],
      );
      expect(await idsOf(`milestoneId=${milestone}`, owner)).toEqual([]);
    });

    it("another tenant's agent, project or milestone is not found", async () => {
      for (const [query, code] of [
        [`agentId=${agentId}`, 'agent_not_found'],
        [`projectId=${project}`, 'project_not_found'],
        [`milestoneId=${newId()}`, 'milestone_not_found'],
      ]) {
        const { status, body } = await stranger.api.get<Problem>(`/agent-tasks?${query}`);
        expect([status, body.code]).toEqual([404, code]);
      }
    });
  });

  it.each([
    ['colour=red', 'colour'],
    ['status=DONE', 'status'],
    ['priority>8', 'priority>8'],
    ['priority=high', 'priority'],
    ['limit=201', 'limit'],
    ['createdAfter=now', 'createdAfter'],
    ['cursor=x', 'cursor'],
  ])('the list refuses %s', async (query, field) => {
    const { status, body } = await workspace.api.get<Problem>(`/agent-tasks?${query}`);
    expect(status).toBe(400);
    expect(body.errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe('GET /agent-tasks/:id/runs', () => {
  it('runs come in pages, latest first', async () => {
    const { task, agent, runId } = await running({ retryBackoffSeconds: 0 });
    await agent.api.post(`/runs/${runId}/release`, { reason: 'paused' });
    const second = await workspace.api.get<Page<Task>>(`/agent-tasks/${task.id}/runs`);
    expect(second.body.items).toMatchObject([
      { id: runId, agentId: agent.id, taskId: task.id, generation: 1, sessionKey: 's' },
    ]);
    expect(second.body.items[0]?.endedAt).not.toBeNull();
    const bad = await workspace.api.get<Problem>(`/agent-tasks/${task.id}/runs?cursor=WzEuNV0`);
    expect([bad.status, bad.body.code]).toEqual([400, 'malformed_cursor']);
  });
});

describe('GET /agent-tasks/:id/logs', () => {
  it('a log is filtered by level and event, in either order, in pages', async () => {
    const { task, agent, runId } = await running();
    const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'];
    await agent.api.post(`/runs/${runId}/logs`, {
      entries: levels.map((level) => ({
        level,
        message: level,
        event: 'spoken',
        details: { token: 'x' },
      })),
    });
    const logs = async (query: string) => {
      const path = `/agent-tasks/${task.id}/logs?${query}`;
      const { status, body } = await workspace.api.get<Page<Task>>(path);
      expect(status).toBe(200);
      return body;
    };
    const spoken = async (query: string) =>
      (await logs(`event=spoken&${query}`)).items.map(({ message }) => message);
    expect(await spoken('order=asc')).toEqual(levels);
    expect(await spoken('')).toEqual([...levels].reverse());
    expect(await spoken('level=ERROR')).toEqual(['CRITICAL', 'ERROR']);

    const all = await logs('order=asc&limit=200');
    expect(all.items.slice(0, 3)).toMatchObject([
      { event: 'task_created', taskVersion: 1, newStatus: 'PENDING', actor: { kind: 'user' } },
      { event: 'state_transition', previousStatus: 'PENDING', newStatus: 'ASSIGNED' },
      { event: 'state_transition', newStatus: 'RUNNING', runId },
    ]);
    expect(all.items[3]).toMatchObject({
      details: { token: '[redacted]' },
      actor: { kind: 'agent' },
    });

    const first = await logs('order=asc&limit=2');
    const rest = await logs(`order=asc&cursor=${first.nextCursor}`);
    expect([...first.items, ...rest.items]).toEqual(all.items);
  });

  it('a log can be followed past its end', async () => {
    const { task, agent, runId } = await running();
    const messages: unknown[] = [];
    let cursor = '';
    const follow = async (limit = 2): Promise<number> => {
      const path = `/agent-tasks/${task.id}/logs?event=spoken&follow=true&limit=${limit}${cursor}`;
      const { body } = await workspace.api.get<Page<Task>>(path);
      messages.push(...body.items.map(({ message }) => message));
      expect(body.nextCursor).not.toBeNull();
      cursor = `&cursor=${body.nextCursor}`;
      return body.items.length;
    };
    const say = (text: string) =>
      agent.api.post(`/runs/${runId}/logs`, { entries: [{ event: 'spoken', message: text }] });
    for (const text of ['one', 'two', 'three']) await say(text);
    // A slower transaction could still put an entry before these.
    expect(await follow()).toBe(0);
    await waitFor('the entries to settle', async () => (await follow(200)) > 0);
    await waitFor('all three', async () => {
      await follow();
      return messages.length === 3;
    });
    const end = cursor;
    expect(await follow()).toBe(0);
    expect(cursor).toBe(end);
    await say('four');
    await waitFor('the fourth', async () => (await follow()) === 1);
    expect(messages).toEqual(['one', 'two', 'three', 'four']);
  }, 30_000);
});
