import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import type { Work } from '../consuming/consumer-loop.js';
import { JournalTail } from './journal-tail.js';
import { EventRelay } from '../consuming/event-relay.js';

const BEHIND = 1_000_000;
const WORKSPACES = 8;
/** Rows of one transaction, like a large one of tasks. */
const STEP = 50_000;
/** The rows that a relay reads at once, each one message here. */
const BATCH = 1_000;

const ADD_EVENTS = `
INSERT INTO journal (workspace_id, event, actor_kind, details)
SELECT ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'task.of_a_test', 'system', jsonb_build_object('n', n)
FROM generate_series($2::int, $3) n`;

let db: TestDatabase;
let client: ValkeyClient;
let subscriber: ValkeySubscriber;

beforeAll(async () => {
  const options = testValkey();
  [client, subscriber] = [new ValkeyClient(options), new ValkeySubscriber(options)];
  [db] = await Promise.all([createTestDatabase(), client.ready(5_000)]);
});

afterAll(async () => {
  subscriber.close();
  client.close();
  await db.drop();
});

/** Stores no message, only whether each was the next of its workspace. */
function aListener(name: string) {
  const next = new Map<string, bigint>();
  const listener = {
    name,
    heard: 0,
    last: -1,
    most: 0,
    wrong: [] as string[],
    consume: async (_messages: readonly unknown[], work: Work) => {
      const messages = await work.numbered();
      listener.most = Math.max(listener.most, messages.length);
      for (const { workspaceId, workspaceSeq, body } of messages) {
        const n = Number(body['n']);
        if (n <= listener.last) listener.wrong.push(`${n} after ${listener.last}`);
        const expected = next.get(workspaceId);
        const seq = BigInt(workspaceSeq);
        if (expected !== undefined && seq !== expected)
          listener.wrong.push(`${seq}, not ${expected}`);
        next.set(workspaceId, seq + 1n);
        listener.last = n;
        listener.heard += 1;
      }
    },
  };
  return listener;
}

it('a consumer that is a million events behind gets them all, and others get new ones meanwhile', async () => {
  const workspaceIds = await Promise.all(
    Array.from({ length: WORKSPACES }, () => aWorkspace(db.owner)),
  );
  const add = (first: number, count: number) =>
    db.owner.query(ADD_EVENTS, [workspaceIds, first, first + count - 1]);
  for (let first = 0; first < BEHIND; first += STEP) await add(first, STEP);

  const [behind, current] = [aListener('behind'), aListener('current')];
  const wakeUps = new WakeUps(client, subscriber, newId());
  const logger = Logger.create({ level: 'silent' });
  const tail = new JournalTail(db.database, wakeUps, logger);
  const relay = new EventRelay(db.database, tail, logger, { roles: ['relay'] });
  relay.add({ ...behind, begins: 'oldest' });
  relay.add({ ...current, begins: 'next' });
  relay.start();
  // One that begins with the next event hears none that is older than its row.
  const begun = () =>
    db.owner.query(`SELECT FROM event_consumers WHERE name IN ('behind', 'current')`);
  await waitFor('both to have begun', async () => (await begun()).rowCount === 2);
  await waitFor('it to hear the first', () => behind.heard > 0);
  let total = BEHIND;
  let meanwhile = 0;
  while (behind.last < BEHIND - 1) {
    await add(total, 1);
    total += 1;
    relay.nudge();
    await waitFor('the others to hear of it', () => current.last === total - 1);
    if (behind.last < BEHIND - 1) meanwhile += 1;
  }
  await waitFor('all to be current', () => behind.last === total - 1);
  await relay.stop();

  expect(meanwhile).toBeGreaterThan(10);
  expect(behind).toMatchObject({ heard: total, wrong: [] });
  expect(current).toMatchObject({ heard: total - BEHIND, wrong: [] });
  expect(behind.most).toBeLessThanOrEqual(BATCH);
}, 300_000);
