import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '#lib/kernel';
import { waitFor } from '../../../../test/support/wait-for.js';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import { aSessionOf } from '../../../../test/support/factories.js';
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
        details: {},
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain(key);
    expect(JSON.stringify(entries)).not.toContain(id);
  });

  it('a repetition that changed nothing is not recorded', async () => {
    const key = { 'idempotency-key': newId() };
    const body = { scope: 'workspace', reason: 'A test' };
    const pause = async () => (await workspace.api.post('/pauses', body, key)).body;
    expect(await pause()).toEqual(await pause());
    expect(await log()).toMatchObject([
      { operation: 'createPause', details: { reason: 'A test' } },
    ]);
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

  it.each([
    ['a project', '/projects', { name: 'A project' }, 'projects'],
    ['a webhook', '/webhooks', { url: 'https://example.com/', events: ['*'] }, 'webhooks'],
    ['a pause', '/pauses', { scope: 'workspace', reason: 'A test' }, 'pauses'],
  ])('%s and its entry are of one transaction', async (_what, path, body, table) => {
    expect(await workspace.api.post(path, body)).toMatchObject({ status: 201 });
    const { rows } = await app.db.owner.query(
      `SELECT changed.xmin::text = entry.xmin::text AS together, entry.status
       FROM ${table} changed JOIN audit_log entry USING (workspace_id) WHERE workspace_id = $1`,
      [workspace.id],
    );
    expect(rows).toEqual([{ together: true, status: 201 }]);
  });

  /** Takes from the roles of servers the right to add entries. */
  async function withoutEntries(work: () => Promise<void>): Promise<void> {
    await app.db.owner.query(
      'REVOKE EXECUTE ON FUNCTION keep_audit_entry FROM drover_app, drover_service',
    );
    try {
      await work();
    } finally {
      await app.db.owner.query(
        'GRANT EXECUTE ON FUNCTION keep_audit_entry TO drover_app, drover_service',
      );
    }
  }

  it('a change whose entry cannot be stored is undone', async () => {
    await withoutEntries(async () => {
      expect((await workspace.api.post('/projects', { name: 'A project' })).status).toBe(500);
    });
    const { body } = await workspace.api.get<Entries>('/projects');
    expect(body.items).toEqual([]);
    expect(await log()).toEqual([]);
  });

  it('a new workspace is answered although its entry cannot be stored', async () => {
    await withoutEntries(async () => {
      const named = { name: 'Another', slug: `another-${newId()}` };
      expect((await workspace.api.post('/workspaces', named)).status).toBe(201);
    });
  });
});

describe('a client that hangs up', () => {
  const MOMENTS = [0, 1, 3, 8];

  /** Sends a request on a connection of its own, and destroys the connection some ms later. */
  async function sendAndHangUp(path: string, token: string, values: object, afterMs: number) {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const body = JSON.stringify(values);
    const head = [
      `POST /api/v1${path} HTTP/1.1`,
      'host: drover',
      `authorization: Bearer ${token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    if (afterMs > 0) await delay(afterMs);
    socket.destroy();
  }

  it('each change of a client that hangs up has its entry with its address', async () => {
    const { id, key } = await aKey(['projects:write']);
    for (let n = 0; n < 25; n++) {
      await Promise.all(
        MOMENTS.map((ms) => sendAndHangUp('/projects', key, { name: `${n} after ${ms} ms` }, ms)),
      );
    }
    await waitFor('100 projects', async () => {
      const { rows } = await app.db.owner.query('SELECT FROM projects WHERE workspace_id = $1', [
        workspace.id,
      ]);
      return rows.length === 100;
    });
    const count = async () => {
      const { rows } = await app.db.owner.query<{ address: string; entries: number }>(
        `SELECT address, count(*)::int AS entries FROM audit_log
         WHERE workspace_id = $1 AND actor_id = $2 GROUP BY address`,
        [workspace.id, id],
      );
      return rows;
    };
    expect(await count()).toEqual([{ address: '127.0.0.1', entries: 100 }]);
  });

  it.each([
    ['a change without a transaction of its own', 'createWorkspace', '/workspaces'],
    ['a refusal', 'createProject', '/projects'],
  ])('%s has its entry although its client hangs up', async (_what, operation, path) => {
    const { userId } = workspace;
    const sessionId = await aSessionOf(app.db.owner, userId);
    const { token } = app.tokens.issueUserToken({ userId, sessionId, workspaceId: null });
    const sent = Array.from({ length: 5 }, () => MOMENTS).flat();
    // Only the first refusal of a caller has an entry.
    const callers = await Promise.all(
      sent.map(async () => {
        if (operation === 'createWorkspace') return { id: userId, key: token };
        return aKey(['tasks:read']);
      }),
    );
    await Promise.all(
      sent.map((ms, n) => {
        const body = { name: 'N', slug: `n-${newId()}` };
        return sendAndHangUp(path, callers[n]?.key ?? '', body, ms);
      }),
    );
    await waitFor('an entry for each request', async () => {
      const { rows } = await app.db.owner.query<{ address: string }>(
        'SELECT address FROM audit_log WHERE actor_id = ANY ($1) AND operation = $2',
        [callers.map(({ id }) => id), operation],
      );
      expect(rows.every(({ address }) => address === '127.0.0.1')).toBe(true);
      return rows.length === sent.length;
    });
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

  it('a refused read and a refused task are recorded once in ten minutes, and counted in the installation', async () => {
    const { id, api } = await aKey(['projects:read']);
    for (let n = 0; n < 5; n++) {
      expect((await api.get('/agents')).status).toBe(403);
      expect((await api.post('/agent-tasks', { title: 'A', taskType: 't' })).status).toBe(403);
      expect((await api.post('/projects', { name: 'A project' })).status).toBe(403);
    }
    const mine = await log(`?actorId=${id}`);
    expect(mine.map(({ operation, status }) => [operation, status])).toEqual([
      ['createProject', 403],
      ['createTask', 403],
      ['listAgents', 403],
    ]);
    const after = await app.db.owner.query(
      `SELECT operation, actor_id, status, address FROM installation_audit_log
       WHERE details ->> 'apiKeyId' = $1 AND details ->> 'workspaceId' = $2 ORDER BY id`,
      [id, workspace.id],
    );
    const { userId } = workspace;
    expect(after.rows).toEqual([
      { operation: 'listAgents', actor_id: userId, status: 403, address: '127.0.0.1' },
      { operation: 'createProject', actor_id: userId, status: 403, address: '127.0.0.1' },
    ]);
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
