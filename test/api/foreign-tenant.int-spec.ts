import { afterAll, describe, expect, it } from '@jest/globals';
import pLimit from 'p-limit';
import { newId } from '#lib/kernel';
import { startTestApp } from '../support/app.js';
import { type Digest, digestOfWorkspace, KeptState } from './support/digest.js';
import { isGatewayRoute } from './support/gateway.js';
import { type CallerKind, readRoutes, type Route } from './support/openapi.js';
import {
  type Asker,
  headerPlaces,
  type Ids,
  type Place,
  placesOf,
  requestWith,
} from './support/places.js';
import { send, type WireAnswer } from './support/requests.js';
import { aTenant, setKeys, type Tenant } from './support/tenant.js';
import { anAccount, extrasOf } from './support/accounts.js';
import { ReusedTenant } from './support/reused-tenant.js';

/**
 * Walks every route of the OpenAPI document as members, programs, agents and runs of workspace B,
 * with ids of workspace A in every place of an id. The answers must be the same as for unknown ids.
 */

/** Routes that name nothing by its id. A new route is walked unless it is listed here. */
const NAMELESS = [
  'GET /auth/me',
  'GET /auth/second-factor',
  'GET /auth/sessions',
  'GET /auth/methods',
  'GET /health/coordinator',
  'GET /healthz',
  'GET /installation/audit-log',
  'GET /invitations',
  'GET /readyz',
  'GET /users',
  'GET /workspaces',
  'POST /auth/device',
  'POST /auth/device/complete',
  'POST /auth/single-sign-on',
  'POST /auth/single-sign-on/complete',
  'POST /auth/invitation',
  'POST /auth/invitation/sign-up',
  'POST /auth/logout',
  'POST /auth/password',
  'POST /auth/second-factor',
  'POST /auth/second-factor/complete',
  'POST /auth/second-factor/recovery-codes',
  'POST /auth/second-factor/remove',
  'POST /auth/sign-up',
  'POST /invitations/accept',
  'POST /model-prices',
  'POST /users',
  'POST /workspaces',
];

/**
 * Routes that accept unknown ids without an effect: an agent reports its activity, or asks which
 * runs it must stop, or a list is filtered by the id. The answers are the same as for unknown ids,
 * but no 404.
 */
const UNRESOLVED = [
  'POST /agents/{id}/heartbeat currentTaskId',
  'POST /agents/{id}/signals runIds.[]',
  'POST /agents/{id}/signals heard.[].runId',
  'GET /workspaces/{workspaceId}/agent-tokens issuedBy',
  'GET /workspaces/{workspaceId}/agent-tokens agentId',
  'POST /runs/{runId}/prompt upTo.runId',
  'GET /audit-log actorId',
  // Tasks of a deleted schedule are still found.
  'GET /agent-tasks scheduleId',
  'POST /agent-tasks/bulk/cancel filter.scheduleId',
  'POST /agent-tasks/bulk/retry filter.scheduleId',
  'POST /agent-tasks/bulk/archive filter.scheduleId',
  'POST /dead-letter/replay filter.scheduleId',
  'GET /usage projectId',
  'GET /usage agentId',
  'GET /usage taskId',
];

/** An unknown id is a new one here, and so is an id that another tenant uses. */
const CHOOSES_ID = 'PUT /agents/{id}';

/** Requests with many items, each judged by itself: the refusal of an item is in its result. */
const JUDGED_EACH = 'POST /runs/complete';

/** Agents and runs create subtasks of their held tasks. subtasks.int-spec.ts tests these rules. */
const CREATES_SUBTASKS = /^POST \/agent-tasks(\/batch)?$/;

/**
 * These routes change rows of no workspace, so no audit log has them. A user who declines belongs
 * to no workspace.
 */
const OF_NO_WORKSPACE = /^POST \/auth\/|^DELETE \/auth\/|\/decline$|^\w+ \/(users|model-prices)\b/;

/** Their history is in the journal. A ticket changes nothing. */
const NOT_AUDITED = /^\w+ \/agent-tasks\b|^POST \/events\/tickets$/;

/**
 * Users belong to no workspace, and operators set its limits: only they reach both by their ids.
 */
const OPERATORS = /^\w+ \/users\b|^PUT \/workspaces\/{workspaceId}\/limits$/;

// A fast machine sends more requests than a token allows.
const app = await startTestApp({
  ROLES: 'api',
  HEARTBEAT_FLUSH_MS: '10000',
  REQUESTS_PER_SECOND_PER_TOKEN: '0',
});
const routes = (await readRoutes(app.url)).filter((route) => !isGatewayRoute(route));
const victim = await aTenant(app);
const stranger = await aTenant(app);
const strangersAccount = await anAccount(app, stranger);
const reused = new ReusedTenant(() => aTenant(app));
const state = await KeptState.of(app.db.owner);
let ofVictim: Digest = await digestOfWorkspace(app.db.owner, victim.workspaceId);
const named = routes.filter((route) => !NAMELESS.includes(route.name));

afterAll(() => app.stop());

it('every route is walked, or listed as one that names nothing', () => {
  const nameless = routes.filter((route) => placesOf(route).length === 0).map(({ name }) => name);
  expect(nameless.filter((name) => !walkedByHeader(name)).sort()).toEqual([...NAMELESS].sort());
});

function walkedByHeader(name: string): boolean {
  return headerPlaces(routes.find((route) => route.name === name) as Route).length > 0;
}

describe.each(named.map((route) => [route.name, route] as const))('%s', (_, route) => {
  it.each(kindsOf(route))('a %s finds nothing of another tenant', async (kind) => {
    // With an agent of the same id, the stranger would find one in all other walks.
    const tenant = route.name === CHOOSES_ID ? await aTenant(app) : stranger;
    const asker = await askerOf(route, tenant, kind);
    const cases = casesOf(route);
    expect(cases.length).toBeGreaterThan(0);

    const askFor = (ids: Ids) => send(app.url, requestWith(route, asker, ids));
    const nowhere = new Map<string, Judgement>();
    for (const [places, ids] of new Map(cases.map((one) => [describePlaces(one), one]))) {
      nowhere.set(places, judgement(route, await askFor(unknown(ids))));
    }
    const together = pLimit(route.method === 'GET' ? 8 : 1);
    const answers = await together.map(cases, askFor);
    for (const [index, ids] of cases.entries()) {
      const answer = answers[index] as WireAnswer;
      const about = `${describeIds(ids)}: ${answer.text}`;
      const said = judgement(route, answer);
      expect({ about, ...said }).toMatchObject(refusalOf(route, kind, ids));
      expect(secretsIn(answer, ids)).toEqual([]);
      expect({ about, ...nowhere.get(describePlaces(ids)) }).toEqual({ about, ...said });
    }
  });

  it('requests of another tenant change no row', () => expectUnchanged(route));
});

// Otherwise a request that is wrong for another reason would pass for a refusal. These run last,
// because they fill the database, and the other walks read every row.
describe.each(named.map((route) => [route.name, route] as const))('%s', (_, route) => {
  it.each(kindsOf(route))('a %s finds its own things', async (kind) => {
    for (const place of controlsOf(route)) {
      const ask = async (tenant: Tenant) => {
        await setKeys(app, route, tenant);
        const asker = await askerOf(route, tenant, kind);
        const ids = new Map(place ? [[place, asker.caller.own[place.thing]]] : []);
        const before = await auditsOf(route, tenant);
        const answer = await send(app.url, requestWith(route, asker, ids));
        const audits = (await auditsOf(route, tenant)) - before;
        return { answer, about: `${describeIds(ids)}: ${answer.text}`, audits };
      };
      const { answer, about, audits } = await reused.ask(ask, (asked) => asked.answer.status < 300);
      expect({ about, isAnswered: isAnswered(route, answer) }).toEqual({ about, isAnswered: true });
      expect({ about, isAudited: audits > 0 }).toEqual({
        about,
        isAudited: answer.status < 300 && isKept(route, kind),
      });
    }
  });
});

function isKept({ name, method }: Route, kind: CallerKind): boolean {
  const isOfPeople = kind === 'user' || kind === 'api_key';
  return isOfPeople && method !== 'GET' && !OF_NO_WORKSPACE.test(name) && !NOT_AUDITED.test(name);
}

/** Counts the entries of the route in the audit log of the tenant. */
async function auditsOf({ operationId }: Route, { workspaceId }: Tenant): Promise<number> {
  const { rows } = await app.db.owner.query<{ operation: string }>(
    'SELECT operation FROM audit_log WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows.filter(({ operation }) => operation === operationId).length;
}

/**
 * Each place of the query and the body gets an id by itself. The path names the caller's own thing.
 */
function controlsOf(route: Route): (Place | undefined)[] {
  const places = placesOf(route).filter(({ in: where }) => where !== 'path');
  return places.length > 0 ? places : [undefined];
}

function kindsOf({ access, name }: Route): CallerKind[] {
  const kinds = access?.kinds ?? ['user'];
  return CREATES_SUBTASKS.test(name) ? kinds.filter((kind) => !/agent|run/.test(kind)) : kinds;
}

async function askerOf(route: Route, tenant: Tenant, kind: CallerKind): Promise<Asker> {
  const account = () =>
    tenant === stranger ? Promise.resolve(strangersAccount) : anAccount(app, tenant);
  return { kind, caller: tenant.callers[kind], extras: await extrasOf(route, account) };
}

/**
 * Each place alone gets each id of A, then all at once, then all with A's workspace in the header.
 */
function casesOf(route: Route): Ids[] {
  const places = placesOf(route);
  const header = headerPlaces(route);
  const single = [...places, ...header].flatMap((place) =>
    victim.ids[place.thing].map((id) => new Map([[place, id]])),
  );
  const inPathAndRun = places.filter(({ in: where, at }) => where === 'path' || at === 'runId');
  const all = new Map(inPathAndRun.map((place) => [place, victim.ids[place.thing][0] as string]));
  const intruding = new Map(all);
  for (const place of header) intruding.set(place, victim.workspaceId);
  return [...single, ...[all, intruding].filter(({ size }) => size > 1)];
}

function unknown(ids: Ids): Ids {
  return new Map([...ids.keys()].map((place) => [place, newId()]));
}

function refusalOf(route: Route, kind: CallerKind, ids: Ids): Record<string, unknown> {
  if (OPERATORS.test(route.name)) return { status: 403, code: 'forbidden' };
  if (choosesId(route, kind, ids)) return { status: 201 };
  const isUnresolved = [...ids.keys()].every((place) => unresolved(route, place));
  if (isUnresolved) return { status: 200 };
  return { status: 404, code: expect.stringMatching(/_not_found$/) };
}

/** Agents and runs have their own routes. */
function choosesId({ name }: Route, kind: CallerKind, ids: Ids): boolean {
  const isInPath = [...ids.keys()].every(({ in: where }) => where === 'path');
  return name === CHOOSES_ID && isInPath && !/agent|run/.test(kind);
}

function unresolved(route: Route, place: Place): boolean {
  return UNRESOLVED.includes(`${route.name} ${place.at}`);
}

interface Judgement {
  status: unknown;
  code: unknown;
}

function judgement(route: Route, { status, body }: WireAnswer): Judgement {
  if (route.name !== JUDGED_EACH || status !== 200) return { status, code: body.code };
  const [{ problem }] = body.results as [{ problem?: { status: unknown; code: unknown } }];
  return { status: problem?.status ?? status, code: problem?.code };
}

/** No row changes at all. Routes that accept unknown ids change no row of A. */
async function expectUnchanged(route: Route): Promise<void> {
  if (!(await state.wasWritten())) return;
  const before = ofVictim;
  ofVictim = await digestOfWorkspace(app.db.owner, victim.workspaceId);
  expect(ofVictim).toEqual(before);
  const takesAny =
    route.name === CHOOSES_ID || placesOf(route).some((place) => unresolved(route, place));
  await (takesAny ? state.renew() : state.expectSameRows());
}

/** Finds data of A in the answer: any text of its rows, any id that the request has not named. */
function secretsIn({ text }: WireAnswer, ids: Ids): string[] {
  const said = new Set(ids.values());
  const secret = Object.values(victim.ids)
    .flat()
    .filter((id) => !said.has(id));
  return [victim.marker, ...secret].filter((part) => text.includes(part));
}

/** 409 would mean that the state of B's own thing forbade it, so the thing was found. */
function isAnswered(route: Route, answer: WireAnswer): boolean {
  const status = Number(judgement(route, answer).status);
  if (OPERATORS.test(route.name)) return status === 403;
  return (status >= 200 && status < 300) || status === 409;
}

function describePlaces(ids: Ids): string {
  return [...ids.keys()].map((place) => `${place.in} ${place.at}`).join(', ');
}

function describeIds(ids: Ids): string {
  return [...ids].map(([place, id]) => `${place.in} ${place.at} = ${place.thing} ${id}`).join(', ');
}
