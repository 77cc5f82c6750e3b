import { afterAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { newId } from '#lib/kernel';
import { startTestApp } from '../support/app.js';
import { aUser } from '../support/factories.js';
import { TestOpenIdProvider } from '../support/openid-provider.js';
import { type Account, anAccount, extrasOf } from './support/accounts.js';
import { readDocument } from './support/conformity.js';
import { type CallerKind, readRoutes, type Route } from './support/openapi.js';
import { type Asker, requestWith } from './support/places.js';
import { send, type Wire } from './support/requests.js';
import { anOperator, aTenant, setKeys, type Tenant } from './support/tenant.js';
import { ReusedTenant } from './support/reused-tenant.js';

/**
 * Compares successful answers with the OpenAPI document: every operation has one such answer with a
 * schema, and every caller with the right requests it. (`send` compares.)
 */

const PUBLIC_URL = 'http://drover.example.test';
const provider = await TestOpenIdProvider.start(PUBLIC_URL);
provider.person = { sub: 'ann', email: 'ann@example.test', email_verified: true };
const app = await startTestApp({
  ROLES: 'api,coordinator',
  OPEN_SIGN_UP: 'true',
  ...provider.settings(PUBLIC_URL),
});
const document = await readDocument(app.url);
const routes = await readRoutes(app.url);

afterAll(async () => {
  await app.stop();
  await provider.stop();
});

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    name: `${method.toUpperCase()} ${path}`,
    good: Object.entries(responses).filter(([status]) => status.startsWith('2')),
    responses,
  })),
);

describe.each(operations)('$name', ({ good, responses }) => {
  it('a route has one successful answer with a schema, or two if it can create', () => {
    const statuses = good.map(([status]) => status).join(' and ');
    expect(statuses).toMatch(/^(200|201|202|204|200 and 201|200 and 204)$/);
    for (const [status, { content }] of good) {
      const types = [
        'application/json',
        'text/event-stream',
        'application/octet-stream',
        'text/x-diff',
      ];
      const { schema } = types.map((type) => content?.[type]).find(Boolean) ?? {};
      expect(schema === undefined).toBe(status === '204');
    }
  });

  it('all other answers of a route are problem documents', () => {
    const bad = Object.entries(responses).filter(([status]) => !status.startsWith('2'));
    expect(bad.map(([status]) => status)).toContain('default');
    for (const [, { content }] of bad) {
      expect(Object.keys(content ?? {})).toEqual(['application/problem+json']);
    }
  });
});

describe('the document', () => {
  const headersOf = (path: string, method: string) =>
    (document.paths[`/api/v1${path}`]?.[method]?.parameters ?? [])
      .filter((parameter) => parameter.in === 'header')
      .map(({ name }) => name)
      .sort();
  const tokensOf = (path: string, method: string) =>
    (document.paths[`/api/v1${path}`]?.[method]?.security ?? []).flatMap(Object.keys);

  it.each([
    ['/agent-tasks', 'post', ['Idempotency-Key', 'X-Workspace-Id']],
    ['/agent-tasks/{id}', 'patch', ['If-Match', 'X-Workspace-Id']],
    ['/agent-tasks/{id}/cancel', 'post', ['Idempotency-Key', 'If-Match', 'X-Workspace-Id']],
    ['/agents/{id}', 'put', ['If-Match', 'X-Workspace-Id']],
    ['/workspaces/{workspaceId}', 'patch', ['If-Match']],
    ['/auth/me', 'get', []],
  ])('the document names the headers of %s %s', (path, method, names) => {
    expect(headersOf(path, method)).toEqual(names);
  });

  it.each([
    ['/agent-tasks', 'post', ['userToken', 'apiKey', 'agentToken', 'runToken']],
    ['/agent-tasks/{id}', 'get', ['userToken', 'apiKey', 'agentToken', 'runToken']],
    ['/runs/{runId}/progress', 'patch', ['agentToken', 'runToken']],
    ['/agents/{id}/heartbeat', 'post', ['agentToken', 'runToken']],
    ['/auth/me', 'get', ['userToken']],
    ['/auth/login', 'post', []],
  ])('the document names the tokens for %s %s', (path, method, names) => {
    expect(tokensOf(path, method)).toEqual(names);
    const known = Object.keys(document.components.securitySchemes);
    expect(known).toEqual(expect.arrayContaining(names));
  });
});

/** Commands that only a task in a certain status accepts. */
const NEEDED: Record<string, string> = {
  'POST /agent-tasks/{id}/archive': 'COMPLETED',
  'POST /agent-tasks/{id}/continue': 'COMPLETED',
  'POST /agent-tasks/{id}/retry': 'FAILED',
};

const reused = new ReusedTenant(() => aTenant(app));

describe.each(routes.map((route) => [route.name, route] as const))('%s', (_, route) => {
  it.each(kindsOf(route))('the route answers a %s as documented', async (kind) => {
    const ask = async (tenant: Tenant) => {
      await setKeys(app, route, tenant);
      await giveAgents(route, tenant);
      await moveChange(route, tenant);
      const { status, text } = await send(app.url, await goodRequest(route, { tenant, kind }));
      return `${status} ${text}`;
    };
    expect(await reused.ask(ask, (answer) => answer.startsWith('20'))).toMatch(/^20/);
  });
});

function kindsOf({ access }: Route): CallerKind[] {
  return access?.kinds ?? ['user'];
}

interface Who {
  tenant: Tenant;
  kind: CallerKind;
}

async function goodRequest(route: Route, { tenant, kind }: Who): Promise<Wire> {
  const { own, ...caller } = tenant.callers[kind];
  const status = NEEDED[route.name];
  const task = (status && (await aTaskThatIs(tenant, status))) ?? own.task;
  const extras = {
    ...(await bodyFor(route, { tenant, kind })),
    ...(await extrasOf(route, () => anAccount(app, tenant))),
  };
  const invitation =
    route.name === 'POST /invitations/{id}/accept'
      ? (await anInvitation(tenant)).id
      : own.invitation;
  const asker: Asker = { kind, caller: { ...caller, own: { ...own, task, invitation } }, extras };
  const wire = requestWith(route, asker, new Map());
  if (route.name === 'DELETE /users/{id}/second-factor') {
    await app.db.owner.query(
      `INSERT INTO user_factors (user_id, sealed) SELECT id, 'x' FROM users
       ON CONFLICT DO NOTHING`,
    );
  }
  if (route.access?.operator) return { ...wire, headers: await anOperator(app) };
  if (route.name.includes(' /auth/second-factor')) return asFactorOwner(wire, tenant);
  return route.name === 'POST /auth/password'
    ? asAccount(wire, await anAccount(app, tenant))
    : wire;
}

/** Only the account itself can change its password, because it knows the old one. */
function asAccount(wire: Wire, { password, accessToken }: Account): Wire {
  const text = JSON.stringify({ currentPassword: password, newPassword: newId() });
  return { ...wire, headers: { authorization: `Bearer ${accessToken}` }, text };
}

/** Returns the fields that these routes need besides the required fields of their schemas. */
async function bodyFor(route: Route, { tenant, kind }: Who): Promise<Record<string, unknown>> {
  const { task, prerequisite } = tenant.callers.user.own;
  const subtask = kind === 'agent' ? { parentTaskId: tenant.callers.agent.own.task } : {};
  switch (route.name) {
    case 'POST /agent-tasks':
      return subtask;
    case 'POST /agent-tasks/batch':
      return { tasks: [{ title: 'A task', taskType: 'test', ...subtask }] };
    case 'POST /agent-tasks/bulk/cancel':
    case 'POST /agent-tasks/bulk/retry':
    case 'POST /agent-tasks/bulk/archive':
    case 'POST /agent-tasks/bulk/priority':
    case 'POST /dead-letter/replay':
      return { ids: [task] };
    case 'POST /budgets':
      return { scopeId: tenant.callers.user.own.project };
    case 'POST /budgets/{id}/reallocate':
      return { to: tenant.callers.user.own.otherBudget };
    case 'POST /agent-tasks/{id}/dependencies':
      return { dependsOn: [prerequisite] };
    case 'POST /workspaces/{workspaceId}/members':
      return { userId: await aUserToAdd(tenant) };
    case 'POST /auth/single-sign-on/complete': {
      const { url, ...checks } = await postToAuth('single-sign-on');
      return { ...checks, parameters: new URL(await provider.follow(url ?? '')).search };
    }
    case 'POST /auth/device/complete': {
      const { deviceCode, verificationUriComplete } = await postToAuth('device');
      await provider.confirmDevice(verificationUriComplete ?? '');
      return { deviceCode };
    }
    case 'POST /auth/invitation':
    case 'POST /invitations/accept':
      return { token: (await anInvitation(tenant)).token };
    case 'POST /auth/invitation/sign-up': {
      const email = `invited-${newId()}@example.test`;
      return { token: (await anInvitation(tenant, email)).token };
    }
    case 'POST /changes/{id}/approve':
      return { headCommit: COMMIT };
    case 'POST /change-steps/{changeId}/plan':
      return { landingCommit: COMMIT };
    case 'POST /change-steps/{changeId}/report':
      return { outcome: 'released' };
    case 'POST /runs/{runId}/complete':
      return kind === 'agent' ? { claimNext: {} } : {};
    default:
      return {};
  }
}

async function postToAuth(
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const answer = await fetch(`${app.url}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, string>;
}

/** An account that has started to set up its second factor, and has enabled it if the route needs it. */
async function asFactorOwner(wire: Wire, tenant: Tenant): Promise<Wire> {
  const { password, accessToken } = await anAccount(app, tenant);
  const headers = { authorization: `Bearer ${accessToken}` };
  const isStart = wire.path.endsWith('/second-factor');
  if (isStart) return { ...wire, headers, text: wire.text && JSON.stringify({ password }) };
  const { secret = '' } = await postToAuth('second-factor', { password }, headers);
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const before = { code: totp.generate({ timestamp: Date.now() - 30_000 }) };
  const isFirst = wire.path.endsWith('/complete');
  if (!isFirst) await postToAuth('second-factor/complete', before, headers);
  const body = isFirst ? before : { code: totp.generate() };
  return { ...wire, headers, text: JSON.stringify(body) };
}

/** Routes of conversations need tasks with a coding agent. */
async function giveAgents({ name }: Route, { workspaceId }: Tenant): Promise<void> {
  if (!/\/(continue|messages)$/.test(name)) return;
  await app.db.owner.query(
    `UPDATE agent_tasks SET agent = '{"kind": "codex"}' WHERE workspace_id = $1`,
    [workspaceId],
  );
}

const HELD_STEP = `step_due_at = now(), step_agent_id = $2, step_generation = 1,
  step_until = now() + interval '1 hour'`;

/** A commit of its change. */
const COMMIT = 'a'.repeat(40);

/** What these routes need of the change of the held task, which waits for a review. */
const MOVES: [RegExp, sql: string][] = [
  // A run with a change submits it instead.
  [
    /\/complete$/,
    `UPDATE agent_tasks SET repository_id = NULL WHERE workspace_id = $1 AND $2::uuid IS NOT NULL`,
  ],
  [
    /\/check\/(renew|release|report)$/,
    `UPDATE repositories SET check_state = 'running', check_agent_id = $2, check_generation = 1,
       check_until = now() + interval '1 hour' WHERE workspace_id = $1`,
  ],
  [
    /\/changes\/{id}\/merge$/,
    `UPDATE changes SET state = 'APPROVED', step = 'land', step_due_at = now()
     WHERE workspace_id = $1 AND $2::uuid IS NOT NULL`,
  ],
  [
    /\/change-steps\/.*\/(plan|not-landed)$/,
    `UPDATE changes SET state = 'APPROVED', step = 'land', ${HELD_STEP} WHERE workspace_id = $1`,
  ],
  [
    /\/change-steps\/.*\/(renew|report|pull-request)$/,
    `UPDATE changes SET state = 'PROVING', step = 'prove', ${HELD_STEP} WHERE workspace_id = $1`,
  ],
];

async function moveChange({ name }: Route, { workspaceId, callers }: Tenant): Promise<void> {
  const sql = MOVES.find(([routes]) => routes.test(name))?.[1];
  if (sql !== undefined) await app.db.owner.query(sql, [workspaceId, callers.agent.own.agent]);
}

/** @returns undefined if earlier requests have moved all such tasks */
async function aTaskThatIs({ workspaceId }: Tenant, status: string): Promise<string | undefined> {
  const { rows } = await app.db.owner.query<{ id: string }>(
    'SELECT id FROM agent_tasks WHERE workspace_id = $1 AND status = $2',
    [workspaceId, status],
  );
  return rows[0]?.id;
}

/** Creates the user whom the tenant can add as an operator. */
async function aUserToAdd({ userId }: Tenant): Promise<string> {
  await app.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
  return aUser(app.db.owner);
}

/** The target is another workspace than the tenant's current one. The default address is the user's. */
async function anInvitation({ userId }: Tenant, email?: string) {
  const { rows } = await app.db.owner.query<{ email: string }>(
    'SELECT email FROM users WHERE id = $1',
    [userId],
  );
  const { api, id } = await app.newWorkspace();
  const body = { email: email ?? rows[0]?.email, role: 'VIEWER' };
  const invited = await api.post<{ id: string; link: string }>(
    `/workspaces/${id}/invitations`,
    body,
  );
  return { id: invited.body.id, token: invited.body.link.split('#')[1] };
}
