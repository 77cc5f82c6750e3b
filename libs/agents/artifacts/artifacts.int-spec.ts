import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { checkArtifactFiles, checkInvariants } from '#lib/invariants';
import { ArtifactPruner } from '#lib/artifacts';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../test/support/app.js';
import { waitFor } from '../../../test/support/wait-for.js';

interface Artifact {
  id: string;
  taskId: string;
  runId: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
  sha256: string;
  downloadPath: string;
}
interface Answer<T = Artifact> {
  status: number;
  headers: Headers;
  body: T & { code?: string; errors?: { field: string }[] };
}

const MIB = 1_048_576;
const SECRET = 'a-value-that-nobody-may-keep';

let folder: string;
let server: TestApp;
let workspace: TestWorkspace;
let agent: Awaited<ReturnType<TestWorkspace['newAgent']>>;
let run: { taskId: string; id: string; token: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'artifacts-'));
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
  run = await aRun();
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

/** A live run of a new task. */
async function aRun(values: object = {}) {
  await workspace.api.post('/agent-tasks', { title: 'x', taskType: 'test', ...values });
  const { body } = await agent.api.post<{
    tasks: { task: { id: string }; run: { id: string; token: string } }[];
  }>(`/agents/${agent.id}/claim`);
  const [{ task, run: claimed }] = body.tasks as [(typeof body.tasks)[number]];
  return { taskId: task.id, ...claimed };
}

async function put(
  name: string,
  content: string | Uint8Array,
  { headers = {}, of = run }: { headers?: Record<string, string>; of?: typeof run } = {},
): Promise<Answer> {
  const path = `/api/v1/runs/${of.id}/artifacts/${encodeURIComponent(name)}`;
  const response = await fetch(`${server.url}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${of.token}`, 'content-type': 'text/plain', ...headers },
    body: content as RequestInit['body'],
  });
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, headers: response.headers, body };
}

const list = async (query = '', { api } = workspace) => {
  const path = `/agent-tasks/${run.taskId}/artifacts${query}`;
  return (await api.get<{ items: Artifact[]; nextCursor: string | null; code: string }>(path)).body;
};

const names = async () => (await list()).items.map(({ name }) => name);

/** The path of an artifact's file. */
const placeOf = (id: string) => join(folder, id.slice(-2), id.slice(-4, -2), id);

const download = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { headers });

/** Names of all files in the folder. */
const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

it('a file of a run is listed and downloaded by a link without credentials', async () => {
  const stored = await put('report/größe.html', '<b>1</b>', {
    headers: { 'content-type': 'Text/HTML; charset=utf-8' },
  });
  const facts = {
    name: 'report/größe.html',
    mediaType: 'text/html; charset=utf-8',
    taskId: run.taskId,
    runId: run.id,
    sizeBytes: 8,
    sha256: createHash('sha256').update('<b>1</b>').digest('hex'),
  };
  expect(stored).toMatchObject({ status: 200, body: facts });
  const [listed] = (await list()).items;
  expect(listed).toMatchObject(facts);
  const answer = await download(listed?.downloadPath ?? '');
  expect([answer.status, await answer.text()]).toEqual([200, '<b>1</b>']);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-length': '8',
    'content-disposition': `attachment; filename="gr__e.html"; filename*=UTF-8''gr%C3%B6%C3%9Fe.html`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    etag: `"${facts.sha256}"`,
  });
  const again = await workspace.api.get<Artifact>(`/artifacts/${listed?.id}`);
  expect(again.body).toMatchObject(facts);
});

it.each([
  ['bytes=2-4', 206, 'cde', 'bytes 2-4/6'],
  ['bytes=-2', 206, 'ef', 'bytes 4-5/6'],
  ['bytes=9-', 416, '', 'bytes */6'],
])('the part %s of a file is answered with %d', async (range, status, text, named) => {
  const { body } = await put('a.txt', 'abcdef');
  const answer = await download(body.downloadPath, { range });
  expect([answer.status, await answer.text()]).toEqual([status, text]);
  expect(answer.headers.get('content-range')).toBe(named);
});

it('a file of every type is stored, also of JSON, of a type in upper case, and of none', async () => {
  expect(await put('a.json', '{"a":')).toMatchObject({ status: 200 });
  const json = await put('b.json', '{"a":', { headers: { 'content-type': 'application/json' } });
  expect(json).toMatchObject({
    status: 200,
    body: { mediaType: 'application/json', sizeBytes: 5 },
  });
  const path = `${server.url}/api/v1/runs/${run.id}/artifacts/empty`;
  const headers = { authorization: `Bearer ${run.token}` };
  const empty = await fetch(path, { method: 'PUT', headers });
  expect(await empty.json()).toMatchObject({
    mediaType: 'application/octet-stream',
    sizeBytes: 0,
  });
});

it('a file replaces that of the same name of its run, with its content', async () => {
  const first = await put('a.txt', 'one');
  const second = await put('a.txt', 'two');
  const other = await aRun();
  await put('a.txt', 'of another run', { of: other });
  expect((await list()).items.map(({ id }) => id)).toEqual([second.body.id]);
  expect(await (await download(second.body.downloadPath)).text()).toBe('two');
  expect((await download(first.body.downloadPath)).status).toBe(404);
  expect(files()).not.toContain(first.body.id);
});

it('the list has pages and a filter by run', async () => {
  for (const name of ['a', 'b', 'c']) await put(name, name);
  const first = await list('?limit=2');
  const second = await list(`?limit=2&cursor=${first.nextCursor}`);
  const found = [first, second].flatMap(({ items }) => items.map(({ name }) => name));
  expect([found, second.nextCursor]).toEqual([['c', 'b', 'a'], null]);
  expect((await list(`?runId=${run.id}`)).items).toHaveLength(3);
  const other = await aRun();
  expect((await list(`?runId=${other.id}`)).items).toEqual([]);
  expect(await list(`?runId=${run.taskId}`)).toMatchObject({ code: 'run_not_found' });
});

it.each(['..', '../a', '/etc/passwd', 'a/../../b', 'a//b', 'a\\b', 'a\nb', 'x'.repeat(256)])(
  'the name %j is refused',
  async (name) => {
    // A client would resolve `..` itself.
    const path = encodeURIComponent(name).replaceAll('.', '%2e');
    const url = `${server.url}/api/v1/runs/${run.id}/artifacts/${path}`;
    const headers = { authorization: `Bearer ${run.token}`, 'content-type': 'text/plain' };
    const answer = await fetch(url, { method: 'PUT', headers, body: 'x' });
    // An address with `..` names another route before a server sees it.
    expect([400, 404]).toContain(answer.status);
    expect(await names()).toEqual([]);
  },
);

it.each([
  [{ 'content-type': 'nothing' }, 400, 'malformed_header'],
  [{ 'content-digest': 'sha-256=x' }, 400, 'malformed_header'],
  [{ 'content-digest': `sha-256=:${'A'.repeat(43)}=:` }, 400, 'digest_mismatch'],
  [{ 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
])('an upload with %j is refused', async (headers, status, code) => {
  const before = files();
  expect(await put('a.txt', 'x', { headers })).toMatchObject({ status, body: { code } });
  expect(files()).toEqual(before);
});

it('a file that matches its digest is stored', async () => {
  const digest = createHash('sha256').update('abc').digest('base64');
  const headers = { 'content-digest': `sha-256=:${digest}:` };
  expect(await put('a.txt', 'abc', { headers })).toMatchObject({ status: 200 });
});

it('the diff of a change is stored by an agent, and not by the session of its run', async () => {
  const name = 'change.diff';
  const refused = await put(name, 'forged');
  expect(refused).toMatchObject({ status: 403, body: { code: 'artifact_reserved' } });
  const host = { headers: { authorization: `Bearer ${agent.token}` } };
  expect(await put(name, 'diff', host)).toMatchObject({ status: 200, body: { name } });
});

it('a file above the limit is refused, with and without a stated size', async () => {
  const before = files();
  const large = new Uint8Array(MIB + 1);
  const stated = await put('a', large);
  expect(stated).toMatchObject({ status: 413, body: { code: 'artifact_too_large', limit: MIB } });
  const path = `${server.url}/api/v1/runs/${run.id}/artifacts/a`;
  const unstated = await fetch(path, {
    method: 'PUT',
    headers: { authorization: `Bearer ${run.token}` },
    body: new Blob([large, large]).stream(),
    duplex: 'half',
  } as RequestInit);
  expect([unstated.status, await unstated.json()]).toMatchObject([413, { limit: MIB }]);
  expect(files()).toEqual(before);
  expect(await put('a', new Uint8Array(MIB))).toMatchObject({ status: 200 });
});

it('concurrent uploads cannot exceed the quota, and a removed file makes room', async () => {
  const half = new Uint8Array(MIB / 2 + 1);
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => put(`${n}`, half)));
  const stored = answers.filter(({ status }) => status === 200);
  expect(stored).toHaveLength(3);
  const refused = answers.filter(({ status }) => status !== 200);
  for (const one of refused) {
    expect(one).toMatchObject({ status: 409, body: { code: 'artifact_quota', limit: 2 * MIB } });
  }
  const replaced = await put(stored[0]?.body.name ?? '', half);
  expect(replaced.status).toBe(200);
  expect((await workspace.api.delete(`/artifacts/${stored[1]?.body.id}`)).status).toBe(204);
  expect(files()).not.toContain(stored[1]?.body.id);
  expect((await put('another', half)).status).toBe(200);
});

it('the quota of a workspace applies instead of that of the installation', async () => {
  const set = (mib: number | null) =>
    server.db.owner.query(
      `INSERT INTO workspace_limits (workspace_id, max_artifact_mb) VALUES ($1, $2)
       ON CONFLICT (workspace_id) DO UPDATE SET max_artifact_mb = $2`,
      [workspace.id, mib],
    );
  await set(1);
  expect((await put('a', new Uint8Array(MIB))).status).toBe(200);
  const refused = { status: 409, body: { code: 'artifact_quota', limit: MIB } };
  expect(await put('b', 'x')).toMatchObject(refused);
  await set(null);
  expect((await put('b', 'x')).status).toBe(200);
});

it('a run cannot have more than 1,000 artifacts', async () => {
  const { body } = await put('0', 'x');
  await server.db.owner.query(
    `INSERT INTO artifacts (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
     SELECT workspace_id, uuidv7(), task_id, run_id, n::text, media_type, 0, sha256
     FROM artifacts, generate_series(1, 999) n WHERE id = $1`,
    [body.id],
  );
  const refused = await put('more', 'x');
  expect(refused).toMatchObject({ status: 409, body: { code: 'artifact_limit' } });
  expect(await put('0', 'y')).toMatchObject({ status: 200 });
  await server.db.owner.query(`DELETE FROM artifacts WHERE size_bytes = 0`);
});

it.each([
  ['a secret of the task', (text: string) => `${text} ${SECRET}`],
  ['a secret in base64', (text: string) => text + Buffer.from(SECRET).toString('base64')],
  ['a key of a known format', (text: string) => `${text} ghp_${'a1'.repeat(18)}`],
  ['a secret on the border of two pieces', () => 'x '.repeat(32_760) + SECRET + 'y'.repeat(9_000)],
])('a file with %s is refused', async (_, textOf) => {
  const of = await aRun({ secrets: { key: SECRET } });
  const before = files();
  const answer = await put('a.txt', textOf('The key is'), { of });
  expect(answer).toMatchObject({ status: 422, body: { code: 'artifact_has_secret' } });
  expect(files()).toEqual(before);
  expect(await put(SECRET, 'x', { of })).toMatchObject({ status: 422 });
});

it('source code that only looks secret is stored unchanged', async () => {
  const code = 'const password: string = readPassword(); // bearer tokens, token=abcd\n';
  const { body } = await put('a.ts', code);
  expect(await (await download(body.downloadPath)).text()).toBe(code);
});

it('an upload that breaks off leaves nothing', async () => {
  const before = files();
  const place = join(folder, 'unfinished');
  const unfinished = () => (existsSync(place) ? readdirSync(place) : []);
  const path = `${server.url}/api/v1/runs/${run.id}/artifacts/a`;
  const headers = { authorization: `Bearer ${run.token}`, 'content-length': 100 };
  const upload = httpRequest(path, { method: 'PUT', headers });
  upload.on('error', () => undefined);
  upload.write('half of it');
  await waitFor('the upload to begin', () => unfinished().length === 1);
  upload.destroy();
  await waitFor('the upload to be undone', () => unfinished().length === 0);
  expect([files(), await names()]).toEqual([before, []]);
});

it('a connection is used again after an upload that was refused in its middle', async () => {
  const body = new Blob([new Uint8Array(4 * MIB)]).stream();
  const path = `${server.url}/api/v1/runs/${run.id}/artifacts/a`;
  const headers = { authorization: `Bearer ${run.token}` };
  const answer = await fetch(path, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit);
  expect(answer.status).toBe(413);
  await answer.json();
  expect((await put('b', 'x')).status).toBe(200);
});

it('no other route takes a body of another type than JSON', async () => {
  for (const type of ['text/plain', 'application/vnd.drover.stream', 'application/octet-stream']) {
    const response = await fetch(`${server.url}/api/v1/runs/${run.id}/progress`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${run.token}`, 'content-type': type },
      body: '{}',
    });
    expect([type, response.status]).toEqual([type, 415]);
  }
});

it('a run stores files for a while after its end, and not for ever', async () => {
  await agent.api.post(`/runs/${run.id}/complete`, {});
  const late = { ...run, token: agent.token };
  expect(await put('late.txt', 'x', { of: late })).toMatchObject({ status: 200 });
  await server.db.owner.query(
    `UPDATE task_runs SET ended_at = ended_at - interval '16 minutes' WHERE id = $1`,
    [run.id],
  );
  const refused = await put('later.txt', 'x', { of: late });
  expect(refused).toMatchObject({ status: 409, body: { code: 'stale_run' } });
  expect(await names()).toEqual(['late.txt']);
});

it('nobody but the agent of the run stores files of it', async () => {
  const other = await workspace.newAgent();
  const foreign = await (await server.newWorkspace()).newAgent();
  for (const { token } of [other, foreign]) {
    const answer = await put('a', 'x', { of: { ...run, token } });
    expect(answer).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
  }
});

it('another tenant finds nothing, and a link is for one file and expires', async () => {
  const { body } = await put('a.txt', 'x');
  const other = await put('b.txt', 'y');
  const stranger = await server.newWorkspace();
  expect(await list('', stranger)).toMatchObject({ code: 'task_not_found' });
  for (const answer of [
    await stranger.api.get(`/artifacts/${body.id}`),
    await stranger.api.delete(`/artifacts/${body.id}`),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'artifact_not_found' } });
  }
  const [path, token] = body.downloadPath.split('?token=') as [string, string];
  const otherPath = other.body.downloadPath.split('?')[0];
  const user = server.tokens.issueAgentToken({
    workspaceId: workspace.id,
    agentId: agent.id,
    tokenVersion: 1,
  }).token;
  const expired = server.tokens.issueDownload(
    { workspaceId: workspace.id, id: body.id },
    { seconds: -1 },
  );
  const ofStranger = server.tokens.issueDownload({ workspaceId: stranger.id, id: body.id });
  for (const [link, status, code] of [
    [`${otherPath}?token=${token}`, 401, 'invalid_token'],
    [`${path}?token=${token.slice(0, -3)}abc`, 401, 'invalid_token'],
    [`${path}?token=${user}`, 401, 'invalid_token'],
    [`${path}?token=x`, 401, 'invalid_token'],
    [`${path}?token=${expired}`, 401, 'token_expired'],
    [`${path}?token=${ofStranger}`, 404, 'artifact_not_found'],
    [path, 400, 'validation_failed'],
  ] as const) {
    const answer = await download(link);
    expect([answer.status, await answer.json()]).toMatchObject([status, { code }]);
  }
  const asToken = await workspace.api.get('/agent-tasks', { authorization: `Bearer ${token}` });
  expect(asToken).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
});

it('expired artifacts and files without a row are removed, and others stay', async () => {
  const pruner = server.app.get(ArtifactPruner, { strict: false });
  const [old, young] = [(await put('old', 'x')).body, (await put('young', 'y')).body];
  await server.db.owner.query(
    `UPDATE artifacts SET created_at = now() - interval '31 days' WHERE id = $1`,
    [old.id],
  );
  expect(await pruner.prune()).toBe(false);
  expect(await names()).toEqual(['young']);
  expect(files()).not.toContain(old.id);

  const lost = [join(folder, 'unfinished', young.id), placeOf(old.id)];
  for (const path of lost) await writeFile(path, 'lost');
  expect(await pruner.removeLostFiles()).toBe(0);
  const hourAgo = new Date(Date.now() - 3_700_000);
  for (const path of lost) utimesSync(path, hourAgo, hourAgo);
  utimesSync(placeOf(young.id), hourAgo, hourAgo);
  const found = await checkArtifactFiles(server.db.ownerUrl, folder);
  expect(found).toMatchObject({ holds: false, violations: { length: 2 } });
  expect(await pruner.removeLostFiles()).toBe(2);
  expect(lost.map((path) => existsSync(path))).toEqual([false, false]);
  expect(await (await download(young.downloadPath)).text()).toBe('y');
});

it('files of others in the folder stay', async () => {
  const id = newId();
  const names = ['a.jpg', id, 'unfinished/a', `photos/12/${id}`, '12/34/a', '12/a', `00/00/1${id}`];
  const foreign = [...names, `zz/${id}`, `12/34/${id.slice(0, -4)}0000`].map((name) =>
    join(folder, name),
  );
  const hourAgo = new Date(Date.now() - 3_700_000);
  for (const path of foreign) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'x');
    utimesSync(path, hourAgo, hourAgo);
  }
  expect(await server.app.get(ArtifactPruner, { strict: false }).removeLostFiles()).toBe(0);
  expect(foreign.filter((path) => !existsSync(path))).toEqual([]);
});

it('an upload whose stated size has no room is refused before its first byte', async () => {
  for (const name of ['a', 'b']) await put(name, new Uint8Array(0.75 * MIB));
  const path = `${server.url}/api/v1/runs/${run.id}/artifacts/c`;
  const headers = { authorization: `Bearer ${run.token}`, 'content-length': MIB };
  const upload = httpRequest(path, { method: 'PUT', headers });
  upload.flushHeaders();
  const [answer] = (await once(upload, 'response')) as [IncomingMessage];
  upload.destroy();
  expect(answer.statusCode).toBe(409);
  // It replaces a file of its size.
  expect(await put('a', new Uint8Array(MIB))).toMatchObject({ status: 200 });
});

it('a workspace has at most 8 uploads under way, and others have theirs', async () => {
  const unfinished = () => files().length - before;
  const before = files().length;
  const path = `${server.url}/api/v1/runs/${run.id}/artifacts/a`;
  const headers = { authorization: `Bearer ${run.token}`, 'content-length': 100 };
  const uploads = Array.from({ length: 8 }, () => httpRequest(path, { method: 'PUT', headers }));
  for (const upload of uploads) upload.on('error', () => undefined).write('half of it');
  await waitFor('the uploads to begin', () => unfinished() === 8);
  const refused = await put('b', 'x');
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  expect(refused.headers.get('retry-after')).toBe('1');
  const own = run;
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent();
  expect(await put('b', 'x', { of: await aRun() })).toMatchObject({ status: 200 });
  for (const upload of uploads) upload.destroy();
  await waitFor('the uploads to be undone', () => unfinished() === 1);
  await waitFor('room', async () => (await put('b', 'x', { of: own })).status === 200);
});
