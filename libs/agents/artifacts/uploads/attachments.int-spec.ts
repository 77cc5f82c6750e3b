import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { checkArtifactFiles, checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { aSessionOf } from '../../../../test/support/factories.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';

interface Attachment {
  id: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
  downloadPath: string;
  code?: string;
  errors?: { field: string }[];
}

const MIB = 1_048_576;

let folder: string;
let server: TestApp;
let workspace: TestWorkspace;
let id: string;
let owner: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attachments-'));
  const sizes = { ARTIFACT_MAX_MB: '1', ARTIFACT_QUOTA_MB: '2' };
  server = await startTestApp({ ARTIFACTS_DIR: folder, ...sizes, ROLES: 'api' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  id = newId();
  const { userId, id: workspaceId } = workspace;
  const sessionId = await aSessionOf(server.db.owner, userId);
  const { token } = server.tokens.issueUserToken({ userId, sessionId, workspaceId });
  owner = { authorization: `Bearer ${token}` };
});
afterAll(async () => {
  const sums = await checkInvariants(server.db.ownerUrl);
  const outcomes = [
    ...sums.filter(({ name }) => name === 'artifacts_add_up'),
    await checkArtifactFiles(server.db.ownerUrl, folder),
  ];
  await server.stop();
  await rm(folder, { recursive: true });
  expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
});

async function put(
  name: string,
  content: string | Uint8Array,
  headers: Record<string, string> = owner,
): Promise<{ status: number; body: Attachment }> {
  const response = await fetch(
    `${server.url}/api/v1/attachments/${id}/${encodeURIComponent(name)}`,
    {
      method: 'PUT',
      headers: { 'content-type': 'image/png', ...headers },
      body: content as RequestInit['body'],
    },
  );
  return { status: response.status, body: (await response.json()) as Attachment };
}

const list = async ({ api } = workspace) =>
  (await api.get<{ items: Attachment[] }>(`/attachments/${id}`)).body.items;

const files = async () =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());

it('files are stored before their task exists, and downloaded by a link', async () => {
  const stored = await put('shots/b.png', 'pixels');
  const shown = { name: 'shots/b.png', mediaType: 'image/png', sizeBytes: 6 };
  expect(stored).toMatchObject({ status: 200, body: shown });
  await put('a.txt', 'words', { ...owner, 'content-type': 'text/plain' });
  const items = await list();
  expect(items).toMatchObject([{ name: 'a.txt', mediaType: 'text/plain' }, shown]);
  const { downloadPath } = items[1]!;
  expect(await (await fetch(`${server.url}${downloadPath}`)).text()).toBe('pixels');
  expect(await list(await server.newWorkspace())).toEqual([]);
  expect((await workspace.api.get(`/artifacts/${items[1]!.id}`)).status).toBe(404);
  expect((await workspace.api.delete(`/artifacts/${items[1]!.id}`)).status).toBe(204);
  expect(await list()).toMatchObject([{ name: 'a.txt' }]);
});

it('a file of the same name is replaced', async () => {
  await put('a.png', 'first');
  const before = (await files()).length;
  const second = await put('a.png', 'second one');
  expect(await list()).toMatchObject([{ id: second.body.id, sizeBytes: 10 }]);
  expect(await files()).toHaveLength(before);
});

it.each([
  ['../a.png', 'x', 400, 'validation_failed'],
  ['a.txt', `key: ghp_${'a1'.repeat(18)}`, 422, 'artifact_has_secret'],
  ['a.bin', new Uint8Array(MIB + 1), 413, 'artifact_too_large'],
])('the file %s is refused', async (name, content, status, code) => {
  expect(await put(name, content)).toMatchObject({ status, body: { code } });
  expect(await list()).toEqual([]);
});

it('the quota of the workspace and 50 files bound them', async () => {
  expect((await put('a', new Uint8Array(MIB))).status).toBe(200);
  expect((await put('b', new Uint8Array(MIB))).status).toBe(200);
  expect(await put('c', 'x')).toMatchObject({ status: 409, body: { code: 'artifact_quota' } });
  expect((await put('b', 'x')).status).toBe(200);
  await server.db.owner.query(
    `INSERT INTO artifacts (workspace_id, id, task_id, name, media_type, size_bytes, sha256, kind)
     SELECT workspace_id, uuidv7(), task_id, 'n' || n, media_type, 0, sha256, kind
     FROM artifacts, generate_series(3, 50) n WHERE task_id = $1 AND name = 'b'`,
    [id],
  );
  expect(await put('c', 'x')).toMatchObject({ status: 409, body: { code: 'artifact_limit' } });
  await server.db.owner.query(`DELETE FROM artifacts WHERE size_bytes = 0`);
});

it('agents read attachments and store none', async () => {
  await put('a.png', 'x');
  const agent = await workspace.newAgent();
  expect((await agent.api.get<{ items: unknown[] }>(`/attachments/${id}`)).body.items).toHaveLength(
    1,
  );
  const refused = await put('b.png', 'x', { authorization: `Bearer ${agent.token}` });
  expect(refused).toMatchObject({ status: 401, body: { code: 'wrong_token_kind' } });
});
