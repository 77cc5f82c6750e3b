import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { eventsOf } from '../../../../test/support/events.js';

interface Dependencies {
  taskId: string;
  unmetDependencies: number;
  dependsOn: { taskId: string; policy: string; settled: boolean; status: string }[];
  blocks: { taskId: string }[];
  nextCursor: string | null;
  version: number;
}
interface Problem {
  code: string;
  path?: string[];
  current?: string;
  errors?: { field: string }[];
}

let server: TestApp;
let workspace: TestWorkspace;
let stranger: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp();
  workspace = await server.newWorkspace();
  stranger = await server.newWorkspace();
});

afterAll(() => server.stop());

async function create(values: Record<string, unknown> = {}, owner = workspace): Promise<string> {
  const { status, body } = await owner.api.post<{ id: string }>('/agent-tasks', {
    title: 'A task',
    taskType: 'test',
    requiredCapabilities: ['nobody-has-it'],
    ...values,
  });
  expect(status).toBe(201);
  return body.id;
}

const path = (id: string) => `/agent-tasks/${id}/dependencies`;
const add = (id: string, ...dependsOn: unknown[]) =>
  workspace.api.post<Dependencies & Problem>(path(id), { dependsOn });

async function row(id: string) {
  const { rows } = await server.db.owner.query(
    `SELECT status, version, unmet_dependencies, ready_at, has_dependents, dependents_unsettled
     FROM agent_tasks WHERE id = $1`,
    [id],
  );
  return rows[0] as Record<string, unknown>;
}

async function cancel(id: string): Promise<void> {
  const { status } = await workspace.api.post(`/agent-tasks/${id}/cancel`);
  expect(status).toBe(200);
}

/** Claims the task that needs the capability. The returned function completes it. */
async function claim(capability: string): Promise<() => Promise<void>> {
  const agent = await workspace.newAgent({ capabilities: [capability] });
  const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
  );
  return async () => {
    const { status } = await agent.api.post(`/runs/${body.tasks[0]?.run.id}/complete`);
    expect(status).toBe(200);
  };
}

describe('adding a dependency', () => {
  it('a new dependency makes a ready task wait, with one log row and one event', async () => {
    const [a, b] = [await create(), await create()];
    const { status, headers, body } = await add(b, a);
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"2"');
    expect(body).toMatchObject({
      taskId: b,
      unmetDependencies: 1,
      dependsOn: [{ taskId: a, policy: 'block', settled: false, status: 'PENDING' }],
      version: 2,
    });
    expect(await row(b)).toMatchObject({ version: 2, unmet_dependencies: 1, ready_at: null });
    expect(await row(a)).toMatchObject({ version: 1, has_dependents: true });

    const again = await add(b, { taskId: a });
    expect(again.body.version).toBe(2);
    const policy = await add(b, { taskId: a, policy: 'fail' });
    expect(policy.body).toMatchObject({ version: 3, dependsOn: [{ policy: 'fail' }] });

    const { rows: logs } = await server.db.owner.query(
      `SELECT task_version, event, previous_status, new_status, actor_kind, details
        FROM agent_task_logs
       WHERE task_id = $1 ORDER BY task_version`,
      [b],
    );
    expect(logs).toMatchObject([
      { task_version: 1, event: 'task_created' },
      {
        task_version: 2,
        event: 'dependencies_changed',
        previous_status: 'PENDING',
        new_status: 'PENDING',
        actor_kind: 'user',
        details: { written: [{ taskId: a, policy: 'block' }], removed: [] },
      },
      { task_version: 3, event: 'dependencies_changed' },
    ]);
    const events = await eventsOf(server.db.owner, workspace.id, 'task.updated');
    expect(events.filter(({ taskId }) => taskId === b)).toMatchObject([
      { version: 2, taskId: b, changed: ['dependsOn'], status: 'PENDING' },
      { version: 3 },
    ]);
  });

  it('a dependency on a completed task holds nothing back', async () => {
    const a = await create({ requiredCapabilities: ['completes'] });
    const complete = await claim('completes');
    await complete();
    const b = await create();
    const { body } = await add(b, a);
    expect(body).toMatchObject({ unmetDependencies: 0, dependsOn: [{ settled: true }] });
    expect((await row(b))['ready_at']).not.toBeNull();
  });

  it('a dependency on an unsuccessful task is put before the coordinator again', async () => {
    const a = await create();
    await cancel(a);
    expect(await row(a)).toMatchObject({ dependents_unsettled: false });
    const { body } = await add(await create(), { taskId: a, policy: 'fail' });
    expect(body).toMatchObject({ unmetDependencies: 1, dependsOn: [{ settled: false }] });
    expect(await row(a)).toMatchObject({ dependents_unsettled: true });
    const ignored = await add(await create(), { taskId: a, policy: 'ignore' });
    expect(ignored.body).toMatchObject({ unmetDependencies: 0, dependsOn: [{ settled: true }] });
  });

  it('an ignored dependency holds the task back again when its policy changes', async () => {
    const [a, b] = [await create(), await create()];
    await cancel(a);
    await add(b, { taskId: a, policy: 'ignore' });
    expect(await row(b)).toMatchObject({ unmet_dependencies: 0 });
    const { body } = await add(b, { taskId: a, policy: 'block' });
    expect(body).toMatchObject({ unmetDependencies: 1, dependsOn: [{ settled: false }] });
    expect((await row(b))['ready_at']).toBeNull();
    const again = await add(b, { taskId: a, policy: 'ignore' });
    expect(again.body).toMatchObject({ unmetDependencies: 0, dependsOn: [{ settled: true }] });
  });
});

describe('replacing and removing dependencies', () => {
  it('a task without remaining dependencies becomes ready', async () => {
    const [a, b, c] = [await create(), await create(), await create()];
    await add(c, a, b);
    const replaced = await workspace.api.put<Dependencies>(path(c), { dependsOn: [b] });
    expect(replaced.body.dependsOn.map(({ taskId }) => taskId)).toEqual([b]);
    const removed = await workspace.api.delete<Dependencies>(`${path(c)}/${b}`);
    expect(removed.status).toBe(200);
    expect(removed.body).toMatchObject({ dependsOn: [], unmetDependencies: 0, version: 4 });
    expect((await row(c))['ready_at']).not.toBeNull();
    const gone = await workspace.api.delete<Problem>(`${path(c)}/${b}`);
    expect([gone.status, gone.body.code]).toEqual([404, 'dependency_not_found']);
  });

  it('claims are woken when a task becomes ready, and only then', async () => {
    const heard: [string, number][] = [];
    const wakeUps = server.app.get(WakeUps, { strict: false });
    const [a, b, c] = [await create(), await create(), await create()];
    const unsubscribe = wakeUps.onClaims((...call) => heard.push(call));
    await add(c, a, b);
    await workspace.api.delete(`${path(c)}/${a}`);
    expect(heard).toEqual([]);
    await workspace.api.delete(`${path(c)}/${b}`);
    unsubscribe();
    expect(heard).toEqual([[workspace.id, 1]]);
  });

  it('the dependents of a task come in pages', async () => {
    const a = await create();
    const waiting = [await create(), await create(), await create()];
    for (const id of waiting) await add(id, a);
    const first = await workspace.api.get<Dependencies>(`${path(a)}?limit=2`);
    const next = await workspace.api.get<Dependencies>(
      `${path(a)}?limit=2&cursor=${first.body.nextCursor}`,
    );
    const blocks = [...first.body.blocks, ...next.body.blocks].map(({ taskId }) => taskId);
    expect(blocks).toEqual(waiting);
    expect(next.body.nextCursor).toBeNull();
  });
});

describe('a refused change of dependencies', () => {
  it('a cycle is refused with its path and changes nothing', async () => {
    const [a, b, c] = [await create(), await create(), await create()];
    await add(b, a);
    await add(c, b);
    const { status, body } = await add(a, c);
    expect([status, body.code]).toEqual([409, 'dependency_cycle']);
    expect(body.path).toEqual([a, c, b, a]);
    expect(await row(a)).toMatchObject({ version: 1, unmet_dependencies: 0 });
    const self = await workspace.api.put<Problem>(path(a), { dependsOn: [a] });
    expect([self.status, self.body.path]).toEqual([409, [a, a]]);
  });

  it('one of two changes that would close a cycle together is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b, c, d] = [await create(), await create(), await create(), await create()];
      await add(b, a);
      await add(d, c);
      const answers = await Promise.all([add(a, d), add(c, b)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  it('a task that is not PENDING is refused', async () => {
    const [a, b] = [await create(), await create()];
    await workspace.api.post(`/agent-tasks/${b}/pause`);
    const { status, body } = await add(b, a);
    expect([status, body.code, body.current]).toEqual([409, 'dependency_locked', 'PAUSED']);
    expect(await row(a)).toMatchObject({ has_dependents: false });
  });

  it('tasks of another tenant and unknown tasks are refused by field', async () => {
    const foreign = await create({}, stranger);
    const [a, b] = [await create(), await create()];
    const { status, body } = await add(b, a, foreign, newId());
    expect([status, body.code]).toEqual([404, 'task_not_found']);
    expect(body.errors?.map(({ field }) => field)).toEqual(['dependsOn[1]', 'dependsOn[2]']);
    expect(await row(a)).toMatchObject({ has_dependents: false });
    expect(await row(foreign)).toMatchObject({ has_dependents: false, version: 1 });

    for (const answer of [
      await stranger.api.post<Problem>(path(b), { dependsOn: [foreign] }),
      await stranger.api.put<Problem>(path(b), { dependsOn: [] }),
      await stranger.api.delete<Problem>(`${path(b)}/${a}`),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'task_not_found']);
    }
    expect(await row(b)).toMatchObject({ version: 1 });
  });

  it('a change of another version is refused', async () => {
    const [a, b] = [await create(), await create()];
    const stale = await workspace.api.post<Problem>(
      path(b),
      { dependsOn: [a] },
      { 'if-match': '"7"' },
    );
    expect([stale.status, stale.body.code]).toEqual([412, 'version_mismatch']);
    const fresh = await workspace.api.post(path(b), { dependsOn: [a] }, { 'if-match': '"1"' });
    expect(fresh.status).toBe(200);
  });

  it('a viewer is refused', async () => {
    const viewers = await server.newWorkspace('VIEWER');
    const { status } = await viewers.api.post(path(newId()), { dependsOn: [newId()] });
    expect(status).toBe(403);
  });

  it.each([
    [{}, 'dependsOn'],
    [{ dependsOn: [] }, 'dependsOn'],
    [{ dependsOn: 'x' }, 'dependsOn'],
    [{ dependsOn: ['x'] }, 'dependsOn[0]'],
    [{ dependsOn: [{ taskId: newId(), policy: 'x' }] }, 'dependsOn[0].policy'],
    [{ dependsOn: Array.from({ length: 1001 }, () => newId()) }, 'dependsOn'],
    [{ dependsOn: [newId()], more: 1 }, 'more'],
  ])('%j is refused', async (body, field) => {
    const id = await create();
    const answer = await workspace.api.post<Problem>(path(id), body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors?.map((error) => error.field)).toEqual([field]);
  });
});

it('a prerequisite that completes at the same moment never leaves a dependent waiting', async () => {
  for (let round = 0; round < 5; round++) {
    const capability = `race-${newId()}`;
    const prerequisite = await create({ requiredCapabilities: [capability] });
    const dependents = await Promise.all(Array.from({ length: 8 }, () => create()));
    const complete = await claim(capability);
    const adding = dependents.map((id) => add(id, prerequisite));
    // Once the first edge exists, some of the others come before the completion, and some after it.
    await Promise.race(adding);
    await Promise.all([complete(), ...adding]);
    const { dependents_unsettled: willBeSettled } = await row(prerequisite);
    const unmet = await Promise.all(
      dependents.map(async (id) => (await row(id))['unmet_dependencies']),
    );
    // Either the completion saw the dependent, which will be settled, or the edge was settled at
    // once.
    expect(willBeSettled || unmet.every((count) => count === 0)).toBe(true);
  }
});

describe('GET /agent-tasks/:id/dependencies/graph', () => {
  interface Graph {
    tasks: { taskId: string; title: string; status: string }[];
    edges: { taskId: string; dependsOnId: string; policy: string; settled: boolean }[];
    truncated: boolean;
  }
  const graph = async (id: string, query = '', owner = workspace) =>
    (await owner.api.get<Graph & Problem>(`${path(id)}/graph${query}`)).body;
  const idsOf = ({ tasks }: Graph) => tasks.map(({ taskId }) => taskId).sort();

  it('the graph shows tasks in both directions with their edges', async () => {
    const first = await create();
    const left = await create({ dependsOn: [first] });
    const right = await create({ dependsOn: [{ taskId: first, policy: 'ignore' }] });
    const last = await create({ dependsOn: [left, right] });
    const apart = await create({ dependsOn: [first] });
    await cancel(first);

    const ofLeft = await graph(left);
    expect(idsOf(ofLeft)).toEqual([first, left, last].sort());
    expect(ofLeft.truncated).toBe(false);
    const ended = { retryAt: null, abortReason: 'cancelled', pausedFor: null };
    const cancelled = { taskId: first, title: 'A task', status: 'ABORTED', ...ended };
    expect(ofLeft.tasks).toContainEqual(cancelled);
    const ofLast = await graph(last);
    expect(idsOf(ofLast)).toEqual([first, left, right, last].sort());
    expect(ofLast.edges).toHaveLength(4);
    const edge = {
      taskId: right,
      dependsOnId: first,
      policy: 'ignore',
      settled: expect.any(Boolean),
    };
    expect(ofLast.edges).toContainEqual(edge);
    expect(idsOf(await graph(first))).toEqual([first, left, right, last, apart].sort());
  });

  it('the graph shows the nearest tasks and says that there are more', async () => {
    const chain = [await create()];
    for (let i = 0; i < 4; i++) chain.push(await create({ dependsOn: [chain[i]] }));
    const middle = await graph(chain[2] as string, '?limit=2');
    expect(middle).toMatchObject({ truncated: true });
    expect(idsOf(middle)).toEqual(chain.slice(1, 4).sort());
    expect(await graph(chain[2] as string, '?limit=3')).toMatchObject({ truncated: false });
  });

  it('the graph ends on a cycle', async () => {
    const one = await create();
    const other = await create({ dependsOn: [one] });
    await server.db.owner.query(
      `INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id) VALUES ($1, $2, $3)`,
      [workspace.id, one, other],
    );
    expect((await graph(one)).edges).toHaveLength(2);
    await server.db.owner.query('DELETE FROM task_dependencies WHERE task_id = $1', [one]);
  });

  it('the graph is invisible to other tenants', async () => {
    expect(await graph(await create(), '', stranger)).toMatchObject({ code: 'task_not_found' });
  });
});
