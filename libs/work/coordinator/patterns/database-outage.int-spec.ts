import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { FaultyProxy } from '../../../../test/support/proxy/faulty-proxy.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Coordinator } from '../cycle/coordinator.js';
import { EventLog } from '../status/event-log.js';
import { Leadership } from '../leadership/leadership.js';

/** The lock outlives the tests, and followers do not look during them. */
const PATIENT = { COORDINATOR_CRON: '0 0 0 29 2 *', COORDINATOR_LOCK_TTL_SECONDS: '120' };

let db: TestDatabase;
let proxy: FaultyProxy;
/** Its connection to the database can be cut. */
let first: TestApp;
let second: TestApp;

const leads = (server: TestApp) =>
  server.app.get(Leadership, { strict: false }).epoch !== undefined;

function aServer(serviceUrl: string): Promise<TestApp> {
  const shared = { DATABASE_URL: db.appUrl, VALKEY_KEY_PREFIX: `outage-${process.pid}:` };
  return startTestApp({ ...PATIENT, ...shared, DATABASE_SERVICE_URL: serviceUrl });
}

/** Lines of the installation's log with this event. */
async function readLines(event: string): Promise<Record<string, unknown>[]> {
  const { rows } = await db.owner.query<Record<string, unknown>>(
    'SELECT level, message, details, created_at FROM coordinator_logs WHERE event = $1 ORDER BY id',
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
  jest.restoreAllMocks();
  await proxy.close();
  await db.drop();
});

describe('a leader that loses its database', () => {
  it('a leader without its database gives its lock to a server with one', async () => {
    expect([leads(first), leads(second)]).toEqual([true, false]);
    proxy.cut();
    await waitFor('the other one to lead', () => leads(second));
    expect(leads(first)).toBe(false);
  });

  it('a server that no longer leads writes its lines when the database is back', async () => {
    proxy.mend();
    await waitFor('its lines', async () => (await readLines('database_unreachable')).length > 0);
    expect([leads(first), leads(second)]).toEqual([false, true]);
    expect(await readLines('leadership_lost')).toMatchObject([
      { message: 'This coordinator gave up the leadership' },
    ]);
  });

  it('a leader without its database retries after five seconds and leads again', async () => {
    await second.app.get(Coordinator, { strict: false }).stop();
    await waitFor('it to lead again', () => leads(first));
    const [back] = await waitFor('the log', async () => {
      // The next cycle writes the line.
      first.app.get(WakeUps, { strict: false }).coordinator();
      const found = await readLines('database_back');
      return found.length > 0 && found;
    });
    const unreachable = await readLines('database_unreachable');
    expect(unreachable).toMatchObject([{ level: 'WARN', details: { retryInMs: 5_000 } }]);
    const { lastedMs } = back!['details'] as { lastedMs: number };
    expect(lastedMs).toBeGreaterThanOrEqual(4_900);
    const at = (line: Record<string, unknown>) => (line['created_at'] as Date).getTime();
    expect(at(back!) - at(unreachable[0]!)).toBeGreaterThanOrEqual(4_900);
  });
});

describe('an outage of the database', () => {
  const real = performance.now.bind(performance);
  let passedMs = 0;
  /** Number of lines that the test has seen. */
  let seen = 0;
  let written: ReturnType<typeof eventLogSpy>;
  let fatal: ReturnType<typeof fatalSpy>;

  const eventLogSpy = () => jest.spyOn(first.app.get(EventLog, { strict: false }), 'write');
  const fatalSpy = () => jest.spyOn(first.app.get(Logger, { strict: false }), 'fatal');

  beforeAll(async () => {
    await waitFor('it to lead', () => leads(first));
    jest.spyOn(performance, 'now').mockImplementation(() => real() + passedMs);
    written = eventLogSpy();
    fatal = fatalSpy();
    proxy.cut();
  });

  /** Lines about the database since it was cut off. */
  const databaseLines = () =>
    written.mock.calls.map(([line]) => line).filter(({ event }) => event.startsWith('database_'));

  /** The coordinator's lines about its next attempt, this many seconds after the attempt before. */
  async function attemptAfter(seconds: number) {
    passedMs += seconds * 1_000;
    first.app.get(WakeUps, { strict: false }).coordinator();
    const line = await waitFor('its next attempt', () => databaseLines()[seen]);
    seen += 1;
    return line;
  }

  it('an outage of the database is logged as critical once, after five minutes', async () => {
    const warning = { level: 'WARN', event: 'database_unreachable' };
    expect(await attemptAfter(0)).toMatchObject(warning);
    // Each attempt comes at the end of the wait before it: up to 275 s, then 315 s.
    for (const seconds of [5, 10, 20, 40, 40, 40, 40, 40, 40]) {
      expect(await attemptAfter(seconds)).toMatchObject(warning);
    }
    expect(fatal).not.toHaveBeenCalled();
    expect(await attemptAfter(40)).toMatchObject({ level: 'CRITICAL', event: 'database_down' });
    for (const seconds of [40, 40]) expect(await attemptAfter(seconds)).toMatchObject(warning);
    expect(fatal.mock.calls).toMatchObject([
      ['The database has been unreachable for more than five minutes', { event: 'database_down' }],
    ]);
  });

  it('an outage ends when the database returns, and the next one begins again', async () => {
    proxy.mend();
    const back = await attemptAfter(40);
    expect(back).toMatchObject({ level: 'INFO', event: 'database_back' });
    expect(back.details?.['lastedMs']).toBeGreaterThanOrEqual(435_000);
    await waitFor('the log', async () => {
      first.app.get(WakeUps, { strict: false }).coordinator();
      return (await readLines('database_back')).length === 2;
    });
    expect(await readLines('database_down')).toMatchObject([{ level: 'CRITICAL' }]);
    proxy.cut();
    expect(await attemptAfter(0)).toMatchObject({
      level: 'WARN',
      event: 'database_unreachable',
      details: { retryInMs: 5_000 },
    });
  });
});
