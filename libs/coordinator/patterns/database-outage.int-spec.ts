import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WakeUps } from '#lib/valkey';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { FaultyProxy } from '../../../test/support/proxy/faulty-proxy.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { Coordinator } from '../coordinator.js';
import { Leadership } from '../leadership/leadership.js';

/** The lock would last, and followers would look away, for longer than the tests take. */
const PATIENT = { COORDINATOR_CRON: '0 0 0 29 2 *', COORDINATOR_LOCK_TTL_SECONDS: '120' };

let db: TestDatabase;
let proxy: FaultyProxy;
/** Its way to the database can be cut. */
let first: TestApp;
let second: TestApp;

const leads = (server: TestApp) =>
  server.app.get(Leadership, { strict: false }).epoch !== undefined;

function aServer(serviceUrl: string): Promise<TestApp> {
  const shared = { DATABASE_URL: db.appUrl, VALKEY_KEY_PREFIX: `outage-${process.pid}:` };
  return startTestApp({ ...PATIENT, ...shared, DATABASE_SERVICE_URL: serviceUrl });
}

/** Lines of the installation's log. */
async function lines(event: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.owner.query<Record<string, unknown>>(
    'SELECT level, details FROM coordinator_logs WHERE event = $1 ORDER BY id',
    [event],
  );
  return rows;
}

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await FaultyProxy.to(db.serviceUrl);
  first = await aServer(proxy.url);
  await waitFor('the first to lead', () => leads(first));
  second = await aServer(db.serviceUrl);
});

afterAll(async () => {
  proxy.mend();
  await first.stop();
  await second.stop();
  await proxy.close();
  await db.drop();
});

describe('a leader that loses its database', () => {
  it('gives its lock at once to one that can reach it', async () => {
    expect([leads(first), leads(second)]).toEqual([true, false]);
    proxy.cut();
    await waitFor('the other one to lead', () => leads(second));
    expect(leads(first)).toBe(false);
  });

  it('tries again after five seconds, leads again when nobody else does, and tells of it', async () => {
    await second.app.get(Coordinator, { strict: false }).stop();
    proxy.mend();
    await waitFor('it to lead again', () => leads(first));
    const [back] = await waitFor('the log', async () => {
      // It is written with the next cycle.
      first.app.get(WakeUps, { strict: false }).coordinator();
      const found = await lines('database_back');
      return found.length > 0 && found;
    });
    expect(await lines('database_unreachable')).toMatchObject([
      { level: 'WARN', details: { retryInMs: 5_000 } },
    ]);
    const { lastedMs } = back?.['details'] as { lastedMs: number };
    expect(lastedMs).toBeGreaterThanOrEqual(4_900);
  });
});
