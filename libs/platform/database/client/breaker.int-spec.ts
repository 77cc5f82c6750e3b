import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { FaultyProxy } from '../../../../test/support/proxy/faulty-proxy.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { command, query } from '../statements/sql.js';
import { Database } from './database.js';

/** That of the breaker's looks. Timers of one length keep pace on a slow machine, too. */
const TICK_MS = 250;
/** Of 3 s. */
const TICKS = 12;
/** No statement and no connection ends by its own limit. */
const NEVER_MS = 600_000;

const read = query<{ n: number }>('spec_read', 'SELECT 1 AS n');
const write = command<{ n: number }>('spec_write', 'SELECT 1 AS n');

let db: TestDatabase;
let ways: FaultyProxy[];
let database: Database;
let workspaceId: string;
const silences: boolean[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await aWorkspace(db.owner);
  ways = await Promise.all([FaultyProxy.to(db.appUrl), FaultyProxy.to(db.serviceUrl)]);
  const [app, service] = ways as [FaultyProxy, FaultyProxy];
  database = new Database({
    appUrl: app.url,
    serviceUrl: service.url,
    applicationName: 'of the breaker',
    statementTimeoutMs: NEVER_MS,
    connectionTimeoutMs: NEVER_MS,
    onSilence: (isSilent) => silences.push(isSilent),
  });
});

afterAll(async () => {
  await database.close();
  await Promise.all(ways.map((way) => way.close()));
  await db.drop();
});

/** The code of the error of some work. */
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ code }: { code: string }) => code,
  );

/** Statements of each kind at once. */
function askAll(): Promise<string[]> {
  const tenant = database.tenant(workspaceId);
  return Promise.all(
    [
      tenant.rows(read),
      tenant.rows(write),
      tenant.transaction((tx) => tx.rows(write)),
      tenant.prisma((tx) => tx.project.findMany()),
      database.service.rows(read),
    ].map(codeOf),
  );
}

it('statements of a silent Postgres are refused within 3 s, and later ones at once', async () => {
  expect(new Set(await askAll())).toEqual(new Set(['done']));
  await waitFor('the probe', async () => {
    const { rows } = await db.owner.query(`SELECT FROM pg_stat_activity
      WHERE application_name = 'of the breaker' AND query = 'SELECT 1' AND state = 'idle'`);
    return rows.length > 0;
  });
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), TICK_MS);
  for (const way of ways) way.blackHole();
  const codes = await askAll();
  clearInterval(timer);
  const unchanged = 'database_unavailable';
  expect(codes).toEqual([unchanged, 'outcome_unknown', unchanged, unchanged, unchanged]);
  expect(ticks).toBeLessThanOrEqual(TICKS);
  expect(silences).toEqual([true]);

  const turn = new Promise((resolve) => void setImmediate(resolve, ['a turn of the event loop']));
  expect(await Promise.race([askAll(), turn])).toEqual(Array(5).fill(unchanged));

  for (const way of ways) way.mend();
  for (const way of ways) way.breakAll();
  await waitFor('an answer', async () => (await codeOf(database.service.rows(read))) === 'done');
  expect(new Set(await askAll())).toEqual(new Set(['done']));
  expect(silences).toEqual([true, false]);
});
