import { afterAll, expect, it } from '@jest/globals';
import pLimit from 'p-limit';
import { newId } from '#lib/kernel';
import { startTestApp } from '../support/app.js';
import { extrasOf } from './support/accounts.js';
import { type CallerKind, readRoutes } from './support/openapi.js';
import { placesOf, requestWith } from './support/places.js';
import { send, type WireAnswer } from './support/requests.js';
import { aTenant, setKeys } from './support/tenant.js';

/**
 * Sends first digits of ids in every path, query and body in which people and API keys name things.
 * The document says where digits are enough.
 */

/** The places that need whole ids. */
const WHOLE = [
  // Workspaces, users and their sessions belong to no workspace.
  /workspace(Id)?$/,
  /^\w+ \/users\//,
  /^DELETE \/auth\/sessions\//,
  /^POST \/workspaces\/{workspaceId}\/members userId$/,
  // The invited user is no member yet.
  /^POST \/invitations\/{id}\/(accept|decline) id$/,
  // The request chooses the id of a new agent.
  /^PUT \/agents\/{id} id$/,
];

// A fast machine sends more requests than a token allows.
const app = await startTestApp({ ROLES: 'api', REQUESTS_PER_SECOND_PER_TOKEN: '0' });
const [tenant, stranger] = [await aTenant(app), await aTenant(app)];
const isForPeople = (kind: CallerKind) => kind === 'user' || kind === 'api_key';
const all = (await readRoutes(app.url))
  .filter(({ access }) => access?.kinds.some(isForPeople))
  .flatMap((route) => placesOf(route).map((place) => ({ route, place })));
const short = all.filter(({ place }) => place.short);

afterAll(() => app.stop());

it('digits are enough for every thing of the workspace', () => {
  const whole = all.filter(({ place }) => !place.short).map(nameOf);
  expect(whole.filter((name) => !WHOLE.some((known) => known.test(name)))).toEqual([]);
  expect(short.length).toBeGreaterThan(200);
});

it('digits of a thing of another tenant are an unknown id', async () => {
  await expectNone(short, async (one) => {
    const foreign = stranger.callers.user.own[one.place.thing];
    const unknown = outcomeOf(await ask(one, newId()));
    const answer = await ask(one, digitsOf(foreign));
    // An answer completes digits that nothing has with zeros, and this id may end with one.
    const isNamed = answer.text.includes(foreign) && !foreign.endsWith('0');
    const isUnknown = outcomeOf(answer) === unknown && !isNamed;
    return isUnknown ? [] : [`not ${unknown}: ${answer.text}`];
  });
});

it('agents and runs must send whole ids', async () => {
  await expectNone(short, async (one) => {
    const found: string[] = [];
    for (const kind of one.route.access?.kinds ?? []) {
      if (isForPeople(kind)) continue;
      const answer = await ask(one, digitsOf(tenant.callers[kind].own[one.place.thing]), kind);
      if (answer.body.code !== 'validation_failed') found.push(`${kind}: ${answer.text}`);
    }
    return found;
  });
});

it('digits of a thing of the workspace stand for it', async () => {
  const order = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];
  const rank = ({ route }: Case) => order.indexOf(route.method);
  // These requests to paths can end things that later requests name.
  const harmless = short.filter(
    ({ route, place }) => place.in !== 'path' || route.method !== 'POST',
  );
  await expectNone(
    harmless.sort((a, b) => rank(a) - rank(b)),
    async (one) => {
      await setKeys(app, one.route, tenant);
      const answer = await ask(one, digitsOf(tenant.callers.user.own[one.place.thing]));
      const { status, body, text } = answer;
      // The two ids of a dependency are two cases, and the first one removes it.
      const isKnown = status === 409 || body.code === 'dependency_not_found';
      return status < 300 || (isKnown && body.code !== 'ambiguous_id') ? [] : [text];
    },
    1,
  );
});

type Case = (typeof all)[number];

/** Fails with the errors of all cases. */
async function expectNone(
  cases: Case[],
  check: (one: Case) => Promise<string[]>,
  atOnce = 8,
): Promise<void> {
  const found = await pLimit(atOnce).map(cases, async (one) =>
    (await check(one)).map((error) => `${nameOf(one)}: ${error}`),
  );
  expect(found.flat()).toEqual([]);
}

function nameOf({ route, place }: Case): string {
  return `${route.name} ${place.at}`;
}

/** All digits but the last one. */
function digitsOf(id: string): string {
  return id.slice(0, -1);
}

function outcomeOf({ status, body }: WireAnswer): string {
  return `${status} ${body.code ?? ''}`;
}

async function ask({ route, place }: Case, id: string, kind: CallerKind = 'user') {
  const extras = await extrasOf(route, () => Promise.reject(new Error('Nobody signs in here')));
  const caller = tenant.callers[kind];
  return send(app.url, requestWith(route, { kind, caller, extras }, new Map([[place, id]])));
}
