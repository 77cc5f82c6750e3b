import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type ApiClient, apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';
import { tablesWith } from '../../../../test/support/tables-with.js';

interface Provider {
  provider: string;
  projectId: string | null;
  baseUrl: string;
  source: string;
}
interface Access {
  baseUrl: string;
  key: string;
  code: string;
}

const KEY = 'sk-a-key-that-only-hosts-may-see';

let server: TestApp;
let workspace: TestWorkspace;
let project: string;

beforeAll(async () => {
  server = await startTestApp({ GEMINI_API_KEY: 'a-key-of-the-installation' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  project = await aProject(server.db.owner, workspace.id);
});
afterAll(() => server.stop());

const set = (provider: string, body: object, query = '') =>
  workspace.api.put<Provider & { code: string; errors?: { field: string }[] }>(
    `/model-providers/${provider}${query}`,
    body,
  );

/** A live run of a task, with the clients of its host and of its process. */
async function aRun(values: object = {}) {
  const task = { title: 'x', taskType: 'test', ...values };
  await workspace.api.post('/agent-tasks', task);
  const agent = await workspace.newAgent();
  const { body } = await agent.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${agent.id}/claim`,
  );
  const [{ run }] = body.tasks as [(typeof body.tasks)[number]];
  const own = apiClient(server.url, { authorization: `Bearer ${run.token}` });
  return { id: run.id, host: agent.api, own };
}

const access = (by: ApiClient, runId: string, provider = 'openai') =>
  by.post<Access>(`/runs/${runId}/model-access`, { provider });

it('the host of a run gets the key of the project, else of the workspace', async () => {
  await set('openai', { key: 'sk-of-the-workspace' });
  await set('openai', { key: KEY, baseUrl: 'https://litellm.example/' }, `?projectId=${project}`);
  const [plain, ofProject] = [await aRun(), await aRun({ projectId: project })];
  expect((await access(plain.host, plain.id)).body).toEqual({
    provider: 'openai',
    baseUrl: 'https://api.openai.com',
    key: 'sk-of-the-workspace',
  });
  expect((await access(ofProject.host, ofProject.id)).body).toMatchObject({
    baseUrl: 'https://litellm.example',
    key: KEY,
  });
});

it('without a key of its own a workspace uses that of the installation', async () => {
  const run = await aRun();
  const answer = await access(run.host, run.id, 'gemini');
  expect(answer.body.key).toBe('a-key-of-the-installation');
  const missing = await access(run.host, run.id, 'anthropic');
  expect(missing).toMatchObject({ status: 404, body: { code: 'model_provider_not_found' } });
});

it('nobody but the host of the live run gets a key', async () => {
  await set('openai', { key: KEY });
  const [run, other] = [await aRun(), await aRun()];
  for (const other of [run.own, workspace.api]) {
    const refused = await access(other, run.id);
    expect(refused).toMatchObject({ status: 401, body: { code: 'wrong_token_kind' } });
  }
  const foreign = await access(other.host, run.id);
  expect(foreign).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
  await run.host.post(`/runs/${run.id}/complete`, {});
  const over = await access(run.host, run.id);
  expect(over).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
});

it('a key is stored sealed, and no list shows it', async () => {
  const created = await set('anthropic', { key: KEY });
  expect(created).toMatchObject({ status: 200, body: { provider: 'anthropic' } });
  const { body } = await workspace.api.get<{ items: Provider[] }>('/model-providers');
  expect(body.items.map(({ provider, source }) => [provider, source])).toEqual([
    ['anthropic', 'workspace'],
    ['gemini', 'installation'],
  ]);
  expect(JSON.stringify([created.body, body])).not.toContain(KEY);
  expect(await tablesWith(server, KEY)).toEqual([]);
});

it('a new key replaces the old one, and a removed provider gives none', async () => {
  await set('openai', { key: 'sk-old-key' });
  await set('openai', { key: KEY });
  const run = await aRun();
  expect((await access(run.host, run.id)).body.key).toBe(KEY);
  expect((await workspace.api.delete('/model-providers/openai')).status).toBe(204);
  expect((await access(run.host, run.id)).status).toBe(404);
  const again = await workspace.api.delete<{ code: string }>('/model-providers/openai');
  expect(again).toMatchObject({ status: 404, body: { code: 'model_provider_not_found' } });
});

it.each([
  ['acme', { key: KEY }, '', 400, 'provider'],
  ['openai', {}, '', 400, 'key'],
  ['openai', { key: KEY, baseUrl: 'http://169.254.169.254/' }, '', 400, 'baseUrl'],
  ['openai', { key: KEY, baseUrl: 'https://u:p@x.example' }, '', 400, 'baseUrl'],
  ['openai', { key: KEY }, '?projectId=nobody', 400, 'projectId'],
])('%s with %j%s is refused', async (provider, body, query, status, field) => {
  const answer = await set(provider, body, query);
  expect(answer).toMatchObject({ status, body: { errors: [{ field }] } });
});

it('a project that does not exist is refused', async () => {
  const answer = await set('openai', { key: KEY }, `?projectId=${workspace.id}`);
  expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
});
