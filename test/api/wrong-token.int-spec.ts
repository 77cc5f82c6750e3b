import { afterAll, describe, expect, it } from '@jest/globals';
import { startTestApp } from '../support/app.js';
import {
  aWardrobe,
  badCredentials,
  type Refused,
  SECRET,
  wrongCredentials,
} from './support/credentials.js';
import { KeptState } from './support/digest.js';
import { forge } from './support/forgery.js';
import { type Access, readRoutes, type Route } from './support/openapi.js';
import { requestWith } from './support/places.js';
import { send, type WireAnswer } from './support/requests.js';

/**
 * Sends every protected route of the OpenAPI document every sort of credentials that it must
 * refuse.
 */

/**
 * Public routes, and routes of gateways, which have their own guard. A new route is protected
 * unless it is listed here.
 */
const PUBLIC = [
  'GET /auth/methods',
  'GET /health/coordinator',
  'GET /healthz',
  'GET /readyz',
  'POST /auth/device',
  'POST /auth/device/complete',
  'POST /auth/single-sign-on',
  'POST /auth/single-sign-on/complete',
  'POST /auth/invitation',
  'POST /auth/invitation/sign-up',
  'POST /auth/login',
  'POST /auth/refresh',
  'POST /auth/sign-up',
  'POST /gateway/heartbeat',
  'POST /gateway/sessions',
  'POST /gateway/signals',
];

// A fast machine sends more requests than an address allows.
const app = await startTestApp({ ROLES: 'api', REQUESTS_PER_SECOND_PER_ADDRESS: '0' });
const routes = await readRoutes(app.url);
const wardrobe = await aWardrobe(app);
/** Refused requests change the audit log, and nothing else. */
const state = await KeptState.of(app.db.owner, ['audit_log']);
const isProtected = (route: Route): route is Route & { access: Access } =>
  route.access !== undefined;

afterAll(() => app.stop());

it('every route is protected, or listed as public', () => {
  const open = routes.filter((route) => !isProtected(route)).map(({ name }) => name);
  expect(open.sort()).toEqual([...PUBLIC].sort());
});

// Otherwise the forged tokens could be refused for another reason than the intended one.
it.each(['user', 'agent', 'run'] as const)(
  'a correctly forged %s token is accepted',
  async (kind) => {
    const route = routes.find(({ name }) => name === 'GET /agent-tasks/{id}') as Route;
    const caller = wardrobe.tenant.callers[kind];
    const good = String(caller.headers.authorization).replace('Bearer ', '');
    const authorization = `Bearer ${forge(good, { secret: SECRET, payload: { jti: 'another' } })}`;
    const asker = { kind, caller: { ...caller, headers: { ...caller.headers, authorization } } };
    const answer = await send(app.url, requestWith(route, asker, new Map()));
    expect(answer.status).toBe(200);
  },
);

describe.each(routes.filter(isProtected).map((route) => [route.name, route] as const))(
  '%s',
  (_, route) => {
    it.each(route.access.kinds)('invalid credentials of a %s are refused', async (kind) => {
      for (const refused of badCredentials(wardrobe, kind))
        await expectRefused(route, kind, refused);
    });

    it('credentials of other callers are refused', async () => {
      const kind = route.access.kinds[0] as Access['kinds'][number];
      for (const refused of wrongCredentials(wardrobe, route.access)) {
        await expectRefused(route, kind, refused);
      }
    });

    it('refused tokens change no row', async () => {
      await state.expectUnchanged();
    });
  },
);

/** The caller has the right to the request, except for the credentials. */
async function expectRefused(route: Route, kind: Access['kinds'][number], refused: Refused) {
  const caller = wardrobe.tenant.callers[kind];
  const asker = { kind, caller: { ...caller, headers: refused.headers } };
  const answer = await send(app.url, requestWith(route, asker, new Map()));
  const { what, status, code } = refused;
  expect({ what, status: answer.status, code: answer.body.code }).toEqual({ what, status, code });
  expectProblem(answer);
}

function expectProblem({ status, headers, body }: WireAnswer): void {
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  expect(body).toMatchObject({ status, requestId: expect.any(String) });
}
