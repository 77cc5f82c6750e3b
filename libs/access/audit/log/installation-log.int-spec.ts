import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { pruneAuditLog } from '../index.js';
import type { InstallationEntryView } from './installation-log.js';

let app: TestServer;
let operator: TestWorkspace;

beforeAll(async () => {
  // Refusals of one address are one entry for ten minutes, so those of other files would be missed.
  app = await sharedServer('api', 'installation-log');
});

beforeEach(async () => {
  operator = await app.newWorkspace();
  await app.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [operator.userId]);
});

afterAll(() => app.stop());

async function log(account: string): Promise<InstallationEntryView[]> {
  const path = `/installation/audit-log?account=${encodeURIComponent(account)}`;
  const { status, body } = await operator.api.get<{ items: InstallationEntryView[] }>(path);
  expect(status).toBe(200);
  return body.items;
}

const anEmail = () => `${newId()}@example.test`;
const emailOf = async (userId: string) => {
  const { rows } = await app.db.owner.query<{ email: string }>(
    'SELECT email FROM users WHERE id = $1',
    [userId],
  );
  return rows[0]?.email ?? '';
};

async function aUser(email = anEmail()) {
  const user = { email, name: 'A user' };
  const { body } = await operator.api.post<{ id: string; generatedPassword: string }>(
    '/users',
    user,
  );
  return { email, id: body.id, password: body.generatedPassword };
}

describe('the audit log of the installation', () => {
  it('the log has sign-ins, sign-outs and refused attempts with account and address', async () => {
    const { email, id, password } = await aUser();
    const anybody = apiClient(app.url, {});
    await anybody.post('/auth/login', { email, password: 'a wrong password' });
    const signedIn = await anybody.post<{ accessToken: string }>('/auth/login', {
      email,
      password,
    });
    expect(signedIn.status).toBe(200);
    const user = apiClient(app.url, { authorization: `Bearer ${signedIn.body.accessToken}` });
    expect((await user.post('/users', {})).status).toBe(403);
    expect((await user.post('/auth/logout')).status).toBe(204);
    expect(await log(email)).toMatchObject([
      { operation: 'signOut', status: 204, actorId: id, address: '127.0.0.1' },
      { operation: 'createUser', status: 403, actorId: id },
      { operation: 'signIn', status: 200, actorId: id },
      { operation: 'signIn', status: 401, actorId: null, address: '127.0.0.1', attempts: 1 },
    ]);
    expect(JSON.stringify(await log(email))).not.toContain(password);
  });

  it('the log has what operators do with accounts, passwords and flags', async () => {
    const { id, email } = await aUser();
    await operator.api.patch(`/users/${id}`, { isOperator: true });
    await operator.api.post(`/users/${id}/password`);
    await operator.api.patch(`/users/${id}`, { isOperator: false, disabled: true });
    expect(await log(await emailOf(operator.userId))).toMatchObject([
      { operation: 'changeUser', details: { isOperator: false, disabled: true } },
      { operation: 'resetUserPassword', path: `/api/v1/users/${id}/password` },
      { operation: 'changeUser', path: `/api/v1/users/${id}`, details: { isOperator: true } },
      { operation: 'createUser', status: 201, details: { email }, actorId: operator.userId },
    ]);
  });

  it('events for hooks are no entries unless they are refused', async () => {
    const since = new Date().toISOString();
    const workspace = await app.newWorkspace();
    const rules = [{ on: 'push', do: 'create_task', task: { title: 'A push', taskType: 'push' } }];
    const hook = await workspace.api.post<{ id: string; secret: string }>('/inbound-hooks', {
      kind: 'github',
      rules,
    });
    const body = JSON.stringify({ email: anEmail() });
    const signature = createHmac('sha256', hook.body.secret).update(body).digest('hex');
    const send = (signed: string) =>
      fetch(`${app.url}/api/v1/hooks/${hook.body.id}`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'ping',
          'x-github-delivery': newId(),
          'x-hub-signature-256': `sha256=${signed}`,
        },
      });
    expect([(await send(signature)).ok, (await send('0'.repeat(64))).status]).toEqual([true, 401]);
    const path = `/installation/audit-log?operation=sendEventToHook&from=${since}`;
    const { body: kept } = await operator.api.get<{ items: InstallationEntryView[] }>(path);
    expect(kept.items.map(({ status }) => status)).toEqual([401]);
  });

  it('reads without good credentials are one entry', async () => {
    const since = new Date().toISOString();
    const anybody = apiClient(app.url, { authorization: `Bearer drv_${'x'.repeat(43)}` });
    for (const path of ['/agents', '/agent-tasks', '/auth/me']) {
      expect((await anybody.get(path)).status).toBe(401);
    }
    const path = `/installation/audit-log?from=${since}`;
    const { body } = await operator.api.get<{ items: InstallationEntryView[] }>(path);
    expect(body.items).toMatchObject([
      { operation: 'listAgents', status: 401, account: null, address: '127.0.0.1', attempts: 1 },
    ]);
  });

  it('a flood of refused attempts makes two entries at once', async () => {
    const email = anEmail();
    const anybody = apiClient(app.url, {});
    for (let n = 0; n < 15; n++) {
      await anybody.post('/auth/login', { email, password: 'a wrong password' });
    }
    expect(await log(email)).toMatchObject([
      { status: 429, attempts: 1 },
      { status: 401, attempts: 1 },
    ]);
  });

  it('only operators see the log', async () => {
    const owner = await app.newWorkspace('OWNER');
    expect((await owner.api.get('/installation/audit-log')).status).toBe(403);
  });
});

describe('audit rows', () => {
  it('no role of a server can change or remove audit rows', async () => {
    const { rows } = await app.db.owner.query(
      `SELECT r.rolname, t.name, p.privilege
         FROM pg_roles r, unnest(ARRAY['audit_log', 'installation_audit_log']) AS t (name),
           unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE']) AS p (privilege)
        WHERE NOT r.rolsuper AND r.oid <> (SELECT relowner FROM pg_class WHERE relname = t.name)
          AND r.rolname LIKE 'drover%'
          AND (has_table_privilege(r.oid, t.name, p.privilege)
            OR p.privilege = 'UPDATE' AND has_any_column_privilege(r.oid, t.name, 'UPDATE'))`,
    );
    expect(rows).toEqual([]);
  });

  it('the service removes old entries by a function, and no others', async () => {
    const old = (table: string, columns: string, values: string) =>
      app.db.owner.query(
        `INSERT INTO ${table} (id, operation, path, status, request_id, address${columns})
         VALUES (uuidv7(interval '-40 days'), 'anOldOne', '/', 200, 'r', 'a'${values})`,
      );
    await old('installation_audit_log', '', '');
    await old(
      'audit_log',
      ', workspace_id, actor_kind, actor_id',
      `, '${operator.id}', 'user', '${operator.userId}'`,
    );
    await aUser();
    await operator.api.post('/projects', { name: 'A project' });
    const removed = () =>
      app.db.database.service.rows(pruneAuditLog, [30, 1_000]).then(([row]) => row?.removed);
    expect(await removed()).toBe(1);
    expect(await removed()).toBe(0);
    const { rows } = await app.db.owner.query(
      `SELECT operation FROM installation_audit_log UNION ALL SELECT operation FROM audit_log`,
    );
    expect(rows).not.toContainEqual({ operation: 'anOldOne' });
    expect(rows.length).toBeGreaterThan(1);
  });
});
