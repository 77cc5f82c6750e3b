import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#lib/config';
import { migrate } from '#lib/database';
import { Logger } from '#lib/observability';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { listDeliveries } from '../store/deliveries.sql.js';
import { WebhookPruner } from './webhook-pruner.js';

const MIGRATIONS = 'prisma/migrations';
const THIS = '20261130010000_partitions_of_attempts';
const WEBHOOK = '0198c5a0-0000-7000-8000-000000000001';
/** As servers of the version before the migration do. */
const ADD = {
  name: 'record_attempt',
  text: `INSERT INTO webhook_attempts
     (workspace_id, webhook_id, event_id, number, started_at, duration_ms, url, status, error, answer)
   VALUES ($1, $2, $3, $4, $5, 1, 'https://example.com', 200, NULL, NULL) ON CONFLICT DO NOTHING`,
};

let db: TestDatabase;
let earlier: string;
let workspaceId: string;

beforeAll(async () => {
  earlier = await mkdtemp(join(tmpdir(), 'drover-migrations-'));
  for (const name of (await readdir(MIGRATIONS)).filter((one) => one < THIS)) {
    await cp(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  }
  db = await createTestDatabase({}, undefined, 'template0');
}, 60_000);

afterAll(async () => {
  await db.drop();
  await rm(earlier, { recursive: true, force: true });
});

/** The pruner of a server that keeps deliveries for 30 days. */
const pruner = () =>
  new WebhookPruner(db.database, Logger.create({ level: 'silent' }), {
    roles: ['relay'],
    webhooks: { retentionDays: 30 } as Config['webhooks'],
  });

const iso = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString();

async function aDelivery(eventId: number, daysAgo: number): Promise<void> {
  await db.owner.query(
    `INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at,
       created_at, state, next_attempt_at)
     VALUES ($1, $2, $3, 'task.created', '{}', $4, $4, 'dead', NULL)`,
    [workspaceId, WEBHOOK, eventId, iso(daysAgo)],
  );
}

/** The numbers of the listed attempts by delivery. */
async function listed(): Promise<Record<string, number[]>> {
  const params = [workspaceId, WEBHOOK, null, null, 100];
  const rows = await db.database.tenant(workspaceId).rows(listDeliveries.any, params);
  return Object.fromEntries(rows.map((row) => [row.event_id, row.attempts.map((a) => a.number)]));
}

async function addAttempt(eventId: number, daysAgo: number): Promise<void> {
  const values = [workspaceId, WEBHOOK, eventId, 1, iso(daysAgo)];
  await db.owner.query({ ...ADD, values });
}

/** From a number of days ago to the next one. */
async function addPartition(name: string, daysAgo: number): Promise<void> {
  await db.owner.query(
    `CREATE TABLE ${name} PARTITION OF webhook_attempts
       FOR VALUES FROM ('${iso(daysAgo)}') TO ('${iso(daysAgo - 1)}')`,
  );
}

async function partitions(): Promise<string[]> {
  const { rows } = await db.owner.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent = 'webhook_attempts'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

it('attempts from before the migration are listed, and older servers add more', async () => {
  const { ownerUrl } = db;
  await migrate({ ownerUrl, migrationsDir: earlier, force: true });
  workspaceId = await aWorkspace(db.owner);
  const server = await db.owner.connect();
  const add = (eventId: number, number: number, daysAgo: number) =>
    server.query({ ...ADD, values: [workspaceId, WEBHOOK, eventId, number, iso(daysAgo)] });
  try {
    await aDelivery(1, 29);
    await aDelivery(2, 0);
    await add(1, 1, 29);
    await add(1, 2, 28);
    // The clock of its sender is ahead.
    await add(2, 1, -3);
    expect(await migrate({ ownerUrl, force: true })).toContain(THIS);
    await add(2, 2, 0);
    await add(2, 3, -1);
  } finally {
    server.release();
  }
  expect(await listed()).toEqual({ 1: [1, 2], 2: [1, 2, 3] });
  const { rows } = await db.owner.query<{ number: number; place: string }>(
    `SELECT number, tableoid::regclass::text AS place FROM webhook_attempts
     WHERE event_id = 2 ORDER BY 1`,
  );
  expect(rows.map(({ place }) => place)).toEqual([
    'webhook_attempts_before',
    'webhook_attempts_before',
    expect.stringMatching(/^webhook_attempts_\d{8}$/),
  ]);
});

describe('partitions of attempts', () => {
  beforeEach(async () => {
    const old = (await partitions()).filter((name) => !/_(?:default|\d{8})$/.test(name));
    for (const name of old) await db.owner.query(`DROP TABLE ${name}`);
    await db.owner.query('DELETE FROM webhook_deliveries; DELETE FROM webhook_attempts');
    await addPartition('older', 40);
    await addPartition('old', 35);
    await addPartition('young', 29);
  });

  /** Runs a statement in another transaction, which stays open during the work. */
  async function during<T>(sql: string, work: () => Promise<T>): Promise<T> {
    const other = await db.owner.connect();
    try {
      await other.query('BEGIN');
      await other.query(sql);
      return await work();
    } finally {
      await other.query('ROLLBACK');
      other.release();
    }
  }

  it('old partitions are dropped beside open writes to deliveries, and young ones stay', async () => {
    await aDelivery(5, 29);
    // The last two have no partition.
    for (const [eventId, daysAgo] of [
      [3, 39.5],
      [4, 34.5],
      [5, 28.5],
      [6, 50],
      [7, 25],
    ] as const) {
      await addAttempt(eventId, daysAgo);
    }
    const write = 'UPDATE webhook_deliveries SET failures = 0';
    const dropped = await during(write, () => pruner().renewPartitions());
    expect(dropped.sort()).toEqual(['old', 'older']);
    const { rows } = await db.owner.query(
      'SELECT event_id::int AS id FROM webhook_attempts ORDER BY 1',
    );
    expect(rows).toEqual([{ id: 5 }, { id: 7 }]);
    expect(await listed()).toEqual({ 5: [1] });
  });

  it('a partition in use is left for the next time, and others are dropped', async () => {
    const read = 'LOCK TABLE older IN ACCESS SHARE MODE';
    expect(await during(read, () => pruner().renewPartitions())).toEqual(['old']);
    expect(await pruner().renewPartitions()).toEqual(['older']);
  });

  it('a server creates the partitions of the next days before it sends', async () => {
    const days = (await partitions()).filter((name) => /_\d{8}$/.test(name));
    await db.owner.query(`DROP TABLE ${days.join(', ')}`);
    await pruner().onModuleInit();
    expect(await partitions()).toEqual(expect.arrayContaining(days));
  });
});
