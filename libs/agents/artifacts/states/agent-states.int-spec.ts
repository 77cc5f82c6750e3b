import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { checkArtifactFiles, checkInvariants } from '#lib/invariants';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';

const MIB = 1_048_576;

let folder: string;
let server: TestApp;
let workspace: TestWorkspace;
let agent: Awaited<ReturnType<TestWorkspace['newAgent']>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'states-'));
  server = await startTestApp({
    ARTIFACTS_DIR: folder,
    ARTIFACT_MAX_MB: '1',
    ARTIFACT_QUOTA_MB: '2',
    ROLES: 'api',
  });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 10 });
});
afterAll(async () => {
  const outcomes = [
    ...(await checkInvariants(server.db.ownerUrl)).filter(
      ({ name }) => name === 'artifacts_add_up',
    ),
    await checkArtifactFiles(server.db.ownerUrl, folder),
  ];
  await server.stop();
  await rm(folder, { recursive: true });
  expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
});

interface Run {
  taskId: string;
  id: string;
  token: string;
}

async function claim(by = agent): Promise<Run> {
  const { body } = await by.api.post<{
    tasks: { task: { id: string }; run: { id: string; token: string } }[];
  }>(`/agents/${by.id}/claim`);
  const [{ task, run }] = body.tasks as [(typeof body.tasks)[number]];
  return { taskId: task.id, ...run };
}

async function aRun(values: object = {}): Promise<Run> {
  await workspace.api.post('/agent-tasks', { title: 'x', taskType: 'test', ...values });
  return claim();
}

async function send(method: string, path: string, token: string, body?: RequestInit['body']) {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    body,
  });
  const text = await answer.text();
  const { code } = (text.startsWith('{') ? JSON.parse(text) : {}) as { code?: string };
  return { status: answer.status, text, code };
}

const put = (run: Run, body: string | Uint8Array, token = agent.token) =>
  send('PUT', `/runs/${run.id}/agent-state`, token, body as RequestInit['body']);
const get = (run: Run, token = agent.token) => send('GET', `/runs/${run.id}/agent-state`, token);

const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

async function release(run: Run): Promise<void> {
  await agent.api.post(`/runs/${run.id}/start`, {});
  await agent.api.post(`/runs/${run.id}/release`, { reason: 'drain' });
  await workspace.api.post(`/agent-tasks/${run.taskId}/retry`, {});
}

it('the next run of a task gets the last state, on another agent', async () => {
  const first = await aRun();
  expect(await get(first)).toMatchObject({ status: 404, code: 'artifact_not_found' });
  expect((await put(first, 'one')).status).toBe(204);
  expect((await put(first, 'two')).status).toBe(204);
  await release(first);
  const other = await workspace.newAgent();
  const second = await claim(other);
  expect(second.taskId).toBe(first.taskId);
  expect(await get(second, other.token)).toMatchObject({ status: 200, text: 'two' });
  expect((await put(second, 'three', other.token)).status).toBe(204);
  expect(await get(second, other.token)).toMatchObject({ text: 'three' });
  const { rows } = await server.db.owner.query(
    `SELECT kind, run_id FROM artifacts WHERE workspace_id = $1`,
    [workspace.id],
  );
  expect(rows).toEqual([{ kind: 'agent_state', run_id: second.id }]);
});

it('a run that has ended neither reads nor replaces a state', async () => {
  const first = await aRun();
  await put(first, 'of the first run');
  await release(first);
  for (const answer of [await put(first, 'late'), await get(first)]) {
    expect(answer).toMatchObject({ status: 409, code: 'stale_run' });
  }
  expect(await get(await claim())).toMatchObject({ text: 'of the first run' });
});

it('a run that has asked a person keeps its last state until the answer', async () => {
  const first = await aRun();
  await put(first, 'before the question');
  const asked = { prompt: 'Which year?', deadlineSeconds: 600, onDeadline: 'fail' };
  const { body } = await agent.api.post<{ id: string }>(`/runs/${first.id}/questions`, asked);
  expect((await put(first, 'with the question')).status).toBe(204);
  expect(await get(first)).toMatchObject({ status: 409, code: 'stale_run' });
  await workspace.api.post(`/questions/${body.id}/answer`, { answer: '2026' });
  expect(await put(first, 'late')).toMatchObject({ status: 409, code: 'stale_run' });
  const second = await claim();
  expect(await get(second)).toMatchObject({ text: 'with the question' });
  await agent.api.post(`/runs/${second.id}/questions`, { ...asked, prompt: 'Which month?' });
  expect(await put(first, 'late')).toMatchObject({ status: 409, code: 'stale_run' });
});

it('the task that continues a finished one begins with its state, and then has its own', async () => {
  const values = { agent: { kind: 'codex' }, title: 'x', taskType: 'test' };
  agent = await workspace.newAgent({ capabilities: ['command', 'kind:codex'] });
  await workspace.api.post('/agent-tasks', values);
  const first = await claim();
  await put(first, 'finished');
  await agent.api.post(`/runs/${first.id}/start`, {});
  await agent.api.post(`/runs/${first.id}/complete`, {});
  const path = `/agent-tasks/${first.taskId}/continue`;
  expect((await workspace.api.post(path, { text: 'More.' })).status).toBe(201);
  const second = await claim();
  expect(second.taskId).not.toBe(first.taskId);
  expect(await get(second)).toMatchObject({ text: 'finished' });
  await put(second, 'continued');
  expect(await get(second)).toMatchObject({ text: 'continued' });
});

it('only the host of the run has the state: no list, no link, no run token, no other agent', async () => {
  const run = await aRun();
  await put(run, 'secret words');
  const { rows } = await server.db.owner.query<{ id: string }>(
    `SELECT id FROM artifacts WHERE task_id = $1`,
    [run.taskId],
  );
  const { id = '' } = rows[0] ?? {};
  const listed = await workspace.api.get(`/agent-tasks/${run.taskId}/artifacts`);
  expect(listed.body).toMatchObject({ items: [] });
  const link = server.tokens.issueDownload({ workspaceId: workspace.id, id });
  for (const answer of [
    await workspace.api.get(`/artifacts/${id}`),
    await workspace.api.get(`/artifacts/${id}/content?token=${link}`),
    await workspace.api.delete(`/artifacts/${id}`),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'artifact_not_found' } });
  }
  for (const call of [put(run, 'x', run.token), get(run, run.token)]) {
    expect(await call).toMatchObject({ status: 401, code: 'wrong_token_kind' });
  }
  const other = await workspace.newAgent();
  const foreign = await (await server.newWorkspace()).newAgent();
  for (const { token } of [other, foreign]) {
    for (const call of [put(run, 'x', token), get(run, token)]) {
      expect(await call).toMatchObject({ status: 404, code: 'run_not_found' });
    }
  }
  const stored = files().filter((path) => path.endsWith(id));
  expect(stored.map((path) => readFileSync(path).includes('secret words'))).toEqual([false]);
  expect(await get(run)).toMatchObject({ text: 'secret words' });
});

it('an upload that breaks off leaves the earlier state', async () => {
  const run = await aRun();
  await put(run, 'whole');
  const before = files();
  const headers = { authorization: `Bearer ${agent.token}`, 'content-length': 100 };
  const path = `${server.url}/api/v1/runs/${run.id}/agent-state`;
  const upload = httpRequest(path, { method: 'PUT', headers });
  upload.on('error', () => undefined);
  upload.write('half of it');
  await waitFor('the upload to begin', () => files().length > before.length);
  upload.destroy();
  await waitFor('the upload to be undone', () => files().length === before.length);
  expect(await get(run)).toMatchObject({ status: 200, text: 'whole' });
});

it('a state that was altered in the store breaks off, and one without a key is none', async () => {
  const run = await aRun();
  await put(run, 'whole');
  await server.db.owner.query(`UPDATE artifacts SET task_id = $1 WHERE run_id = $2`, [
    (await aRun()).taskId,
    run.id,
  ]);
  expect(await get(run)).toMatchObject({ status: 404 });
  await put(run, 'again');
  await server.db.owner.query(
    `UPDATE artifacts SET key_id = gen_random_uuid() WHERE task_id = $1`,
    [run.taskId],
  );
  expect(await get(run)).toMatchObject({ status: 404, code: 'artifact_not_found' });
});

it('the oldest states make room for files and newer states', async () => {
  const [first, second, third] = [await aRun(), await aRun(), await aRun()];
  const half = new Uint8Array(0.8 * MIB);
  expect((await put(first, half)).status).toBe(204);
  expect((await put(second, half)).status).toBe(204);
  expect((await put(third, half)).status).toBe(204);
  expect((await get(first)).status).toBe(404);
  expect((await put(third, new Uint8Array(MIB))).status).toBe(204);
  expect((await get(second)).status).toBe(200);
  const file = `/runs/${third.id}/artifacts/a`;
  expect((await send('PUT', file, third.token, half)).status).toBe(200);
  expect((await get(second)).status).toBe(404);
  expect((await get(third)).status).toBe(200);
  expect((await send('PUT', `${file}b`, third.token, new Uint8Array(MIB))).status).toBe(200);
  expect((await get(third)).status).toBe(404);
  expect(await put(third, half)).toMatchObject({ status: 409, code: 'artifact_quota' });
  expect(await put(third, new Uint8Array(MIB + 1))).toMatchObject({
    status: 413,
    code: 'artifact_too_large',
  });
});
