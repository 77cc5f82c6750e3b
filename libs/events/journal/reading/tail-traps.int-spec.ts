import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { FaultyProxy } from '../../../../test/support/proxy/faulty-proxy.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { JournalCursor, type Reading } from './journal-cursor.js';
import { JournalTail } from './journal-tail.js';

/** The messages of consumers that read from their process's memory. */

let db: TestDatabase;
let writer: pg.Client;
let workspaceId: string;
let proxy: FaultyProxy;
/** The tail's own connection to the database, which can be cut. */
let database: Database;
let client: ValkeyClient;
let subscriber: ValkeySubscriber;
let tail: JournalTail;
let leaveTail: () => void;

beforeAll(async () => {
  db = await createTestDatabase();
  // Tests switch it off, and a flush would then wait for nothing.
  await db.owner.query(`ALTER DATABASE ${nameOf(db)} SET synchronous_commit = on`);
  writer = new pg.Client({ connectionString: db.ownerUrl });
  await writer.connect();
  await writer.query('SET synchronous_commit = off');
  workspaceId = await aWorkspace(db.owner);
  proxy = await FaultyProxy.to(db.serviceUrl);
  database = new Database({ appUrl: db.appUrl, serviceUrl: proxy.url });
  const options = testValkey();
  [client, subscriber] = [new ValkeyClient(options), new ValkeySubscriber(options)];
  const wakeUps = new WakeUps(client, subscriber, newId());
  tail = new JournalTail(database, wakeUps, Logger.create({ level: 'silent' }));
  leaveTail = tail.hear(() => undefined);
});

afterAll(async () => {
  proxy.cut();
  leaveTail();
  await tail.beforeApplicationShutdown();
  await database.close();
  await proxy.close();
  subscriber.close();
  client.close();
  await writer.end();
  await db.drop();
});

const nameOf = ({ ownerUrl }: TestDatabase): string => new URL(ownerUrl).pathname.slice(1);

/** Visible to all, and durable later. @returns the log's position after it */
async function write(): Promise<string> {
  await writer.query(
    `INSERT INTO journal (workspace_id, event, actor_kind, details) VALUES ($1, 'task.of_a_test', 'system', '{}')`,
    [workspaceId],
  );
  const { rows } = await writer.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn');
  return rows[0]?.lsn as string;
}

const nextOf = (cursor: JournalCursor): Promise<Reading & { kind: 'batch' }> =>
  waitFor('the next batch', async () => {
    const reading = await cursor.read();
    return reading.kind === 'batch' && reading.messages.length > 0 ? reading : undefined;
  });

/** Has the lease and has read everything. */
async function aCurrentCursor(memory?: JournalTail): Promise<JournalCursor> {
  const cursor = new JournalCursor(db.database, { name: 'channels' }, 100, memory);
  await write();
  await nextOf(cursor);
  expect(await cursor.done()).toBe(true);
  return cursor;
}

it.each(['the journal', 'memory'])(
  'rows that a consumer reads from %s are durable',
  async (place) => {
    const cursor = await aCurrentCursor(place === 'memory' ? tail : undefined);
    const lsn = await write();
    await nextOf(cursor);
    const { rows } = await writer.query('SELECT pg_current_wal_flush_lsn() >= $1 AS is_there', [
      lsn,
    ]);
    expect(rows).toEqual([{ is_there: true }]);
    await cursor.done();
    await cursor.giveBack();
  },
);

it('a processed batch does not come again from memory, even if the answer was lost', async () => {
  const cursor = await aCurrentCursor(tail);
  await write();
  const batch = await nextOf(cursor);
  await db.owner.query(`UPDATE event_consumers SET position = $1 WHERE name = 'channels'`, [
    batch.to,
  ]);
  expect(await cursor.numbersOf([workspaceId])).toBeUndefined();
  expect((await cursor.read()).kind).toBe('idle');
  await cursor.giveBack();
});

it('a consumer reads for itself while the tail hangs', async () => {
  const cursor = await aCurrentCursor(tail);
  proxy.blackHole();
  await write();
  const batch = await nextOf(cursor);
  expect(batch.messages).toHaveLength(1);
  await cursor.done();
  await cursor.giveBack();
});
