import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aWorkspace } from '../../../test/support/factories.js';
import { FaultyProxy } from '../../../test/support/proxy/faulty-proxy.js';
import { testValkey } from '../../../test/support/valkey.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { JournalCursor, type Reading } from './journal-cursor.js';
import { JournalTail } from './journal-tail.js';

/** What consumers are told that read from the memory of their process. */

let db: TestDatabase;
let writer: pg.Client;
let workspaceId: string;
let proxy: FaultyProxy;
/** The tail's own way to the database, which can be cut. */
let database: Database;
let client: ValkeyClient;
let subscriber: ValkeySubscriber;
let tail: JournalTail;
let leaveTail: () => void;

beforeAll(async () => {
  db = await createTestDatabase();
  // Of tests it is off, and a flush would wait for nothing.
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

/** Seen by all, and on disk some time. @returns how far the log goes with it */
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

/** Has the lease, and has read all that there is. */
async function aCurrentCursor(memory?: JournalTail): Promise<JournalCursor> {
  const cursor = new JournalCursor(db.database, { name: 'channels' }, 100, memory);
  await write();
  await nextOf(cursor);
  expect(await cursor.done()).toBe(true);
  return cursor;
}

it.each(['the journal', 'memory'])('What a consumer reads from %s is on disk', async (place) => {
  const cursor = await aCurrentCursor(place === 'memory' ? tail : undefined);
  const lsn = await write();
  await nextOf(cursor);
  const { rows } = await writer.query('SELECT pg_current_wal_flush_lsn() >= $1 AS is_there', [lsn]);
  expect(rows).toEqual([{ is_there: true }]);
  await cursor.done();
  await cursor.giveBack();
});

it('A batch that has been dealt with does not come again from memory, though the answer that says so was lost', async () => {
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

it('A consumer reads for itself while the tail hangs', async () => {
  const cursor = await aCurrentCursor(tail);
  proxy.blackHole();
  await write();
  const batch = await nextOf(cursor);
  expect(batch.messages).toHaveLength(1);
  await cursor.done();
  await cursor.giveBack();
});
