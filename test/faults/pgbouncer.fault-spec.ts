import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database, poolerOf, query } from '#lib/database';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import { findPgBouncer, TestPgBouncer } from '../support/pgbouncer.js';
import { Load } from './harness/load.js';
import { expectInvariants, expectNothingLost } from './harness/verdict.js';

const program = await findPgBouncer();
const describeWithIt = program === undefined ? describe.skip : describe;

describeWithIt('behind PgBouncer', () => {
  let db: TestDatabase;
  let bouncer: TestPgBouncer | undefined;
  let fleet: TestFleet | undefined;

  const start = async (settings: Record<string, string> = {}) => {
    bouncer = await TestPgBouncer.start(
      program as NonNullable<typeof program>,
      [db.appUrl, db.serviceUrl],
      settings,
    );
    const urls = {
      DATABASE_URL: bouncer.before(db.appUrl),
      DATABASE_SERVICE_URL: bouncer.before(db.serviceUrl),
    };
    fleet = await TestFleet.create({ db: { ...db, drop: () => Promise.resolve() }, env: urls });
    return { bouncer, fleet, urls };
  };

  const stop = async () => {
    await fleet?.stop();
    await bouncer?.stop();
  };

  beforeAll(async () => {
    db = await createTestDatabase();
  });

  afterAll(() => db.drop());

  it('load continues behind PgBouncer in transaction mode, with all time limits', async () => {
    const { fleet, urls } = await start();
    try {
      await fleet.startServer({ DATABASE_STATEMENT_TIMEOUT_MS: '7000' });
      const load = await Load.start(fleet, { clients: 4, agents: 4 });
      await load.goesOn(100);
      await load.stop();
      for (const { failures, broken } of [load.clients, ...load.agents.map(({ book }) => book)]) {
        expect({ failures, broken }).toEqual({ failures: 0, broken: 0 });
      }
      const database = new Database({
        appUrl: urls.DATABASE_URL,
        serviceUrl: urls.DATABASE_SERVICE_URL,
        pooled: true,
      });
      const limits = query<Record<string, string>>(
        'spec_limits_behind_pooler',
        `SELECT current_setting('statement_timeout') AS statement, current_setting('TimeZone') AS zone,
           current_setting('transaction_timeout') AS transaction, current_setting('lock_timeout') AS lock`,
      );
      const expected = { statement: '7s', zone: 'UTC', transaction: '1min' };
      expect(await database.service.rows(limits)).toEqual([{ ...expected, lock: '0' }]);
      const ofRequests = await database.tenant(fleet.workspaceId).rows(limits);
      expect(ofRequests).toEqual([{ ...expected, lock: '2s' }]);
      await database.close();
      await expectNothingLost(db, load, { firstRun: true });
      await expectInvariants(db);
    } finally {
      await stop();
    }
  });

  it.each([
    ['without prepared statements', { max_prepared_statements: '0' }],
    ['in session mode', { pool_mode: 'session' }],
    ['in statement mode', { pool_mode: 'statement' }],
  ])('a server behind PgBouncer %s does not start, and names the reason', async (_, settings) => {
    const { fleet } = await start(settings);
    try {
      await expect(fleet.startServer()).rejects.toThrow(
        /At DATABASE_URL there is a pooler that does not keep prepared statements: use PgBouncer 1.21/,
      );
    } finally {
      await stop();
    }
  });

  it('Postgres without PgBouncer is recognised', async () => {
    expect(await poolerOf(db.appUrl)).toBe('none');
  });
});
