import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import type pg from 'pg';
import { type EmbeddedValkey, startEmbeddedValkey } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { FaultyProxy } from '../../../../test/support/proxy/faulty-proxy.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { numbered, type NumberedMessage } from '../domain/channel.js';
import { Channels } from './channels.js';
import type { Consumer, Work } from './consumer-loop.js';
import type { JournalCursor } from '../reading/journal-cursor.js';
import { JournalTail } from '../reading/journal-tail.js';
import { EventRelay } from './event-relay.js';
import { withoutRepetitions } from '../testing/repetitions.js';

interface Message {
  id: string;
  workspaceSeq: string;
  n: number;
}

/** The relay of one server. */
interface Server {
  channels: Channels;
  relay: EventRelay;
  /** The cursor of the consumer `channels`. */
  cursor: JournalCursor;
  wakeUps: WakeUps;
}

let db: TestDatabase;
let valkey: EmbeddedValkey;
let keyPrefix: string;
let subscriber: ValkeySubscriber;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  // A server of its own, because these tests stop it.
  [db, valkey] = await Promise.all([createTestDatabase(), startEmbeddedValkey()]);
});

beforeEach(async () => {
  await db.owner.query(
    `TRUNCATE journal, event_numbers;
     UPDATE event_consumers SET owner = NULL, leased_until = NULL, position = nextval('journal_id_seq')`,
  );
  keyPrefix = `${newId()}:`;
  subscriber = new ValkeySubscriber({ url: valkey.url, keyPrefix });
  undo.push(() => subscriber.close());
});

afterEach(async () => {
  process.kill(valkey.pid, 'SIGCONT');
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(async () => {
  await Promise.all([db.drop(), valkey.stop()]);
});

async function aServer(...others: Consumer[]): Promise<Server> {
  return aServerAt(valkey.url, others);
}

async function aServerAt(url: string, others: Consumer[] = []): Promise<Server> {
  const client = new ValkeyClient({ url, keyPrefix, commandTimeoutMs: 300 });
  undo.push(() => client.close());
  await client.ready(5_000);
  const wakeUps = new WakeUps(client, subscriber, newId());
  const channels = new Channels(client);
  const logger = Logger.create({ level: 'silent' });
  const tail = new JournalTail(db.database, wakeUps, logger);
  const relay = new EventRelay(db.database, tail, logger, { roles: ['relay'] });
  for (const consumer of [channels, ...others]) relay.add(consumer);
  undo.push(() => relay.stop());
  const { cursor } = relay.loops[0] as (typeof relay.loops)[number];
  return { channels, relay, cursor, wakeUps };
}

/** A consumer that stores its messages, after a number of failures, or when it stops hanging. */
function aConsumer(name: string, { begins = 'oldest' }: Pick<Consumer, 'begins'> = {}) {
  const consumer = {
    name,
    begins,
    fails: 0,
    hangs: Promise.resolve(),
    heard: [] as NumberedMessage[],
    async consume(_messages: readonly unknown[], work: Work) {
      if (consumer.fails > 0) {
        consumer.fails -= 1;
        throw new Error('fails');
      }
      await consumer.hangs;
      consumer.heard.push(...(await work.numbered()));
    },
  };
  undo.push(() => db.owner.query('DELETE FROM event_consumers WHERE name = $1', [name]));
  return consumer;
}

async function consumers(): Promise<string[]> {
  const { rows } = await db.owner.query<{ name: string }>('SELECT name FROM event_consumers');
  return rows.map(({ name }) => name);
}

/** A connection whose transaction ends with the test at the latest. */
async function aWriter(): Promise<pg.PoolClient> {
  const client = await db.owner.connect();
  undo.push(async () => {
    await client.query('ROLLBACK');
    client.release();
  });
  return client;
}

/** All messages about a workspace's tasks from now on. */
async function listenTo(workspaceId: string): Promise<Message[]> {
  const heard: Message[] = [];
  subscriber.subscribe(`tasks:events:${workspaceId}`, (text) => {
    heard.push(JSON.parse(text) as Message);
  });
  const probe = new ValkeyClient({ url: valkey.url });
  undo.push(() => probe.close());
  await probe.ready(5_000);
  const channel = `${keyPrefix}tasks:events:${workspaceId}`;
  await waitFor('the subscription', async () => {
    const [, listeners] = (await probe.commands.pubsub('NUMSUB', channel)) as [string, number];
    return listeners > 0;
  });
  return heard;
}

/** The same with a connection without timeout, so that messages sent meanwhile arrive later. */
async function listenPatientlyTo(workspaceId: string): Promise<Message[]> {
  const heard: Message[] = [];
  const connection = new Redis(valkey.url);
  undo.push(() => connection.disconnect());
  connection.on('message', (_channel, text) => heard.push(JSON.parse(text) as Message));
  await connection.subscribe(`${keyPrefix}tasks:events:${workspaceId}`);
  return heard;
}

const ADD_EVENTS = `
INSERT INTO journal (workspace_id, event, actor_kind, details)
SELECT ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'task.of_a_test', 'system', jsonb_build_object('n', n)
FROM generate_series($2::int, $3) n`;

/** Events with the numbers from `first`, distributed over the workspaces in turn. */
async function addEvents(workspaceIds: readonly string[], count: number, first = 0): Promise<void> {
  await db.owner.query(ADD_EVENTS, [workspaceIds, first, first + count - 1]);
}

async function unpublished(): Promise<number> {
  const { rows } = await db.owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM journal
     WHERE id > (SELECT position FROM event_consumers WHERE name = 'channels')`,
  );
  return rows[0]?.count ?? 0;
}

async function heldBackSeconds(): Promise<number> {
  return (await instruments.eventsHeldBack.get()).values[0]?.value ?? 0;
}

function numbersOf(heard: readonly Message[]): string[] {
  return heard.map(({ workspaceSeq }) => workspaceSeq);
}

function oneTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}

function isRising(heard: readonly Message[]): boolean {
  return heard.every(({ n }, index) => index === 0 || n > (heard[index - 1] as Message).n);
}

describe('the relay', () => {
  it('two relays number and publish the events of each workspace in order', async () => {
    const [one, other] = [await aWorkspace(db.owner), await aWorkspace(db.owner)];
    const [heardOne, heardOther] = [await listenTo(one), await listenTo(other)];
    const servers = [await aServer(), await aServer()];
    for (const { relay } of servers) relay.start();

    for (let round = 0; round < 4; round++) {
      await addEvents([one, other], 700);
      for (const { relay } of servers) relay.nudge();
    }

    await waitFor('all events', () => heardOne.length >= 1_400 && heardOther.length >= 1_400);
    expect(numbersOf(heardOne)).toEqual(oneTo(1_400));
    expect(numbersOf(heardOther)).toEqual(oneTo(1_400));
    await waitFor('the cursor to be behind them', async () => (await unpublished()) === 0);
  });

  it('an event is published soon after a wake-up', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const { relay, wakeUps } = await aServer();
    relay.start();
    await addEvents([workspaceId], 1);
    wakeUps.claims(workspaceId, 1);
    await waitFor('the event', () => heard.length === 1);
    expect(heard[0]).toMatchObject({ n: 0, workspaceSeq: '1' });
  });

  it('events wait while Valkey does not answer, and are then delivered with one number each', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenPatientlyTo(workspaceId);
    const servers = [await aServer(), await aServer()];
    process.kill(valkey.pid, 'SIGSTOP');
    await addEvents([workspaceId], 1_200);
    for (const { relay } of servers) relay.start();
    await waitFor('both to notice', () => servers.every(({ channels }) => !channels.isOpen()));
    expect(heard).toEqual([]);
    expect(await unpublished()).toBe(1_200);

    process.kill(valkey.pid, 'SIGCONT');
    await waitFor('all events', () => new Set(numbersOf(heard)).size === 1_200);
    const once = withoutRepetitions(heard);
    expect(numbersOf(once)).toEqual(oneTo(1_200));
    expect(isRising(once)).toBe(true);
    expect(new Set(heard.map(({ id, workspaceSeq }) => `${id} ${workspaceSeq}`)).size).toBe(1_200);
  });

  it('a connection cut within a publish, or before its answer, loses and renumbers nothing', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const cuts = ['half of a command', 'an answer'];
    const proxy = await FaultyProxy.to(valkey.url, (line) => {
      let drops = false;
      return {
        fromClient: (bytes) => {
          const cut = bytes.includes('task.of_a_test') ? cuts.shift() : undefined;
          drops ||= cut === 'an answer';
          if (cut !== 'half of a command') return line.toServer(bytes);
          line.toServer(bytes.subarray(0, bytes.length / 2));
          line.drop();
        },
        fromServer: (bytes) => (drops ? line.drop() : line.toClient(bytes)),
      };
    });
    undo.push(() => proxy.close());
    await addEvents([workspaceId], 1_200);
    const { relay } = await aServerAt(proxy.url);
    relay.start();
    await waitFor('all events', () => new Set(numbersOf(heard)).size === 1_200);
    await waitFor('the cursor to be behind them', async () => (await unpublished()) === 0);
    expect(cuts).toEqual([]);
    expect(heard.length).toBeGreaterThan(1_200);
    const once = withoutRepetitions(heard);
    expect(numbersOf(once)).toEqual(oneTo(1_200));
    expect(isRising(once)).toBe(true);
  });

  it('messages with which a relay died are published again with the same numbers', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const [dying, other] = [await aServer(), await aServer()];
    await addEvents([workspaceId], 3);
    // Transactions of other tests, in other databases, also hold it back.
    const lost = await waitFor('a batch', async () => {
      const reading = await dying.cursor.read();
      return reading.kind === 'batch' && reading;
    });
    const numbers = await dying.cursor.numbersOf([workspaceId]);
    await dying.channels.publish(numbered(lost.messages, numbers ?? new Map()));
    await addEvents([workspaceId], 2, 3);
    expect(await other.cursor.read()).toEqual({ kind: 'elsewhere' });

    await db.owner.query(`UPDATE event_consumers SET leased_until = now() - interval '1 s'`);
    other.relay.start();
    await waitFor('all events', () => heard.length === 3 + 5);
    expect(heard.map(({ n }) => n)).toEqual([0, 1, 2, 0, 1, 2, 3, 4]);
    expect(numbersOf(heard)).toEqual(['1', '2', '3', '1', '2', '3', '4', '5']);
    expect(heard.slice(3, 6)).toEqual(heard.slice(0, 3));
    // It was asleep, not dead. Its batch and the valid numbers are no longer its own.
    await waitFor('the other one to have moved on', async () => {
      return (await dying.cursor.numbersOf([workspaceId])) === undefined;
    });
    expect(await dying.cursor.done(numbers)).toBe(false);
  });

  it('events wait while an earlier one may become visible, and are then sent in order', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const { relay } = await aServer();
    const late = await aWriter();
    await late.query('BEGIN');
    await late.query(ADD_EVENTS, [[workspaceId], 0, 0]);
    await addEvents([workspaceId], 3, 1);
    relay.start();
    await waitFor('it to tell for how long', async () => (await heldBackSeconds()) > 0);
    expect(heard).toEqual([]);
    await addEvents([workspaceId], 2, 4);
    await late.query('COMMIT');
    await waitFor('all events', () => heard.length === 6);
    expect(heard.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(numbersOf(heard)).toEqual(oneTo(6));
    await waitFor('it to tell that nothing is', async () => (await heldBackSeconds()) === 0);
  });

  it('transactions that always overlap do not hold events back forever', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const { relay, cursor } = await aServer();
    const [writer, next] = [await aWriter(), await aWriter()];
    await writer.query('BEGIN');
    await writer.query(ADD_EVENTS, [[workspaceId], 0, 0]);
    const reading = await cursor.read();
    expect(reading.kind).toBe('held_back');
    // The next one starts before the first ends. Only rows drawn before it must be waited for.
    await next.query('BEGIN');
    await next.query(ADD_EVENTS, [[workspaceId], 1, 1]);
    await writer.query('COMMIT');
    relay.start();
    await waitFor('the first event', () => heard.length === 1);
    await next.query('COMMIT');
    await waitFor('the second event', () => heard.length === 2);
    expect(heard.map(({ n }) => n)).toEqual([0, 1]);
  });

  it('a transaction that only reads holds no events back', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const reader = await aWriter();
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM journal');
    const { relay } = await aServer();
    await addEvents([workspaceId], 1);
    relay.start();
    await waitFor('the event', () => heard.length === 1);
  });

  it('log lines are skipped, because they are no events', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const { relay } = await aServer();
    relay.start();
    await db.owner.query(
      `INSERT INTO task_log_lines (workspace_id, task_id, event, actor_kind) VALUES ($1, uuidv7(), 'a line', 'run')`,
      [workspaceId],
    );
    await addEvents([workspaceId], 1);
    await waitFor('the event', () => heard.length === 1);
    expect(numbersOf(heard)).toEqual(['1']);
  });

  it('a stopped relay hands over at once', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const [first, second] = [await aServer(), await aServer()];
    first.relay.start();
    await addEvents([workspaceId], 1);
    await waitFor('the first event', () => heard.length === 1);
    await first.relay.stop();
    await addEvents([workspaceId], 1);
    expect(await second.cursor.outlook()).toMatchObject({ elsewhere: false });
    second.relay.start();
    await waitFor('the second event', () => heard.length === 2);
    expect(numbersOf(heard)).toEqual(['1', '2']);
  });

  it('other consumers continue while Valkey is down, from their own position', async () => {
    const workspaceId = await aWorkspace(db.owner);
    await addEvents([workspaceId], 2);
    const [all, fresh] = [aConsumer('all'), aConsumer('fresh', { begins: 'next' })];
    const { relay, channels } = await aServer(all, fresh);
    process.kill(valkey.pid, 'SIGSTOP');
    await waitFor('it to notice', () => !channels.isOpen());
    relay.start();
    await waitFor('the first two', () => all.heard.length === 2);
    await waitFor('both to be known', async () => (await consumers()).includes('fresh'));
    await addEvents([workspaceId], 2, 2);
    await waitFor('the others', () => all.heard.length === 4 && fresh.heard.length === 2);
    expect(all.heard.map(({ body }) => body['n'])).toEqual([0, 1, 2, 3]);
    expect(fresh.heard.map(({ body }) => body['n'])).toEqual([2, 3]);
    expect(await unpublished()).toBe(4);
  });

  it('a consumer of some workspaces misses none of their events, and few others reach it', async () => {
    const [own, later, other] = [
      await aWorkspace(db.owner),
      await aWorkspace(db.owner),
      await aWorkspace(db.owner),
    ];
    const consumer = aConsumer('some');
    const wanted = [own];
    const some: Consumer = { ...consumer, workspaces: () => Promise.resolve([...wanted]) };
    const heardBy = (workspaceId: string) =>
      consumer.heard
        .filter((each) => each.workspaceId === workspaceId)
        .map(({ body }) => Number(body['n']));
    // More rows than a batch without the answer has, and than one with it searches.
    await addEvents([other], 55_000);
    await addEvents([own], 1_500, 55_000);
    const { relay } = await aServer(some);
    relay.start();
    await waitFor('its events', () => heardBy(own).length === 1_500);
    expect(heardBy(own)).toEqual(Array.from({ length: 1_500 }, (_, n) => 55_000 + n));
    expect(heardBy(other).length).toBeLessThan(5_000);

    wanted.push(later);
    await addEvents([later], 3, 60_000);
    relay.nudge();
    await waitFor('those of the later one', () => heardBy(later).length === 3);
    expect(heardBy(later)).toEqual([60_000, 60_001, 60_002]);
  });

  it('a consumer names its workspaces only after the events of the batch are committed', async () => {
    const workspaceId = await aWorkspace(db.owner);
    let named = 0;
    const some: Consumer = {
      ...aConsumer('some'),
      workspaces: () => {
        named += 1;
        return Promise.resolve([]);
      },
    };
    const { relay } = await aServer(some);
    const cursor = relay.loops[1]?.cursor as JournalCursor;
    const late = await aWriter();
    await late.query('BEGIN');
    await late.query(ADD_EVENTS, [[workspaceId], 0, 0]);
    await addEvents([workspaceId], 2_000, 1);
    expect(await cursor.read()).toMatchObject({ kind: 'held_back' });
    expect(named).toBe(0);
    await late.query('COMMIT');
    await waitFor('a batch', async () => (await cursor.read()).kind === 'batch');
    await cursor.done();
    expect(await cursor.read()).toMatchObject({ kind: 'batch', messages: [], full: false });
    expect(named).toBeGreaterThan(0);
  });

  it('a slow consumer that reports progress keeps its batch', async () => {
    const workspaceId = await aWorkspace(db.owner);
    let isDone = false;
    const slow: Consumer = {
      name: 'slow',
      consume: async (_messages, work) => {
        while (!isDone) {
          await work.goesOn();
          await delay(50);
        }
      },
    };
    undo.push(() => db.owner.query(`DELETE FROM event_consumers WHERE name = 'slow'`));
    const { relay } = await aServer(slow);
    undo.push(() => (isDone = true));
    relay.start();
    await addEvents([workspaceId], 1);
    const leasedUntil = async (): Promise<number> => {
      const { rows } = await db.owner.query<{ until: Date | null }>(
        `SELECT leased_until AS until FROM event_consumers WHERE name = 'slow'`,
      );
      return rows[0]?.until?.getTime() ?? 0;
    };
    const first = await waitFor('the lease', leasedUntil);
    await waitFor('it to be renewed', async () => (await leasedUntil()) > first);
  });

  it('a consumer that fails, hangs or dies gets the same batch again and delays no other', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const [failing, hanging] = [aConsumer('failing'), aConsumer('hanging')];
    let hung = (): void => undefined;
    failing.fails = 2;
    hanging.hangs = new Promise((resolve) => (hung = resolve));
    const { relay } = await aServer(failing, hanging);
    relay.start();
    await addEvents([workspaceId], 3);
    await waitFor('the channels', () => heard.length === 3);
    await waitFor('the one that failed', () => failing.heard.length === 3);
    expect(failing.fails).toBe(0);
    expect(hanging.heard).toEqual([]);
    const takesOver = aConsumer('hanging');
    const other = await aServer(takesOver);
    await db.owner.query(
      `UPDATE event_consumers SET leased_until = now() - interval '1 s' WHERE name = 'hanging'`,
    );
    other.relay.start();
    await waitFor('what hangs elsewhere', () => takesOver.heard.length === 3);
    expect(takesOver.heard.map(({ workspaceSeq }) => workspaceSeq)).toEqual(oneTo(3));
    hung();
  });
});
