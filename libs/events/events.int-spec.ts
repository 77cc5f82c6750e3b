import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Redis } from 'iovalkey';
import { type EmbeddedValkey, startEmbeddedValkey } from '#lib/embedded';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { aWorkspace } from '../../test/support/factories.js';
import { waitFor } from '../../test/support/wait-for.js';
import { Channels, EventPruner, EventRelay, RelayedBatch } from './index.js';

interface Message {
  id: string;
  workspaceSeq: string;
  n: number;
}

/** One server's part in relaying. */
interface Server {
  batches: RelayedBatch;
  channels: Channels;
  relay: EventRelay;
  wakeUps: WakeUps;
}

let db: TestDatabase;
let valkey: EmbeddedValkey;
let keyPrefix: string;
let subscriber: ValkeySubscriber;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  // A server of its own: these tests stop it.
  [db, valkey] = await Promise.all([createTestDatabase(), startEmbeddedValkey()]);
});

beforeEach(async () => {
  await db.owner.query(
    `TRUNCATE outbox_events, outbox_counters; UPDATE outbox_relay SET owner = NULL, leased_until = NULL, in_flight = '{}'`,
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

async function aServer(): Promise<Server> {
  const client = new ValkeyClient({ url: valkey.url, keyPrefix, commandTimeoutMs: 300 });
  undo.push(() => client.close());
  await client.ready(5_000);
  const wakeUps = new WakeUps(client, subscriber, newId());
  const batches = new RelayedBatch(db.database);
  const channels = new Channels(client);
  const logger = Logger.create({ level: 'silent' });
  const relay = new EventRelay(batches, channels, wakeUps, logger, { roles: ['relay'] });
  undo.push(() => relay.stop());
  return { batches, channels, relay, wakeUps };
}

/** Everything that is said of a workspace's tasks from now on. */
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

/** The same with a connection that is never given up: what is sent while nobody answers arrives later. */
async function listenPatientlyTo(workspaceId: string): Promise<Message[]> {
  const heard: Message[] = [];
  const connection = new Redis(valkey.url);
  undo.push(() => connection.disconnect());
  connection.on('message', (_channel, text) => heard.push(JSON.parse(text) as Message));
  await connection.subscribe(`${keyPrefix}tasks:events:${workspaceId}`);
  return heard;
}

async function addEvents(workspaceIds: readonly string[], count: number): Promise<void> {
  await db.owner.query(
    `INSERT INTO outbox_events (workspace_id, type, subject_kind, payload)
     SELECT ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'task.status_changed', 'task', jsonb_build_object('n', n)
     FROM generate_series(0, $2 - 1) n`,
    [workspaceIds, count],
  );
}

async function unpublished(): Promise<number> {
  const { rows } = await db.owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM outbox_events WHERE published_at IS NULL`,
  );
  return rows[0]?.count ?? 0;
}

/** As a subscriber should: what is not newer than the last one is a repetition. */
function withoutRepetitions(heard: readonly Message[]): Message[] {
  let last = 0n;
  return heard.filter(({ workspaceSeq }) => {
    const isNew = BigInt(workspaceSeq) > last;
    if (isNew) last = BigInt(workspaceSeq);
    return isNew;
  });
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
  it('numbers the events of each workspace and publishes them in their order, with two at work', async () => {
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
    await waitFor('nothing in flight', async () => {
      const { rows } = await db.owner.query(`SELECT FROM outbox_relay WHERE in_flight = '{}'`);
      return rows.length === 1;
    });
    expect(await unpublished()).toBe(0);
  });

  it('publishes soon after somebody was woken', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const { relay, wakeUps } = await aServer();
    relay.start();
    await addEvents([workspaceId], 1);
    wakeUps.claims(workspaceId, 1);
    await waitFor('the event', () => heard.length === 1);
    expect(heard[0]).toMatchObject({ n: 0, workspaceSeq: '1' });
  });

  it('keeps events while Valkey does not answer, and then delivers each with one number', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenPatientlyTo(workspaceId);
    const servers = [await aServer(), await aServer()];
    process.kill(valkey.pid, 'SIGSTOP');
    await addEvents([workspaceId], 1_200);
    for (const { relay } of servers) relay.start();
    await waitFor('both to notice', () => servers.every(({ channels }) => !channels.isOpen()));
    expect(heard).toEqual([]);
    expect(await unpublished()).toBeGreaterThanOrEqual(700);

    process.kill(valkey.pid, 'SIGCONT');
    await waitFor('all events', () => new Set(numbersOf(heard)).size === 1_200);
    const once = withoutRepetitions(heard);
    expect(numbersOf(once)).toEqual(oneTo(1_200));
    expect(isRising(once)).toBe(true);
    expect(new Set(heard.map(({ id, workspaceSeq }) => `${id} ${workspaceSeq}`)).size).toBe(1_200);
  });

  it('publishes again, with the same numbers, what another one died with', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const [dying, other] = [await aServer(), await aServer()];
    await addEvents([workspaceId], 3);
    const lost = await dying.batches.take();
    await addEvents([workspaceId], 2);
    expect(await other.batches.take()).toBe('elsewhere');
    expect(await other.batches.look()).toEqual({ waiting: true, elsewhere: true });

    await db.owner.query(`UPDATE outbox_relay SET leased_until = now() - interval '1 s'`);
    other.relay.start();
    await waitFor('all events', () => heard.length === 5);
    expect(numbersOf(heard)).toEqual(oneTo(5));
    expect(lost).toMatchObject(heard.slice(0, 3).map(({ id }) => ({ id })));
  });

  it('finds an event that became visible long after later ones', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const { batches } = await aServer();
    const real = performance.now.bind(performance);
    let passedMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => real() + passedMs);
    undo.push(() => clock.mockRestore());
    const relayed = async () => {
      if (!(await batches.look()).waiting) return [];
      const batch = await batches.take();
      if (batch === 'elsewhere') throw new Error('Nobody else is there');
      batches.delivered(batch);
      return batch;
    };
    const late = await db.owner.connect();
    await late.query('BEGIN');
    const { rows } = await late.query<{ id: string }>(
      `INSERT INTO outbox_events (workspace_id, type, subject_kind, payload)
       VALUES ($1, 'task.status_changed', 'task', '{}') RETURNING id`,
      [workspaceId],
    );
    for (const seconds of [0, 6, 12]) {
      passedMs = seconds * 1_000;
      await addEvents([workspaceId], 3);
      expect(await relayed()).toHaveLength(3);
    }
    await late.query('COMMIT');
    late.release();
    expect(await relayed()).toEqual([]);
    passedMs += 10_000;
    expect(await relayed()).toMatchObject([{ id: rows[0]?.id, workspace_seq: '10' }]);
  });

  it('hands over at once when it is stopped', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const heard = await listenTo(workspaceId);
    const [first, second] = [await aServer(), await aServer()];
    first.relay.start();
    await addEvents([workspaceId], 1);
    await waitFor('the first event', () => heard.length === 1);
    await first.relay.stop();
    await addEvents([workspaceId], 1);
    expect(await second.batches.look()).toEqual({ waiting: true, elsewhere: false });
    second.relay.start();
    await waitFor('the second event', () => heard.length === 2);
    expect(numbersOf(heard)).toEqual(['1', '2']);
  });
});

describe('the pruner', () => {
  it('removes what was published long ago and is not in flight', async () => {
    const workspaceId = await aWorkspace(db.owner);
    await addEvents([workspaceId], 6);
    // Numbers 1 and 2 are older than seven days; 6 is not published.
    await db.owner.query(
      `WITH numbered AS (
         SELECT id, row_number() OVER (ORDER BY id)::int AS n FROM outbox_events
       )
       UPDATE outbox_events e SET workspace_seq = n, published_at = now() - make_interval(days => 9 - n, hours => 12)
       FROM numbered WHERE numbered.id = e.id AND n < 6`,
    );
    await db.owner.query(
      `UPDATE outbox_relay SET in_flight = ARRAY(SELECT id FROM outbox_events WHERE workspace_seq = 2)`,
    );
    const logger = Logger.create({ level: 'silent' });
    const config = { roles: [], outbox: { retentionDays: 7 } };
    const pruner = new EventPruner(db.database, logger, config);
    expect(await pruner.prune()).toBe(1);
    const left = await db.owner.query(`SELECT workspace_seq FROM outbox_events ORDER BY id`);
    expect(left.rows.map((row) => row.workspace_seq)).toEqual(['2', '3', '4', '5', null]);
  });
});
