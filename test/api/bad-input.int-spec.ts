import { afterAll, describe, expect, it } from '@jest/globals';
import { startTestApp } from '../support/app.js';
import { BAD_CURSORS, BAD_IDS, badQueries } from './support/bad-queries.js';
import { KeptState } from './support/digest.js';
import { badBodies, NO_OBJECTS } from './support/mutations.js';
import { type CallerKind, readRoutes, type Route } from './support/openapi.js';
import { headerPlaces, requestWith } from './support/places.js';
import { send, type Wire, type WireAnswer } from './support/requests.js';
import { anOperator, aTenant } from './support/tenant.js';

/**
 * Sends every route of the OpenAPI document every field, parameter and id with every wrong value
 * that its schema implies. The answer is a problem document that names the place, and no row
 * changes.
 */

// A fast machine sends more requests than a token allows.
const app = await startTestApp({ ROLES: 'api', REQUESTS_PER_SECOND_PER_TOKEN: '0' });
const routes = await readRoutes(app.url);
const tenant = await aTenant(app);
const operator = await anOperator(app);
const state = await KeptState.of(app.db.owner);

afterAll(() => app.stop());

const ID = '0190a000-0000-7000-8000-000000000000';

type Named = [string, Route];
const withBody = routes.filter(({ body }) => body).map((route): Named => [route.name, route]);
const all = routes.map((route): Named => [route.name, route]);

describe.each(all)('%s', (_, route) => {
  const good = goodRequest(route);
  if (route.body) {
    it('the error for a body names the wrong field', async () => {
      const bodies = badBodies(route.body ?? {});
      expect(bodies.length).toBeGreaterThan(3);
      const wrong: string[] = [];
      for (const { what, field, text } of bodies) {
        const answer = await send(app.url, { ...good, text });
        wrong.push(...complaints(`${field}, ${what}`, answer, field));
      }
      expect(wrong).toEqual([]);
    });

    it('only objects are accepted as a body', async () => {
      const wrong: string[] = [];
      for (const [what, text] of NO_OBJECTS) {
        wrong.push(...complaints(what, await send(app.url, { ...good, text }), 'body'));
      }
      expect(wrong).toEqual([]);
    });
  }

  if (route.queryParams.length > 0) {
    it('the error for a query names the wrong parameter', async () => {
      const wrong: string[] = [];
      for (const { what, field, text } of badQueries(route)) {
        const answer = await send(app.url, { ...good, path: `${good.path}?${text}` });
        wrong.push(...complaints(`${field}, ${what}`, answer, field));
      }
      expect(wrong).toEqual([]);
    });
  }

  if (route.queryParams.some(({ name }) => name === 'cursor')) {
    it('cursors that no list issues are refused', async () => {
      const wrong: string[] = [];
      for (const cursor of BAD_CURSORS) {
        const answer = await send(app.url, { ...good, path: `${good.path}?cursor=${cursor}` });
        wrong.push(...complaints(Buffer.from(cursor, 'base64url').toString(), answer, 'cursor'));
      }
      expect(wrong).toEqual([]);
    });
  }

  if (route.pathParams.length > 0) {
    it.each(route.pathParams.map(({ name }) => name))(
      'the error names {%s} if it is no UUID',
      async (name) => {
        const wrong: string[] = [];
        for (const [what, id] of BAD_IDS) {
          const path = route.path
            .split('/')
            .map((part, index) => (part === `{${name}}` ? id : good.path.split('/')[index]))
            .join('/');
          const answer = await send(app.url, { ...good, path });
          wrong.push(...complaints(what, answer, name, 'path'));
        }
        expect(wrong).toEqual([]);
      },
    );
  }

  if (headerPlaces(route).length > 0) {
    it.each(['not-a-uuid', `${tenant.workspaceId}, ${tenant.workspaceId}`, ' '])(
      'the X-Workspace-Id "%s" is refused',
      async (id) => {
        const headers = { ...good.headers, 'x-workspace-id': id };
        const answer = await send(app.url, { ...good, headers });
        expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_header' } });
        expect(answer.body.detail).toContain('X-Workspace-Id');
      },
    );
  }

  it('refused input changes no row', async () => {
    await state.expectUnchanged();
  });
});

describe.each(withBody)('%s', (_, route) => {
  const good = goodRequest(route);
  const cases: [string, string | Uint8Array, string, number][] = [
    ['JSON that is cut off', '{"a": ', 'malformed_json', 400],
    ['two values', '{} {}', 'malformed_json', 400],
    ['a comment', '{/* a */}', 'malformed_json', 400],
    ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), 'malformed_json', 400],
    ['more than 1 MiB', `{"a":"${'x'.repeat(1_048_576 - 7)}"}`, 'payload_too_large', 413],
  ];

  it.each(cases)('a body that is %s is refused', async (_what, body, code, status) => {
    const answer = await sendAs(good, body, 'application/json');
    expect(answer).toMatchObject({ status, body: { code, requestId: expect.any(String) } });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; x'])(
    'a body of the type %s is refused',
    async (type) => {
      const answer = await sendAs(good, 'a=b', type);
      expect([400, 415]).toContain(answer.status);
      expect(answer.body).toMatchObject({ code: expect.any(String) });
    },
  );
});

// Fields that are valid by themselves, and invalid together.
it.each([
  ['POST /agent-tasks/bulk/cancel', {}, 'filter'],
  ['POST /agent-tasks/bulk/cancel', { filter: {} }, 'filter'],
  ['POST /agent-tasks/bulk/cancel', { filter: { status: [] } }, 'filter.status'],
  ['POST /agent-tasks/bulk/cancel', { filter: { sort: 'oldest' } }, 'filter.sort'],
  ['POST /dead-letter/replay', { filter: { sort: 'newest' } }, 'filter.sort'],
  ['POST /agent-tasks/bulk/retry', { filter: { status: [], priority: 5 } }, 'filter.status'],
  ['POST /agent-tasks/bulk/cancel', { ids: [ID], filter: { priority: 1 } }, 'filter'],
  ['POST /agent-tasks', { title: 'a', taskType: 'b', milestoneId: ID }, 'milestoneId'],
  [
    'POST /agent-tasks/batch',
    { tasks: [{ title: 'a', taskType: 'b', milestoneId: ID }] },
    'tasks[0].milestoneId',
  ],
  ['POST /agent-tasks', { title: 'a', taskType: 'b', dependsOn: [ID, ID] }, 'dependsOn[1]'],
  ['POST /agent-tasks', { title: 'a', taskType: 'b', dependsOn: [{ ref: 'c' }] }, 'dependsOn[0]'],
  ['POST /workspaces/{workspaceId}/members', { role: 'VIEWER', email: 'a@b.c' }, 'userId'],
  [
    'PUT /agents/{id}',
    { name: 'a', heartbeatIntervalSeconds: 60, staleThresholdSeconds: 30 },
    'staleThresholdSeconds',
  ],
])('%s refuses %j', async (name, body, field) => {
  const route = routes.find((candidate) => candidate.name === name) as Route;
  const answer = await send(app.url, { ...goodRequest(route), text: JSON.stringify(body) });
  expect(complaints(field, answer, field)).toEqual([]);
  await state.expectUnchanged();
});

/** A request that its caller has the right to make. */
function goodRequest(route: Route): Wire {
  const kind: CallerKind = route.access?.kinds[0] ?? 'user';
  const caller = tenant.callers[kind];
  const headers = route.access?.operator ? operator : caller.headers;
  return requestWith(route, { kind, caller: { ...caller, headers } }, new Map());
}

function sendAs(good: Wire, text: string | Uint8Array, type: string): Promise<WireAnswer> {
  return send(app.url, { ...good, text, headers: { ...good.headers, 'content-type': type } });
}

/** Lists the errors in the answer to a request with one wrong value. */
function complaints(
  what: string,
  { status, headers, body, text }: WireAnswer,
  ...fields: string[]
) {
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  const named = body.errors?.map(({ field }) => field) ?? [];
  const isNamed = named.some((name) => fields.some((field) => concerns(name, field)));
  const complete = isProblem && body.code !== undefined && body.requestId !== undefined;
  if (status === 400 && complete && isNamed) return [];
  return [`${what}: ${status} ${text.slice(0, 300)}`];
}

/** An error can name a list by its item, and a place inside a value by its own path. */
function concerns(named: string, field: string): boolean {
  return named.startsWith(field) || field.startsWith(`${named}[`) || field.startsWith(`${named}.`);
}
