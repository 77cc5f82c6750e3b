import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type ApiClient, apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';
import { tablesWith } from '../../../../test/support/tables-with.js';

interface Credential {
  host: string;
  scheme: string;
  header: string;
  value?: string;
}
type Answer = { items: Credential[]; code: string; errors?: { field: string }[] };

const VALUE = 'Bearer a-token-that-only-hosts-may-see';
const HOST = 'registry.example.com';

let server: TestApp;
let workspace: TestWorkspace;
let project: string;

beforeAll(async () => {
  server = await startTestApp();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  project = await aProject(server.db.owner, workspace.id);
});
afterAll(() => server.stop());

const set = (host: string, body: object, query = '') =>
  workspace.api.put<Credential & Answer>(`/host-credentials/${host}${query}`, body);

/** A live run of a task, with the clients of its host and of its process. */
async function aRun(values: object = {}) {
  await workspace.api.post('/agent-tasks', { title: 'x', taskType: 'test', ...values });
  const agent = await workspace.newAgent();
  const { body } = await agent.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${agent.id}/claim`,
  );
  const [{ run }] = body.tasks as [(typeof body.tasks)[number]];
  const own = apiClient(server.url, { authorization: `Bearer ${run.token}` });
  return { id: run.id, host: agent.api, own };
}

const valuesOf = (by: ApiClient, runId: string) =>
  by.post<Answer>(`/runs/${runId}/host-credentials`);

it('the host of a run gets the credential of the project for a host, else of the workspace', async () => {
  await set(HOST, { value: VALUE });
  await set('API.example.com:8443', { value: 'key', header: 'X-Api-Key', scheme: 'http' });
  await set(HOST, { value: 'Bearer of-the-project' }, `?projectId=${project}`);
  const api = { host: 'api.example.com:8443', scheme: 'http', header: 'x-api-key', value: 'key' };
  const registry = { host: HOST, scheme: 'https', header: 'authorization', value: VALUE };
  const [plain, ofProject] = [await aRun(), await aRun({ projectId: project })];
  expect((await valuesOf(plain.host, plain.id)).body.items).toEqual([api, registry]);
  expect((await valuesOf(ofProject.host, ofProject.id)).body.items).toEqual([
    api,
    { ...registry, value: 'Bearer of-the-project' },
  ]);
});

it('nobody but the host of the live run gets a value', async () => {
  await set(HOST, { value: VALUE });
  const [run, other] = [await aRun(), await aRun()];
  for (const reader of [run.own, workspace.api]) {
    const refused = await valuesOf(reader, run.id);
    expect(refused).toMatchObject({ status: 401, body: { code: 'wrong_token_kind' } });
  }
  const foreign = await valuesOf(other.host, run.id);
  expect(foreign).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
  await run.host.post(`/runs/${run.id}/complete`, {});
  const over = await valuesOf(run.host, run.id);
  expect(over).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
});

it('a value is stored sealed, and no list shows it', async () => {
  const created = await set(HOST, { value: VALUE });
  expect(created).toMatchObject({ status: 200, body: { host: HOST, projectId: null } });
  const { body } = await workspace.api.get<Answer>('/host-credentials');
  expect(body.items).toHaveLength(1);
  expect(JSON.stringify([created.body, body])).not.toContain(VALUE);
  expect(await tablesWith(server, VALUE)).toEqual([]);
});

it('a new value replaces the old one, and a removed credential gives none', async () => {
  await set(HOST, { value: 'Bearer old' });
  await set(HOST, { value: VALUE, header: 'x-token' });
  const run = await aRun();
  expect((await valuesOf(run.host, run.id)).body.items).toMatchObject([
    { header: 'x-token', value: VALUE },
  ]);
  expect((await workspace.api.delete(`/host-credentials/${HOST}`)).status).toBe(204);
  expect((await valuesOf(run.host, run.id)).body).toEqual({ items: [] });
  const again = await workspace.api.delete<Answer>(`/host-credentials/${HOST}`);
  expect(again).toMatchObject({ status: 404, body: { code: 'host_credential_not_found' } });
});

it('a value that cannot be opened gives no credential at all', async () => {
  await set(HOST, { value: VALUE });
  await set('other.example', { value: VALUE });
  // The value of another row does not open here.
  await server.db.owner.query(
    `UPDATE host_credential_secrets s SET sealed = o.sealed FROM host_credential_secrets o
     WHERE s.workspace_id = $1 AND o.workspace_id = $1 AND o.credential_id > s.credential_id`,
    [workspace.id],
  );
  const run = await aRun();
  const refused = await valuesOf(run.host, run.id);
  expect(refused).toMatchObject({ status: 409, body: { code: 'secrets_unreadable' } });
});

it('a workspace has at most 100 credentials, and can still change one of them', async () => {
  await server.db.owner.query(
    `INSERT INTO host_credentials (workspace_id, id, host, scheme, header, created_by)
     SELECT $1, uuidv7(), 'h' || n || '.example', 'https', 'x', (SELECT user_id FROM workspace_members
       WHERE workspace_id = $1 LIMIT 1) FROM generate_series(1, 100) n`,
    [workspace.id],
  );
  const refused = await set(HOST, { value: VALUE });
  expect(refused).toMatchObject({ status: 409, body: { code: 'host_credential_limit' } });
  expect((await set('h7.example', { value: VALUE })).status).toBe(200);
});

it.each([
  ['*.example.com', { value: VALUE }, '', 'host'],
  ['example.com%2Fpath', { value: VALUE }, '', 'host'],
  ['[::1]:80', { value: VALUE }, '', 'host'],
  [HOST, {}, '', 'value'],
  [HOST, { value: 'a\r\nHost: b' }, '', 'value'],
  [HOST, { value: VALUE, header: 'Host' }, '', 'header'],
  [HOST, { value: VALUE, scheme: 'ftp' }, '', 'scheme'],
  [HOST, { value: VALUE }, '?projectId=nobody', 'projectId'],
])('%s with %j%s is refused', async (host, body, query, field) => {
  const answer = await set(host, body, query);
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ field }] } });
});

it('a project that does not exist is refused', async () => {
  const answer = await set(HOST, { value: VALUE }, `?projectId=${workspace.id}`);
  expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
});
