import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { numbered, type NumberedMessage } from '../domain/channel.js';
import { JournalCursor } from './journal-cursor.js';
import { JournalTail } from './journal-tail.js';
import { withoutRepetitions } from '../testing/repetitions.js';

const TASKS = 12;
const LOCKING_WRITERS = 8;
const PLAIN_WRITERS = 4;
const TRANSACTIONS = 60;
const DEADLOCK = '40P01';

let db: TestDatabase;
let writers: pg.Pool;
let workspaceId: string;
let taskIds: string[];
let client: ValkeyClient;
let subscriber: ValkeySubscriber;
let tail: JournalTail;
let leaveTail: () => void;

beforeAll(async () => {
  db = await createTestDatabase();
  writers = new pg.Pool({ connectionString: db.ownerUrl, max: LOCKING_WRITERS + PLAIN_WRITERS });
  // The end of a connection can reach the server after the database is dropped.
  writers.on('error', () => undefined);
  workspaceId = await aWorkspace(db.owner);
  taskIds = await Promise.all(Array.from({ length: TASKS }, () => aTask(db.owner, workspaceId)));
  const options = testValkey();
  [client, subscriber] = [new ValkeyClient(options), new ValkeySubscriber(options)];
  const wakeUps = new WakeUps(client, subscriber, newId());
  tail = new JournalTail(db.database, wakeUps, Logger.create({ level: 'silent' }));
  await db.owner.query(
    `TRUNCATE journal; UPDATE event_consumers SET position = nextval('journal_id_seq')`,
  );
  leaveTail = tail.hear(() => undefined);
});

afterAll(async () => {
  leaveTail();
  await tail.beforeApplicationShutdown();
  subscriber.close();
  client.close();
  await writers.end();
  await db.drop();
});

const upTo = (count: number): number => Math.floor(Math.random() * count);
const one = <T>(list: readonly T[]): T => list[upTo(list.length)] as T;

/** Keeps a transaction open for a while. */
async function linger(client: pg.PoolClient): Promise<void> {
  for (let left = upTo(15); left > 0; left--) await client.query('SELECT 1');
}

/** Moves a task like a transition: under its lock, with one row of the journal. */
const MOVE = `
WITH moved AS (
  UPDATE agent_tasks SET version = version + 1 WHERE id = $1 RETURNING workspace_id, id, version)
INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, actor_kind)
SELECT workspace_id, 'task.status_changed', id, version, 'PENDING', 'PENDING', 'system' FROM moved`;

async function moveOneOrTwo(client: pg.PoolClient): Promise<void> {
  await client.query(`BEGIN; SET LOCAL deadlock_timeout = '5ms'`);
  await client.query(MOVE, [one(taskIds)]);
  await linger(client);
  if (upTo(2) === 0) await client.query(MOVE, [one(taskIds)]);
  await linger(client);
  await client.query(upTo(10) === 0 ? 'ROLLBACK' : 'COMMIT');
}

async function lockingWriter(): Promise<void> {
  const client = await writers.connect();
  for (let left = TRANSACTIONS; left > 0; left--) {
    await moveOneOrTwo(client).catch(async (error: pg.DatabaseError) => {
      await client.query('ROLLBACK');
      if (error.code !== DEADLOCK) throw error;
    });
  }
  client.release();
}

/** Rows without a lock, of no task, but in the order of their transactions. */
async function plainWriter(writer: number): Promise<void> {
  const client = await writers.connect();
  for (let n = 0; n < 3 * TRANSACTIONS; n++) {
    await client.query(
      `INSERT INTO journal (workspace_id, event, actor_kind, details)
       SELECT $1, 'task.of_a_test', 'system', jsonb_build_object('writer', $2::int, 'n', n) FROM generate_series($3::int, $4) n`,
      [workspaceId, writer, 2 * n, 2 * n + 1],
    );
  }
  client.release();
}

/** The messages that a subscriber receives. */
const heard: NumberedMessage[] = [];
let written = false;
const asleep: (() => Promise<void>)[] = [];
/**
 * The steps before which the first relays with messages fall asleep, so that each of the three is
 * tried. Later ones are random.
 */
const sleeps = [2, 1, 0];

/** One batch. A relay may fall asleep in the middle and continue long after others took over. */
async function relayOnce(cursor: JournalCursor): Promise<'asleep' | 'idle' | 'busy'> {
  const reading = await cursor.read();
  if (reading.kind !== 'batch') return reading.kind === 'idle' ? 'idle' : 'busy';
  const { messages } = reading;
  let numbers: Map<string, bigint> | undefined;
  const steps = [
    async () => (numbers = await cursor.numbersOf([workspaceId])),
    () => numbers && heard.push(...numbered(messages, numbers)),
    async () => numbers && cursor.done(numbers),
  ];
  const fallsAsleepBefore = (messages.length > 0 ? sleeps.shift() : undefined) ?? upTo(9);
  for (const [n, step] of steps.entries()) {
    if (n === fallsAsleepBefore) {
      await loseLease(cursor);
      asleep.push(async () => {
        for (const late of steps.slice(n)) await late();
      });
      return 'asleep';
    }
    await step();
  }
  return 'busy';
}

async function loseLease(cursor: JournalCursor): Promise<void> {
  await db.owner.query(`UPDATE event_consumers SET leased_until = now() WHERE owner = $1`, [
    cursor.owner,
  ]);
}

/**
 * @param memory the shared memory of a process' relays; without it each reads by itself
 */
async function relay(memory?: JournalTail): Promise<void> {
  for (let over = false; !over;) {
    // Some are dead, some only asleep. Those wake after this relay has read what they had read.
    const sleeper = upTo(2) === 0 ? asleep.shift() : undefined;
    const cursor = new JournalCursor(db.database, { name: 'channels' }, 40, memory);
    let last = await relayOnce(cursor);
    while (last === 'busy' || (last === 'idle' && !written)) {
      // The database is not asked while nothing is new.
      await setImmediate();
      last = await relayOnce(cursor);
    }
    await sleeper?.();
    if (last === 'idle') await cursor.giveBack();
    over = last === 'idle' && written;
  }
}

it('each event is sent, in order for each task, whichever writer is late and whichever relay dies', async () => {
  const relays = [relay(), relay(tail), relay(tail)];
  await Promise.all([
    ...Array.from({ length: LOCKING_WRITERS }, () => lockingWriter()),
    ...Array.from({ length: PLAIN_WRITERS }, (_, writer) => plainWriter(writer)),
  ]);
  written = true;
  await Promise.all(relays);
  // The tail may not have seen the last rows when the writers ended.
  await relay();
  for (const wakeUp of asleep) await wakeUp();

  const { rows } = await db.owner.query<{ id: string }>('SELECT id FROM journal ORDER BY id');
  const ids = rows.map(({ id }) => `${2n * BigInt(id)}`);
  expect(ids.length).toBeGreaterThan(LOCKING_WRITERS * TRANSACTIONS);
  const once = withoutRepetitions(heard);
  expect(heard.length).toBeGreaterThan(once.length);
  expect(once.map(({ workspaceSeq }) => workspaceSeq)).toEqual(ids.map((_, n) => `${n + 1}`));
  expect(once.map(({ id }) => id)).toEqual(ids);
  // A repetition is the same message with the same number.
  const pairs = new Set(heard.map(({ id, workspaceSeq }) => `${id} ${workspaceSeq}`));
  expect(pairs.size).toBe(once.length);
  for (const taskId of taskIds) {
    const versions = once.filter(({ body }) => body['taskId'] === taskId).map(versionOf);
    expect(versions).toEqual(versions.map((_, n) => n + 2));
  }
  for (let writer = 0; writer < PLAIN_WRITERS; writer++) {
    const own = once.filter(({ body }) => body['writer'] === writer);
    expect(own.map(({ body }) => body['n'])).toEqual(own.map((_, n) => n));
    expect(own).toHaveLength(2 * 3 * TRANSACTIONS);
  }
}, 120_000);

const versionOf = ({ body }: NumberedMessage): unknown => body['version'];
