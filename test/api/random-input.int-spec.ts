import { afterAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sharedServer } from '../support/shared-server.js';
import { readRoutes, type Route } from './support/openapi.js';
import type { Schema } from './support/schemas.js';
import { requestWith } from './support/places.js';
import { send, type WireAnswer } from './support/requests.js';
import { sampleOf } from './support/samples.js';
import { aTenant } from './support/tenant.js';

/** Sends random JSON to the most used routes: they refuse or accept it, and never answer 500. */

const RUNS = 60;

const app = await sharedServer();
const routes = await readRoutes(app.url);
const tenant = await aTenant(app);

afterAll(() => app.stop());

const HOT = [
  ['POST /agent-tasks', 'user'],
  ['POST /agent-tasks/batch', 'api_key'],
  ['POST /agents/{id}/heartbeat', 'agent'],
  ['POST /agents/{id}/signals', 'agent'],
  ['PATCH /runs/{runId}/progress', 'run'],
  ['POST /runs/{runId}/logs', 'run'],
] as const;

it.each(HOT)('%s answers or refuses any JSON of a %s', async (name, kind) => {
  const route = routeOf(name);
  const good = requestWith(route, { kind, caller: tenant.callers[kind] }, new Map());
  await fc.assert(
    fc.asyncProperty(bodies(route.body ?? {}), async (body) => {
      expectAnswered(await send(app.url, { ...good, text: JSON.stringify(body) }));
    }),
    { numRuns: RUNS },
  );
});

it('GET /agent-tasks answers or refuses any query', async () => {
  const route = routeOf('GET /agent-tasks');
  const { headers } = tenant.callers.user;
  const names = route.queryParams.map((parameter) => parameter.name);
  const query = fc.array(
    fc.tuple(fc.constantFrom(...names, 'priority>', 'priority<', '__proto__'), texts()),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(query, async (pairs) => {
      const text = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      expectAnswered(
        await send(app.url, { method: 'GET', path: `${route.path}?${text}`, headers }),
      );
    }),
    { numRuns: RUNS },
  );
});

function routeOf(name: string): Route {
  const route = routes.find((candidate) => candidate.name === name);
  if (!route) throw new Error(`There is no ${name} any more: take another hot route.`);
  return route;
}

/**
 * Fields of the schema, some with valid values and some with random ones, and sometimes random
 * JSON.
 */
function bodies(schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {});
  const shape = Object.fromEntries(fields.map(([name, field]) => [name, valuesFor(field)]));
  const records = fc.record(shape, { requiredKeys: schema.required ?? [] });
  return fc.oneof({ weight: 4, arbitrary: records }, { weight: 1, arbitrary: anyJson() });
}

function valuesFor(schema: Schema): fc.Arbitrary<unknown> {
  const right = fc.constant(sampleOf(schema));
  const random = schema.additionalProperties
    ? fc.dictionary(fc.string({ unit: 'binary' }), anyJson())
    : anyJson();
  if (schema.type !== 'array') return fc.oneof(right, random);
  return fc.oneof(right, random, fc.array(valuesFor(schema.items ?? {}), { maxLength: 4 }));
}

function anyJson(): fc.Arbitrary<unknown> {
  return fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
}

function texts(): fc.Arbitrary<string> {
  const likely = [
    '1',
    '-1',
    'true',
    'PENDING',
    '2026-01-31T12:00:00Z',
    tenant.ids.task[0] as string,
  ];
  return fc.oneof(fc.constantFrom(...likely), fc.string({ unit: 'grapheme' }));
}

function expectAnswered({ status, headers, body }: WireAnswer): void {
  if (status >= 200 && status < 300) return;
  expect({ status, body }).toEqual({
    status: expect.any(Number),
    body: expect.objectContaining({ status, code: expect.any(String) }),
  });
  expect(status).toBeLessThan(500);
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
}
