import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { Load } from './harness/load.js';
import { patiently } from './harness/patience.js';
import {
  aBreakableDatabase,
  type BreakableDatabase,
  OUTAGE_MS,
  STALE_SECONDS,
} from './harness/postgres-outage.js';
import { PrivatePostgres } from './harness/private-postgres.js';
import { expectInvariants, expectNothingLost } from './harness/verdict.js';

let postgres: PrivatePostgres;
let ways: BreakableDatabase;
let fleet: TestFleet;
let load: Load;

beforeAll(async () => {
  postgres = await PrivatePostgres.start();
});

beforeEach(async () => {
  ways = await aBreakableDatabase(postgres);
});

afterEach(async () => {
  ways.mend();
  postgres.thaw();
  await postgres.readOnly(false);
  await fleet.stop();
  await ways.close();
});

afterAll(() => postgres.close());

async function startLoad(env: Record<string, string> = {}): Promise<void> {
  fleet = await TestFleet.create({ db: ways.db, env: { ...ways.urls, ...env } });
  await fleet.startServer();
  load = await Load.start(fleet, { agent: { staleThresholdSeconds: STALE_SECONDS } });
  await load.goesOn();
}

/** No statement ends by its own limit, so an answer during a fault comes from another one. */
const PATIENT = { DATABASE_STATEMENT_TIMEOUT_MS: '600000' };

const books = () => [load.clients, ...load.agents.map((agent) => agent.book)];
const refusals = () => books().reduce((sum, book) => sum + book.count(503), 0);

async function everyoneIsRefused(): Promise<void> {
  await waitFor('all to be refused', () => books().every((book) => book.count(503) > 0));
}

async function readiness(): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${fleet.port}/readyz`);
  return status;
}

/** Clients received 503 with Retry-After, and no other error. Every confirmed answer is true. */
async function expectRecovery(): Promise<void> {
  await load.goesOn(100);
  await load.stop();
  expect(refusals()).toBeGreaterThan(0);
  for (const { failures, withoutRetryAfter, broken, ...book } of books()) {
    const others = failures - (book.byStatus.get(503) ?? 0);
    expect({ others, withoutRetryAfter, broken }).toEqual({
      others: 0,
      withoutRetryAfter: 0,
      broken: 0,
    });
  }
  await expectNothingLost(ways.db, load, { firstRun: true });
  await expectInvariants(ways.db);
}

describe('Postgres', () => {
  it.each(['stop', 'crash', 'freeze'] as const)(
    'work resumes after a %s of Postgres under load for longer than agents can be silent',
    async (end) => {
      await startLoad(PATIENT);
      await postgres[end]();
      await everyoneIsRefused();
      await delay(OUTAGE_MS);
      // A query asks which agents are alive before the heartbeats of the outage are stored.
      const flush = ways.service.catch({ at: 'before', statement: 'flush_heartbeats' });
      await postgres.startAgain();
      await flush.reached;
      await patiently(() => fleet.api.post('/coordinator/recover', {}));
      flush.letGo();
      await expectRecovery();
    },
  );

  it('requests that wait for a locked table are refused long before their statement ends', async () => {
    await startLoad(PATIENT);
    const table = await ways.db.owner.connect();
    await table.query('BEGIN; LOCK TABLE journal');
    await everyoneIsRefused();
    await table.query('ROLLBACK');
    table.release();
    await expectRecovery();
  });

  it('work resumes after Postgres was read-only for longer than agents can be silent', async () => {
    await startLoad();
    await postgres.readOnly(true);
    await waitFor('clients to be refused', () => refusals() > 0);
    await waitFor('the server not to be ready', async () => (await readiness()) === 503);
    await delay(OUTAGE_MS);
    const flush = ways.service.catch({ at: 'before', statement: 'flush_heartbeats' });
    await flush.reached;
    await postgres.readOnly(false);
    await patiently(() => fleet.api.post('/coordinator/recover', {}));
    flush.letGo();
    await expectRecovery();
    expect(await readiness()).toBe(200);
  });

  it('limits end statements on black-hole connections, and new connections are opened', async () => {
    await startLoad({ DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
    for (const way of [ways.app, ways.service]) way.faults.blackHole();
    await waitFor('clients to be refused', () => refusals() > 0);
    ways.mend();
    await expectRecovery();
    // A statement has its second and five more, and a connection has five. Without limits both hang
    // for minutes.
    for (const book of books()) expect(book.slowestMs).toBeLessThan(60_000);
  });
});
