import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { sharedServer, type TestServer } from '../../../../test/support/shared-server.js';
import { aMember, aWorkspace } from '../../../../test/support/factories.js';

interface Document {
  paths: Record<
    string,
    Record<string, { description?: string; responses: Record<string, unknown> }>
  >;
}

const ROUTES = [
  ['get', '/coordinator/status'],
  ['post', '/coordinator/recover'],
  ['get', '/coordinator/logs'],
] as const;

let server: TestServer;

beforeAll(async () => {
  server = await sharedServer();
});
afterAll(() => server.stop());

async function operatorIn(workspaceId: string) {
  const { owner } = server.db;
  const userId = await aMember(owner, workspaceId, 'ADMIN');
  // A caller with only one workspace would not have to name it.
  const member = 'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)';
  await owner.query(member, [await aWorkspace(owner), userId, 'VIEWER']);
  await owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
  const sessionId = newId();
  await owner.query(
    `INSERT INTO user_sessions (id, user_id, refresh_hash, expires_at)
     VALUES ($1, $2, decode(md5($1::uuid::text), 'hex'), now() + interval '1 day')`,
    [sessionId, userId],
  );
  const tokens = server.tokens;
  const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
  return apiClient(server.url, { authorization: `Bearer ${token}` });
}

it.each(ROUTES)(
  '%s %s is for an operator who names a workspace, as documented',
  async (method, path) => {
    const workspaceId = await aWorkspace(server.db.owner);
    const api = await operatorIn(workspaceId);
    const named = { 'x-workspace-id': workspaceId };
    const ask = (headers?: Record<string, string>) =>
      method === 'get' ? api.get(path, headers) : api.post(path, { allWorkspaces: true }, headers);
    expect(await ask()).toMatchObject({ status: 400, body: { code: 'workspace_required' } });
    expect((await ask(named)).status).toBe(200);
    const answer = await fetch(`${server.url}/docs/openapi.json`);
    const { paths } = (await answer.json()) as Document;
    const route = paths[`/api/v1${path}`]?.[method];
    expect(route?.description).toContain('X-Workspace-Id');
    expect(JSON.stringify(route?.responses['400'])).toContain('workspace_required');
  },
);
