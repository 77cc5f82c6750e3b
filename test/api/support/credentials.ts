import { SCOPES } from '#lib/identity';
import type { TestServer } from '../../support/shared-server.js';
import { aMember } from '../../support/factories.js';
import { forge, type Forged } from './forgery.js';
import type { Access, CallerKind } from './openapi.js';
import { anOperator, aSession, anApiKey, aTenant, type Tenant, userToken } from './tenant.js';

export const SECRET = 'a secret of the tests that is long enough';

/** Credentials that are insufficient for a route, and the refusal. */
export interface Refused {
  what: string;
  headers: Record<string, string>;
  status: number;
  code: string;
}

type Headers = Record<string, string>;

/** Credentials that were valid once, or are valid elsewhere. Created once for a test file. */
export interface Wardrobe {
  tenant: Tenant;
  /** The users of the tenant, by role. */
  users: Record<string, Headers>;
  keys: Record<'VIEWER' | 'MEMBER' | 'projects' | 'agents' | 'expired' | 'revoked', Headers>;
  ended: { what: string; headers: Headers; code: string; status: number }[];
}

const ROLES = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'];

export async function aWardrobe(app: TestServer): Promise<Wardrobe> {
  const tenant = await aTenant(app);
  const { workspaceId } = tenant;
  const owner = tenant.callers.user.headers;
  const users: Record<string, Headers> = {};
  for (const role of ROLES) {
    const userId = await aMember(app.db.owner, workspaceId, role);
    users[role] = {
      ...userToken(app, userId, await aSession(app, userId)),
      ...inside(workspaceId),
    };
  }
  const key = async (values: Record<string, unknown>) =>
    anApiKey(app, workspaceId, { authorization: String(owner.authorization) }, values);
  const expired = await key({});
  await app.db.owner.query(
    `UPDATE api_keys SET created_at = now() - interval '2 days', expires_at = now() - interval '1 day'
     WHERE id = $1`,
    [expired.id],
  );
  const revoked = await key({});
  await call(app, owner, 'DELETE', `/workspaces/${workspaceId}/api-keys/${revoked.id}`);
  return {
    tenant,
    users,
    keys: {
      VIEWER: bearer((await key({ role: 'VIEWER' })).key),
      MEMBER: bearer((await key({ role: 'MEMBER' })).key),
      projects: bearer((await key({ scopes: ['projects:read'] })).key),
      agents: bearer((await key({ scopes: ['agents:read'] })).key),
      expired: bearer(expired.key),
      revoked: bearer(revoked.key),
    },
    ended: [...(await endedTokens(app, tenant)), ...(await archivedTokens(app))],
  };
}

async function endedTokens(app: TestServer, tenant: Tenant): Promise<Wardrobe['ended']> {
  const { workspaceId, userId, callers } = tenant;
  const sessionId = await aSession(app, userId);
  const ended = { ...userToken(app, userId, sessionId), ...inside(workspaceId) };
  await call(app, callers.user.headers, 'DELETE', `/auth/sessions/${sessionId}`);

  const disabledId = await aMember(app.db.owner, workspaceId, 'OWNER');
  const disabled = userToken(app, disabledId, await aSession(app, disabledId));
  await call(app, await anOperator(app), 'PATCH', `/users/${disabledId}`, { disabled: true });

  const agentId = tenant.ids.agent[1] as string;
  const { token } = app.tokens.issueAgentToken({ workspaceId, agentId, tokenVersion: 1 });
  await call(app, callers.user.headers, 'POST', `/agents/${agentId}/token`, { rotate: true });
  const revoked = { status: 401, code: 'token_revoked' };
  return [
    { what: 'a token of a session that was ended', headers: ended, ...revoked },
    { what: 'a token of an agent whose tokens were rotated', headers: bearer(token), ...revoked },
    { what: 'a token of a disabled user', headers: disabled, ...revoked },
  ];
}

async function archivedTokens(app: TestServer): Promise<Wardrobe['ended']> {
  const { workspaceId, callers } = await aTenant(app);
  await call(app, callers.user.headers, 'POST', `/workspaces/${workspaceId}/archive`);
  return (['api_key', 'agent', 'run'] as const).map((kind) => ({
    what: `credentials of the kind ${kind} of an archived workspace`,
    headers: callers[kind].headers,
    status: 401,
    code: 'token_revoked',
  }));
}

/** Every route refuses these with 401. */
export function badCredentials(wardrobe: Wardrobe, kind: CallerKind): Refused[] {
  const good = String(wardrobe.tenant.callers[kind].headers.authorization).replace('Bearer ', '');
  const none = (what: string, headers: Headers): Refused => ({
    what,
    headers,
    status: 401,
    code: 'unauthenticated',
  });
  return [
    none('no credentials', {}),
    none('another scheme', { authorization: `Basic ${good}` }),
    none('a scheme without a token', { authorization: 'Bearer ' }),
    ...(kind === 'api_key' ? badKeys(wardrobe, good) : forgeries(good, kind)),
    ...wardrobe.ended,
  ];
}

function badKeys({ keys }: Wardrobe, good: string): Refused[] {
  const unknown = good.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const refused = (what: string, headers: Headers, code: string): Refused => ({
    what,
    headers,
    status: 401,
    code,
  });
  return [
    refused('an API key that nobody made', bearer(unknown), 'invalid_token'),
    refused('something like an API key', bearer('drv_x'), 'invalid_token'),
    refused('an expired API key', keys.expired, 'token_expired'),
    refused('a revoked API key', keys.revoked, 'token_revoked'),
  ];
}

function forgeries(good: string, kind: CallerKind): Refused[] {
  const hour = 3_600;
  const now = Math.floor(Date.now() / 1000);
  const other = kind === 'user' ? 'agent' : 'user';
  const ours: [string, Forged][] = [
    ['another issuer', { payload: { iss: 'https://elsewhere.example' } }],
    ['no issuer', { payload: { iss: undefined } }],
    ['another audience', { payload: { aud: 'drover:others' } }],
    ['the audience of another kind', { payload: { aud: `drover:${other}` } }],
    ['several audiences', { payload: { aud: [`drover:${kind}`, `drover:${other}`] } }],
    ['no audience', { payload: { aud: undefined } }],
    ['another type', { payload: { typ: other } }],
    ['an unknown type', { payload: { typ: 'root' } }],
    ['no subject', { payload: { sub: undefined } }],
    ['a subject that is no id', { payload: { sub: "' OR 1=1" } }],
    ['no expiry', { payload: { exp: undefined } }],
    ['an expiry that is a text', { payload: { exp: 'never' } }],
    ['a time from which it is good', { payload: { nbf: now + hour } }],
    ['another algorithm of HMAC', { header: { alg: 'HS512' }, hash: 'sha512' }],
    ['an algorithm that it is not signed with', { header: { alg: 'RS256' } }],
    ['an unknown key id', { header: { kid: '__proto__' } }],
    ['no key id', { header: { kid: undefined } }],
  ];
  const others: [string, Forged][] = [
    ['the algorithm none', { header: { alg: 'none' }, hash: null }],
    ['the algorithm none, yet signed', { header: { alg: 'none' }, secret: SECRET }],
    ['no signature', { hash: null }],
    ['another secret', { secret: 'another secret that is long enough as well' }],
    ['an empty secret', { secret: '' }],
  ];
  const made = [
    ...ours.map(([what, forged]) => [what, { secret: SECRET, ...forged }] as const),
    ...others,
  ];
  const expired = forge(good, {
    secret: SECRET,
    payload: { iat: now - 2 * hour, exp: now - hour },
  });
  return [
    ...made.map(([what, forged]) => ({
      what: `a ${kind} token with ${what}`,
      headers: bearer(forge(good, forged)),
      status: 401,
      code: 'invalid_token',
    })),
    {
      what: `an expired ${kind} token`,
      headers: bearer(expired),
      status: 401,
      code: 'token_expired',
    },
  ];
}

/** Valid credentials that do not fit this route. */
export function wrongCredentials(wardrobe: Wardrobe, access: Access): Refused[] {
  const { tenant } = wardrobe;
  const kinds = ['user', 'api_key', 'agent', 'run'] as const;
  const wrongKinds = kinds
    .filter((kind) => !access.kinds.includes(kind))
    .map((kind) => ({
      what: `credentials of the kind ${kind}`,
      headers: tenant.callers[kind].headers,
      status: 401,
      code: 'wrong_token_kind',
    }));
  return [...wrongKinds, ...withoutScope(wardrobe, access), ...withoutRole(wardrobe, access)];
}

function withoutScope({ keys }: Wardrobe, { scope }: Access): Refused[] {
  if (scope === undefined) return [];
  if (!(SCOPES as readonly string[]).includes(scope)) throw new Error(`No such scope: ${scope}`);
  const headers = scope.startsWith('projects:') ? keys.agents : keys.projects;
  return [
    { what: 'an API key for other things', headers, status: 403, code: 'insufficient_scope' },
  ];
}

function withoutRole({ users, keys }: Wardrobe, access: Access): Refused[] {
  const forbidden = { status: 403, code: 'forbidden' };
  if (access.operator) {
    const headers = users.OWNER as Headers;
    return [{ what: 'an OWNER who is no operator', headers, ...forbidden }];
  }
  const lesser = ROLES[ROLES.indexOf(access.role ?? 'VIEWER') - 1];
  if (lesser === undefined) return [];
  const user = { what: `a ${lesser}`, headers: users[lesser] as Headers, ...forbidden };
  const takesKeys =
    access.kinds.includes('api_key') && (lesser === 'VIEWER' || lesser === 'MEMBER');
  if (!takesKeys) return [user];
  return [user, { what: `an API key of a ${lesser}`, headers: keys[lesser], ...forbidden }];
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

function inside(workspaceId: string): Headers {
  return { 'x-workspace-id': workspaceId };
}

async function call(
  app: TestServer,
  headers: Headers,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> {
  const type: Headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${app.url}/api/v1${path}`, {
    method,
    headers: { ...headers, ...type },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
}
