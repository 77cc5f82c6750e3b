import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import type { AuditEntryView } from './audit-log.js';

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer();
});

beforeEach(async () => {
  workspace = await app.newWorkspace();
});

afterAll(() => app.stop());

type Entries = { items: AuditEntryView[]; nextCursor: string | null };

async function log(query = '', { api }: TestWorkspace = workspace): Promise<AuditEntryView[]> {
  const { status, body } = await api.get<Entries>(`/audit-log${query}`);
  expect(status).toBe(200);
  return body.items;
}

async function aKey(scopes: string[]): Promise<{ id: string; key: string; api: ApiClient }> {
  const path = `/workspaces/${workspace.id}/api-keys`;
  const { body } = await workspace.api.post<{ id: string; key: string }>(path, {
    name: 'A program',
    scopes,
    role: 'ADMIN',
  });
  return { ...body, api: apiClient(app.url, { authorization: `Bearer ${body.key}` }) };
}

describe('a change', () => {
  it('a change is recorded before its answer, with its actor and without the bodies', async () => {
    const { id, key } = await aKey(['tasks:read']);
    const { rows } = await app.db.owner.query<{ email: string }>(
      'SELECT email FROM users WHERE id = $1',
      [workspace.userId],
    );
    const entries = await log();
    expect(entries).toEqual([
      {
        id: expect.any(String),
        createdAt: expect.any(String),
        requestId: expect.any(String),
        actorKind: 'user',
        actorId: workspace.userId,
        actorName: rows[0]?.email,
        operation: 'createApiKey',
        path: `/api/v1/workspaces/${workspace.id}/api-keys`,
        status: 201,
        address: '127.0.0.1',
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain(key);
    expect(JSON.stringify(entries)).not.toContain(id);
  });

  it('a change with an API key names the key', async () => {
    const { id, api } = await aKey(['projects:write']);
    expect((await api.post('/projects', { name: 'A project' })).status).toBe(201);
    expect((await log())[0]).toMatchObject({
      actorKind: 'api_key',
      actorId: id,
      actorName: 'A program',
      operation: 'createProject',
    });
  });

  it('failed changes and requests of agents are not recorded', async () => {
    expect((await workspace.api.post('/projects', {})).status).toBe(400);
    expect((await workspace.api.delete(`/webhooks/${newId()}`)).status).toBe(404);
    const agent = await workspace.newAgent();
    await agent.api.post(`/agents/${agent.id}/heartbeat`, {});
    expect(await log()).toEqual([]);
  });

  it('a change of a workspace named by the path or the answer is in its log', async () => {
    const made = await workspace.api.post<{ id: string }>('/workspaces', {
      name: 'Another',
      slug: `another-${newId()}`,
    });
    const { rows } = await app.db.owner.query(
      'SELECT operation FROM audit_log WHERE workspace_id = $1',
      [made.body.id],
    );
    expect(rows).toEqual([{ operation: 'createWorkspace' }]);
  });

  it('a change is answered although its entry cannot be stored', async () => {
    await app.db.owner.query('REVOKE INSERT ON audit_log FROM drover_service');
    try {
      expect((await workspace.api.post('/projects', { name: 'A project' })).status).toBe(201);
    } finally {
      await app.db.owner.query('GRANT INSERT ON audit_log TO drover_service');
    }
    expect(await log()).toEqual([]);
  });
});

describe('a refusal', () => {
  it('a missing scope is recorded, without values in the place of an id', async () => {
    const { id, api } = await aKey(['tasks:read']);
    expect((await api.delete('/webhooks/a-secret-that-was-pasted')).status).toBe(403);
    expect((await log())[0]).toMatchObject({
      actorId: id,
      operation: 'removeWebhook',
      path: '/api/v1/webhooks/{id}',
      status: 403,
    });
  });

  it('the refusal of a non-operator is not recorded in a workspace that the request names', async () => {
    const stranger = await app.newWorkspace();
    const path = `/workspaces/${workspace.id}/limits`;
    expect((await stranger.api.put(path, { maxQueueDepth: 1 })).status).toBe(403);
    expect(await log()).toEqual([]);
    expect(await log('', stranger)).toEqual([]);
  });
});

describe('the log', () => {
  it('the log is read page by page, newest first', async () => {
    for (const name of ['one', 'two', 'three']) await workspace.api.post('/projects', { name });
    const all = await log();
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    const first = await workspace.api.get<Entries>('/audit-log?limit=2');
    expect(first.body.items).toEqual(all.slice(0, 2));
    const rest = await log(`?limit=2&cursor=${first.body.nextCursor}`);
    expect(rest).toEqual(all.slice(2));
  });

  it('the log is filtered by actor, operation and time', async () => {
    const { id, api } = await aKey(['projects:write']);
    await api.post('/projects', { name: 'A project' });
    const [second, first] = (await log()) as [AuditEntryView, AuditEntryView];
    expect(await log(`?actorId=${id}`)).toEqual([second]);
    expect(await log('?operation=createApiKey')).toEqual([first]);
    expect(await log(`?from=${second.createdAt}`)).toEqual([second]);
    expect(await log(`?to=${second.createdAt}`)).toEqual([first]);
    expect(await log('?from=9999-12-31T00:00:00Z')).toEqual([]);
    expect(await log('?to=0001-01-01T00:00:00Z')).toEqual([]);
  });

  it('the log is for admins of its workspace only', async () => {
    await workspace.api.post('/projects', { name: 'A project' });
    const other = await app.newWorkspace();
    expect(await log('', other)).toEqual([]);
    const member = await app.newWorkspace('MEMBER');
    expect((await member.api.get('/audit-log')).status).toBe(403);
  });
});
