import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../test/support/app.js';
import { apiClient } from '../../test/support/api-client.js';
import { Logger } from '#lib/observability';

/** A used key that expires within 14 days is reported where people look. */

const TOKEN = 'a token of the tests';
const DAY = 86_400;

let server: TestApp;
let workspace: TestWorkspace;
const warned: Record<string, unknown>[] = [];

beforeAll(async () => {
  server = await startTestApp({ METRICS_TOKEN: TOKEN, ROLES: 'api' });
  workspace = await server.newWorkspace();
  const logger = server.app.get(Logger, { strict: false });
  logger.warn = (message, fields) => void warned.push({ message, ...fields });
});
afterAll(() => server.stop());

/** A key with this remaining lifetime, used at once. */
async function usedKey(days: number): Promise<{ id: string; use: () => Promise<unknown> }> {
  const { body } = await workspace.api.post<{ id: string; key: string }>(
    `/workspaces/${workspace.id}/api-keys`,
    { name: `${days} days`, scopes: ['tasks:read'], expiresInSeconds: days * DAY },
  );
  const api = apiClient(server.url, { authorization: `Bearer ${body.key}` });
  const use = () => api.get('/agent-tasks');
  await use();
  await server.db.owner.query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [body.id]);
  return { id: body.id, use };
}

const health = async () => {
  const answer = await fetch(`${server.url}/health/coordinator`);
  return ((await answer.json()) as { warnings?: string[] }).warnings;
};

it('a used key that expires soon is reported in health, log and metrics, once a day', async () => {
  await usedKey(15);
  expect(await health()).toBeUndefined();
  expect(warned).toEqual([]);
  const key = await usedKey(13);
  await key.use();
  expect(await health()).toEqual([
    expect.stringMatching(
      /^1 API key in use ends within 14 days, the first at 20.*Z; the log names/,
    ),
  ]);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const metrics = await (await fetch(`${server.url}/metrics`, { headers })).text();
  expect(metrics).toContain('\ndrover_api_keys{state="ending"} 1\n');
  expect(metrics).toContain('\ndrover_api_keys{state="ended"} 0\n');
  expect(warned).toEqual([
    expect.objectContaining({
      message: 'an API key in use ends soon: make another one and put it in its place',
      apiKeyId: key.id,
      workspaceId: workspace.id,
    }),
  ]);
});
