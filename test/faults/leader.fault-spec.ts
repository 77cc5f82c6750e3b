import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { reign, startCoordinator, successorOf } from './harness/coordinators.js';
import { Rounds } from './harness/rounds.js';
import { expectInvariants } from './harness/verdict.js';

/** The shortest value that the configuration accepts. */
const TTL_MS = 3_000;
/** The first statement of each transaction of a sweep. */
const FENCE = 'coordinator_check_epoch';
const SOME_CYCLES = 3;

let db: TestDatabase;
let fleet: TestFleet;
let rounds: Rounds;
/** The first coordinator's proxy to Postgres. */
let proxy: PostgresProxy;

beforeEach(async () => {
  db = await createTestDatabase();
  proxy = await PostgresProxy.to(db.serviceUrl);
  fleet = await TestFleet.create({ db });
});

afterEach(async () => {
  proxy.mend();
  await fleet.stop();
  await proxy.close();
});

/** A leader behind the proxy, a standby coordinator, and a server that creates work. */
async function startAll(env: Record<string, string> = {}): Promise<BuiltProcess> {
  const [leader] = await Promise.all([
    startCoordinator(fleet, { DATABASE_SERVICE_URL: proxy.url, ...env }),
    fleet.startServer({ ROLES: 'api,relay' }),
  ]);
  await successorOf(db, 0);
  [rounds] = await Promise.all([Rounds.start(fleet), startCoordinator(fleet, env)]);
  return leader;
}

/** Work for the steps. The current leader does all of it. */
async function someWork(): Promise<void> {
  await rounds.prepare();
  await rounds.complete();
}

async function someCycles(): Promise<void> {
  const { cycles } = await reign(db);
  await waitFor('some cycles', async () => {
    await rounds.complete();
    return (await reign(db)).cycles >= cycles + SOME_CYCLES;
  });
}

/** The leader continues to lead, whatever the other server does. */
async function expectNobodyElseLeads(epoch: number): Promise<void> {
  await someCycles();
  expect((await reign(db)).epoch).toBe(epoch);
}

async function expectAllDone(): Promise<void> {
  await rounds.finish();
  expect(await rounds.ends()).toMatchObject({ tasks: ['COMPLETED'], refused: ['ABORTED'] });
  await expectInvariants(db);
}

/** Counts the releases of each dependent: one, by either server. */
async function expectEachToldOnce(): Promise<void> {
  const { rows } = await db.owner.query(
    `SELECT task_id FROM agent_task_logs WHERE event = 'dependencies_met'
     GROUP BY task_id HAVING count(*) > 1`,
  );
  expect(rows).toEqual([]);
}

describe('a leader', () => {
  it.each([
    ['before it looks whether it still leads', 'before'],
    ['in the middle of a sweep', 'before-commit'],
  ] as const)(
    'a leader that is stopped %s for three lease times changes nothing when it continues',
    async (_, at) => {
      const leader = await startAll();
      const { epoch } = await reign(db);
      await rounds.prepare();
      const caught = proxy.catch({ at, statement: FENCE });
      await rounds.complete();
      await caught.reached;
      leader.kill('SIGSTOP');
      const stoppedAt = performance.now();
      const successor = await successorOf(db, epoch);
      await someWork();
      await delay(3 * TTL_MS - (performance.now() - stoppedAt));
      // No other server uses this proxy: the successor has its own.
      const committed = proxy.catch({ at: 'after-commit', statement: FENCE });
      committed.letGo();
      caught.letGo();
      leader.kill('SIGCONT');
      expect(successor.epoch).toBe(epoch + 1);
      await expectNobodyElseLeads(successor.epoch);
      await expectAllDone();
      await expectEachToldOnce();
      expect(committed.isTaken).toBe(false);
    },
  );

  it('a leader whose cycle exceeds its lease finishes the cycle, and then another leads', async () => {
    await startAll();
    const { epoch } = await reign(db);
    const run = await rounds.pair();
    const blocker = await db.owner.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE task_dependencies IN EXCLUSIVE MODE');
    await rounds.complete(run);
    await waitFor('a sweep to wait for the lock', async () => {
      const { rows } = await db.owner.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'drover_service'
           AND datname = current_database()`,
      );
      return rows.length > 0;
    });
    await delay(2 * TTL_MS);
    // The standby waits for the end of this sweep.
    expect((await reign(db)).epoch).toBe(epoch);
    await blocker.query('ROLLBACK');
    blocker.release();
    await successorOf(db, epoch);
    await someWork();
    // Both servers are correct leaders: on a busy machine either can be late to renew the lock.
    await someCycles();
    await expectAllDone();
    await expectEachToldOnce();
  });

  it('a resumed leader does not pass for its successor of the same name', async () => {
    const leader = await startAll({ INSTANCE_ID: 'the same host' });
    const { epoch } = await reign(db);
    await someWork();
    await expectNobodyElseLeads(epoch);
    leader.kill('SIGSTOP');
    const successor = await successorOf(db, epoch);
    expect(successor).toMatchObject({ epoch: epoch + 1, instance: 'the same host' });
    leader.kill('SIGCONT');
    await someWork();
    await expectNobodyElseLeads(successor.epoch);
    // A process that stops releases only its own leadership.
    await leader.stop();
    await expectNobodyElseLeads(successor.epoch);
    await expectAllDone();
    await expectEachToldOnce();
  });
});
