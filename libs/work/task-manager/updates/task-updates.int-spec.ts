import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { eventsOf } from '../../../../test/support/events.js';
import { aProject } from '../../../../test/support/factories.js';

interface Task {
  id: string;
  status: string;
  version: number;
  [field: string]: unknown;
}
interface Problem {
  code: string;
  errors?: { field: string }[];
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

async function create(values: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await workspace.api.post<Task>('/agent-tasks', {
    title: 'A task',
    taskType: 'test',
    requiredCapabilities: ['nobody-has-it'],
    ...values,
  });
  expect(status).toBe(201);
  return body.id;
}

const patch = (id: string, body: unknown, headers?: Record<string, string>) =>
  workspace.api.patch<Task & Problem>(`/agent-tasks/${id}`, body, headers);

async function read(id: string): Promise<Task> {
  return (await workspace.api.get<Task>(`/agent-tasks/${id}`)).body;
}

async function logsOf(id: string) {
  const { rows } = await server.db.owner.query(
    `SELECT task_version, event, previous_status, new_status, details FROM agent_task_logs
     WHERE task_id = $1 AND task_version IS NOT NULL ORDER BY task_version`,
    [id],
  );
  return rows as Record<string, unknown>[];
}

async function aMilestone(projectId: string): Promise<string> {
  const id = newId();
  await server.db.owner.query(
    'INSERT INTO milestones (workspace_id, id, project_id, name) VALUES ($1, $2, $3, $4)',
    [workspace.id, id, projectId, 'A milestone'],
  );
  return id;
}

describe('fields', () => {
  it('several fields change together in one version, one log row and one event', async () => {
    const id = await create({ tags: ['a', 'b'] });
    const project = await aProject(server.db.owner, workspace.id);
    const milestone = await aMilestone(project);
    const fields = {
      title: 'Other',
      description: 'New',
      priority: 9,
      tags: ['c', 'b'],
      metadata: { apiKey: 'swordfish', team: 'x' },
      estimatedDurationMinutes: 5,
      maxRetries: 7,
      retryBackoffSeconds: 1,
      timeoutSeconds: 60,
      projectId: project,
      milestoneId: milestone,
    };
    const { status, headers, body } = await patch(id, fields);
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"2"');
    expect(body).toMatchObject({
      ...fields,
      tags: ['b', 'c'],
      metadata: { apiKey: '[redacted]', team: 'x' },
      version: 2,
    });
    expect(await read(id)).toEqual(body);

    const logs = await logsOf(id);
    expect(logs).toMatchObject([
      { task_version: 1 },
      {
        task_version: 2,
        event: 'task_updated',
        previous_status: 'PENDING',
        new_status: 'PENDING',
        details: { changed: { priority: { from: 5, to: 9 } } },
      },
    ]);
    expect(JSON.stringify(logs)).not.toContain('swordfish');
    const all = await eventsOf(server.db.owner, workspace.id, 'task.updated');
    const events = all.filter(({ taskId }) => taskId === id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ taskId: id, version: 2 });
    expect((events[0] as { changed: string[] }).changed.sort()).toEqual(Object.keys(fields).sort());
  });

  it('null empties a field, and a hidden value that is sent back stays', async () => {
    const id = await create({
      description: 'x',
      timeoutSeconds: 5,
      metadata: { token: 'abc', n: 1 },
    });
    await patch(id, { description: null, timeoutSeconds: null });
    const shown = await read(id);
    expect(shown).toMatchObject({ description: null, timeoutSeconds: null });
    await patch(id, { metadata: { ...(shown['metadata'] as object), n: 2 } });
    const { rows } = await server.db.owner.query(
      `SELECT t.metadata, s.sealed FROM agent_tasks t
       JOIN task_secrets s ON s.task_id = t.id AND s.column_name = 'metadata' WHERE t.id = $1`,
      [id],
    );
    const token = expect.stringMatching(/^drover-sealed:1:.*\[redacted]$/);
    expect(rows).toEqual([{ metadata: { token: '[redacted]', n: 2 }, sealed: { token, n: 2 } }]);
  });

  it('new tags show no secret of the task, with or without other fields', async () => {
    const secret = 'hunter2-hunter2';
    for (const others of [{}, { title: 'A task' }]) {
      const id = await create({ secrets: { TOKEN: secret } });
      const { status, body } = await patch(id, { tags: [secret, 'plain'], ...others });
      expect([status, body['tags']]).toEqual([200, ['[redacted]', 'plain']]);
      expect(JSON.stringify([await read(id), await logsOf(id)])).not.toContain(secret);
    }
  });

  it('texts that grow because a secret is hidden are cut, and a later title replaces all', async () => {
    const pin = '482-913';
    const id = await create({ secrets: { PIN: pin }, tags: [`${'t'.repeat(93)}${pin}`] });
    const tag = expect.stringMatching(/^t{93}\[redac/);
    expect(await read(id)).toMatchObject({ tags: [tag] });
    const fields = { title: `${'a'.repeat(248)}${pin}`, tags: [`${'u'.repeat(93)}${pin}`] };
    const { status, body } = await patch(id, fields);
    expect([status, body['title']]).toEqual([200, `${'a'.repeat(248)}[redact`]);
    expect(body).toMatchObject({ tags: [expect.stringMatching(/^u{93}\[redac/)] });
    expect((await patch(id, { title: String(body['title']) })).body.version).toBe(body.version);
    await patch(id, { title: 'Short' });
    const { rows } = await server.db.owner.query(
      `SELECT column_name FROM task_secrets WHERE task_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ column_name: 'secrets' }]);
  });

  it('unchanged fields change no version', async () => {
    const id = await create({ tags: ['a'] });
    for (const body of [{}, { title: 'A task' }, { tags: ['a', 'a'], priority: 5 }]) {
      expect((await patch(id, body)).body.version).toBe(1);
    }
    expect(await logsOf(id)).toHaveLength(1);
  });

  it('only notes of an ended task can change', async () => {
    const id = await create();
    await patch(id, { status: 'ABORTED' });
    await patch(id, { status: 'ARCHIVED' });
    const refused = await patch(id, { priority: 1, tags: ['x'] });
    expect([refused.status, refused.body.code]).toEqual([409, 'task_closed']);
    const { status, body } = await patch(id, { tags: ['x'], metadata: { note: 1 } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ tags: ['x'], metadata: { note: 1 }, status: 'ARCHIVED' });
  });

  it('concurrent updates of several clients are all kept', async () => {
    const id = await create();
    const fields = [{ priority: 1 }, { title: 'Other' }, { maxRetries: 9 }, { tags: ['x'] }];
    const answers = await Promise.all(fields.map((field) => patch(id, field)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await read(id)).toMatchObject({
      priority: 1,
      title: 'Other',
      maxRetries: 9,
      tags: ['x'],
      version: 5,
    });
    expect((await logsOf(id)).map((log) => log['task_version'])).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('status', () => {
  it('a requested status pauses, resumes, cancels, retries and archives', async () => {
    const id = await create();
    const went: unknown[] = [];
    for (const status of ['PAUSED', 'PENDING', 'ABORTED', 'PENDING', 'ABORTED', 'ARCHIVED']) {
      const { body } = await patch(id, { status, reason: 'because' });
      went.push(body.status, body.version);
    }
    expect(went).toEqual([
      'PAUSED',
      2,
      'PENDING',
      3,
      'ABORTED',
      4,
      'PENDING',
      5,
      'ABORTED',
      6,
      'ARCHIVED',
      7,
    ]);
  });

  it('a requested status can accompany fields', async () => {
    const id = await create();
    const { body } = await patch(
      id,
      { priority: 10, status: 'PAUSED', reason: 'lunch' },
      { 'if-match': '1' },
    );
    expect(body).toMatchObject({
      priority: 10,
      status: 'PAUSED',
      pauseReason: 'lunch',
      version: 3,
    });
  });

  it('an illegal status changes no field either', async () => {
    const id = await create();
    const { status, body } = await patch(id, { priority: 10, status: 'ARCHIVED' });
    expect([status, body.code, body['current']]).toEqual([409, 'illegal_transition', 'PENDING']);
    expect(await read(id)).toMatchObject({ priority: 5, version: 1 });
  });
});

describe('a refused update', () => {
  it('an update of another version is refused', async () => {
    const id = await create();
    for (const body of [{ priority: 1 }, { status: 'PAUSED' }, {}]) {
      const answer = await patch(id, body, { 'if-match': '"4"' });
      expect([answer.status, answer.body.code]).toEqual([412, 'version_mismatch']);
    }
    expect(await read(id)).toMatchObject({ version: 1, status: 'PENDING' });
  });

  it('a missing project or milestone, or one of another tenant, is refused', async () => {
    const id = await create();
    const foreign = await aProject(server.db.owner, stranger.id);
    const project = await aProject(server.db.owner, workspace.id);
    const milestone = await aMilestone(await aProject(server.db.owner, workspace.id));
    const refusals = [
      [{ projectId: foreign }, 404, 'project_not_found', 'projectId'],
      [{ projectId: newId() }, 404, 'project_not_found', 'projectId'],
      [{ projectId: project, milestoneId: newId() }, 404, 'milestone_not_found', 'milestoneId'],
      [{ projectId: project, milestoneId: milestone }, 404, 'milestone_not_found', 'milestoneId'],
      [{ milestoneId: milestone }, 400, 'validation_failed', 'milestoneId'],
    ] as const;
    for (const [body, status, code, field] of refusals) {
      const answer = await patch(id, body);
      expect([answer.status, answer.body.code, answer.body.errors?.[0]?.field]).toEqual([
        status,
        code,
        field,
      ]);
    }
    expect(await read(id)).toMatchObject({ version: 1 });
  });

  it("another tenant's task is not found", async () => {
    const id = await create();
    for (const body of [{ priority: 1 }, { status: 'PAUSED' }, {}]) {
      const answer = await stranger.api.patch<Problem>(`/agent-tasks/${id}`, body);
      expect([answer.status, answer.body.code]).toEqual([404, 'task_not_found']);
    }
    expect(await read(id)).toMatchObject({ version: 1 });
  });

  it.each([
    [{ priority: 11 }, 'priority'],
    [{ title: '' }, 'title'],
    [{ title: null }, 'title'],
    [{ tags: [''] }, 'tags'],
    [{ metadata: [] }, 'metadata'],
    [{ status: 'RUNNING' }, 'status'],
    [{ status: 'COMPLETED' }, 'status'],
    [{ inputContext: {} }, 'inputContext'],
    [{ version: 2 }, 'version'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds'],
    [{ projectId: 'x' }, 'projectId'],
  ])('%j is refused', async (body, field) => {
    const { status, body: problem } = await patch(await create(), body);
    expect(status).toBe(400);
    expect(problem.errors?.map((error) => error.field)).toEqual([field]);
  });
});

it('a bulk change of the priority skips finished tasks, and unknown ids refuse it', async () => {
  const [open, same, closed] = [await create(), await create({ priority: 9 }), await create()];
  await workspace.api.post(`/agent-tasks/${closed}/cancel`);
  await workspace.api.post(`/agent-tasks/${closed}/archive`);
  const prioritize = (ids: string[], by = workspace) =>
    by.api.post<Problem>('/agent-tasks/bulk/priority', { ids, priority: 9 });
  const refused = await prioritize([open, newId()]);
  expect([refused.status, refused.body.errors]).toMatchObject([404, [{ field: 'ids[1]' }]]);
  expect((await prioritize([open], stranger)).status).toBe(404);
  expect(await read(open)).toMatchObject({ priority: 5 });
  const { body } = await prioritize([open, same, closed, open]);
  expect(body).toEqual({ matched: 3, changed: 1, skipped: 2 });
  expect(await read(open)).toMatchObject({ priority: 9, version: 2 });
  const details = { changed: { priority: { from: 5, to: 9 } } };
  expect((await logsOf(open)).at(-1)).toMatchObject({ event: 'task_updated', details });
  const archived = await workspace.api.post('/agent-tasks/bulk/archive', { ids: [open, closed] });
  expect(archived.body).toEqual({ matched: 2, changed: 0, skipped: 2 });
});

it('a bulk command knows its tasks by ids in upper case', async () => {
  const id = await create();
  const ids = [id.toUpperCase(), id];
  const { body } = await workspace.api.post('/agent-tasks/bulk/cancel', { ids });
  expect(body).toEqual({ matched: 1, changed: 1, skipped: 0 });
});
