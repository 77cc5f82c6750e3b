import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { patiently } from './harness/patience.js';
import {
  aBreakableDatabase,
  type BreakableDatabase,
  OUTAGE_MS,
  STALE_SECONDS,
} from './harness/postgres-outage.js';
import { PrivatePostgres } from './harness/private-postgres.js';
import { PrivateValkey } from './harness/private-valkey.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

/** Tests agents while both Postgres and Valkey are broken. */

let postgres: PrivatePostgres;
let ways: BreakableDatabase;
let fleet: TestFleet;
let valkey: PrivateValkey;
let agents: PullAgent[] = [];

beforeAll(async () => {
  postgres = await PrivatePostgres.start();
});

beforeEach(async () => {
  [ways, valkey] = await Promise.all([aBreakableDatabase(postgres), PrivateValkey.start()]);
});

afterEach(async () => {
  for (const agent of agents) agent.stopHeartbeats();
  await valkey.startAgain();
  ways.mend();
  await postgres.readOnly(false);
  await fleet.stop();
  await Promise.all([ways.close(), valkey.close()]);
});

afterAll(() => postgres.close());

/** Two agents are too few for the check of a silent fleet: only an outage protects them. */
async function startFleet(env: Record<string, string> = {}): Promise<void> {
  const options = { db: ways.db, env: { ...ways.urls, VALKEY_URL: valkey.url } };
  fleet = await TestFleet.create(options);
  await fleet.startServer(env);
  const register = () => PullAgent.register(fleet, { staleThresholdSeconds: STALE_SECONDS });
  agents = await Promise.all([register(), register()]);
  for (const agent of agents) await agent.startHeartbeats();
  await waitFor('their heartbeats in Postgres', async () => {
    const { rows } = await ways.db.owner.query(
      `SELECT FROM agent_heartbeats WHERE next_expected_at < 'infinity'`,
    );
    return rows.length === agents.length;
  });
}

async function readiness(): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${fleet.port}/readyz`);
  return status;
}

async function countLogs(event: string): Promise<number> {
  const { rows } = await ways.db.owner.query('SELECT FROM coordinator_logs WHERE event = $1', [
    event,
  ]);
  return rows.length;
}

/** A cycle that the coordinator starts by itself after the outage. */
async function untilItsOwnCycle(): Promise<void> {
  await waitFor('a cycle of its own', async () => {
    await recover();
    return (await countLogs('database_back')) > 0;
  });
}

const recover = () => patiently(() => fleet.api.post('/coordinator/recover', {}));

describe('an outage of Valkey, which knew the heartbeats', () => {
  it.each([
    ['api', OUTAGE_MS],
    // It polls again after five seconds, before heartbeats would have been delayed for too long.
    ['api,coordinator', 3_300],
  ])('after an outage of Postgres, ROLES=%s declares no agent dead', async (ROLES, outageMs) => {
    await startFleet({ ROLES });
    await valkey.kill();
    await postgres.stop();
    await delay(outageMs);
    const flush = ways.service.catch({ at: 'before', statement: 'flush_heartbeats' });
    await postgres.startAgain();
    await flush.reached;
    expect((await recover()).status).toBe(200);
    if (ROLES.includes('coordinator')) await untilItsOwnCycle();
    flush.letGo();
    expect(await countLogs('agent_stale')).toBe(0);
    await expectInvariants(ways.db);
  });

  it('a read-only Postgres lets no agent die, and heartbeats are stored later', async () => {
    await startFleet();
    await valkey.kill();
    await postgres.readOnly(true);
    await waitFor('the server not to be ready', async () => (await readiness()) === 503);
    const refused = await fleet.api.post('/agent-tasks', { title: 'x', taskType: 'fault' });
    expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    await delay(OUTAGE_MS);
    const flush = ways.service.catch({ at: 'before', statement: 'flush_heartbeats' });
    await flush.reached;
    await postgres.readOnly(false);
    await waitFor('it to be ready', async () => (await readiness()) === 200);
    expect((await recover()).status).toBe(200);
    await untilItsOwnCycle();
    flush.letGo();
    expect(await countLogs('agent_stale')).toBe(0);
    await waitFor('the heartbeats that were kept', async () => {
      const { rows } = await ways.db.owner.query(
        `SELECT FROM agent_heartbeats WHERE last_seen_at > now() - interval '2 seconds'`,
      );
      return rows.length === agents.length;
    });
    await expectInvariants(ways.db);
  });
});
