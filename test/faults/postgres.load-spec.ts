import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { Load } from './harness/load.js';
import { patiently } from './harness/patience.js';
import { PrivatePostgres } from './harness/private-postgres.js';
import { PrivateValkey } from './harness/private-valkey.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants, expectNothingLost } from './harness/verdict.js';

const STALE_SECONDS = 4;
/** Longer than an agent may be silent: whoever can't hear must not judge. */
const OUTAGE_MS = (STALE_SECONDS + 2) * 1_000;

let postgres: PrivatePostgres;
let db: TestDatabase;
let fleet: TestFleet;
let load: Load;
/** The ways of the API and of the coordinator to Postgres. */
let app: PostgresProxy;
let service: PostgresProxy;

beforeEach(async () => {
  postgres = await PrivatePostgres.start();
  db = await postgres.newDatabase();
  [app, service] = await Promise.all([
    PostgresProxy.to(db.appUrl),
    PostgresProxy.to(db.serviceUrl),
  ]);
});

afterEach(async () => {
  for (const proxy of [app, service]) proxy.mend();
  await postgres.readOnly(false);
  await fleet.stop();
  await Promise.all([app.close(), service.close()]);
  await postgres.close();
});

const urls = () => ({ DATABASE_URL: app.url, DATABASE_SERVICE_URL: service.url });

async function startLoad(env: Record<string, string> = {}): Promise<void> {
  fleet = await TestFleet.create({ db, env: { ...urls(), ...env } });
  await fleet.startServer();
  load = await Load.start(fleet, { agent: { staleThresholdSeconds: STALE_SECONDS } });
  await load.goesOn();
}

const books = () => [load.clients, ...load.agents.map((agent) => agent.book)];
const refusals = () => books().reduce((sum, book) => sum + book.count(503), 0);

/** Too few for a whole fleet that is doubted: only who could not hear spares them. */
async function startTwoAgents(): Promise<PullAgent[]> {
  const options = { staleThresholdSeconds: STALE_SECONDS };
  const agents = [
    await PullAgent.register(fleet, options),
    await PullAgent.register(fleet, options),
  ];
  for (const agent of agents) await agent.startHeartbeats();
  await waitFor('their heartbeats in Postgres', async () => {
    const { rows } = await db.owner.query(
      `SELECT FROM agent_heartbeats WHERE next_expected_at < 'infinity'`,
    );
    return rows.length === agents.length;
  });
  return agents;
}

async function readiness(): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${fleet.port}/readyz`);
  return status;
}

async function coordinatorTold(event: string): Promise<number> {
  const { rows } = await db.owner.query('SELECT FROM coordinator_logs WHERE event = $1', [event]);
  return rows.length;
}

/** Clients heard 503 and when to come back, and nothing worse; whatever was answered holds. */
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
  await expectNothingLost(db, load, { firstRun: true });
  await expectInvariants(db);
}

describe('Postgres', () => {
  it.each(['stop', 'crash'] as const)(
    '%s under load, and back after longer than agents may be silent',
    async (end) => {
      await startLoad();
      await postgres[end]();
      await waitFor('clients to be refused', () => refusals() > 0);
      await delay(OUTAGE_MS);
      // Before the heartbeats of the outage are written down, somebody asks who is alive.
      const flush = service.catch({ at: 'before', statement: 'flush_heartbeats' });
      await postgres.startAgain();
      await flush.reached;
      await patiently(() => fleet.api.post('/coordinator/recover', {}));
      flush.letGo();
      await expectRecovery();
    },
  );

  it.each([
    ['api', OUTAGE_MS],
    // It looks again after five seconds, and not so late that heartbeats would have been held for too long.
    ['api,coordinator', 3_300],
  ])(
    'back, and Valkey away, which knew who had sent a heartbeat: ROLES=%s takes nobody for dead',
    async (ROLES, outageMs) => {
      const valkey = await PrivateValkey.start();
      fleet = await TestFleet.create({ db, env: { ...urls(), VALKEY_URL: valkey.url } });
      await fleet.startServer({ ROLES });
      const agents = await startTwoAgents();
      try {
        await valkey.kill();
        await postgres.stop();
        await delay(outageMs);
        const flush = service.catch({ at: 'before', statement: 'flush_heartbeats' });
        await postgres.startAgain();
        await flush.reached;
        const recover = () => patiently(() => fleet.api.post('/coordinator/recover', {}));
        expect((await recover()).status).toBe(200);
        if (ROLES.includes('coordinator')) {
          await waitFor('a cycle of its own', async () => {
            await recover();
            return (await coordinatorTold('database_back')) > 0;
          });
        }
        flush.letGo();
        expect(await coordinatorTold('agent_stale')).toBe(0);
      } finally {
        for (const agent of agents) agent.stopHeartbeats();
        await valkey.startAgain();
        await valkey.close();
      }
      await expectInvariants(db);
    },
  );

  it('that takes no changes under load, for longer than agents may be silent', async () => {
    await startLoad();
    await postgres.readOnly(true);
    await waitFor('clients to be refused', () => refusals() > 0);
    await waitFor('the server not to be ready', async () => (await readiness()) === 503);
    await delay(OUTAGE_MS);
    const flush = service.catch({ at: 'before', statement: 'flush_heartbeats' });
    await flush.reached;
    await postgres.readOnly(false);
    await patiently(() => fleet.api.post('/coordinator/recover', {}));
    flush.letGo();
    await expectRecovery();
    expect(await readiness()).toBe(200);
  });

  it('that takes no changes, and Valkey away: nobody is taken for dead, and heartbeats are kept', async () => {
    const valkey = await PrivateValkey.start();
    fleet = await TestFleet.create({ db, env: { ...urls(), VALKEY_URL: valkey.url } });
    await fleet.startServer();
    const agents = await startTwoAgents();
    try {
      await valkey.kill();
      await postgres.readOnly(true);
      await waitFor('the server not to be ready', async () => (await readiness()) === 503);
      const refused = await fleet.api.post('/agent-tasks', { title: 'x', taskType: 'fault' });
      expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('5');
      await delay(OUTAGE_MS);
      const flush = service.catch({ at: 'before', statement: 'flush_heartbeats' });
      await flush.reached;
      await postgres.readOnly(false);
      await waitFor('it to be ready', async () => (await readiness()) === 200);
      const recover = () => patiently(() => fleet.api.post('/coordinator/recover', {}));
      expect((await recover()).status).toBe(200);
      await waitFor('a cycle of its own', async () => {
        await recover();
        return (await coordinatorTold('database_back')) > 0;
      });
      flush.letGo();
      expect(await coordinatorTold('agent_stale')).toBe(0);
      await waitFor('the heartbeats that were kept', async () => {
        const { rows } = await db.owner.query(
          `SELECT FROM agent_heartbeats WHERE last_seen_at > now() - interval '2 seconds'`,
        );
        return rows.length === agents.length;
      });
    } finally {
      for (const agent of agents) agent.stopHeartbeats();
      await valkey.startAgain();
      await valkey.close();
    }
    await expectInvariants(db);
  });

  it('behind connections that have become black holes: limits hold, and new ones are made', async () => {
    await startLoad({ DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
    app.faults.blackHole();
    service.faults.blackHole();
    await waitFor('clients to be refused', () => refusals() > 0);
    app.mend();
    service.mend();
    await expectRecovery();
    // A statement has its second and five more, a connection its five.
    for (const book of books()) expect(book.slowestMs).toBeLessThan(20_000);
  });
});
