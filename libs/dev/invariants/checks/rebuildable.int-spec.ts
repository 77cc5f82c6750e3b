import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { HeartbeatStore, ValkeyClient } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { checkRebuildable } from './rebuildable.js';

const THRESHOLD_SECONDS = 180;

const place = testValkey();
let db: TestDatabase;
let client: ValkeyClient;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  client = new ValkeyClient(place);
  await client.ready(5_000);
  workspaceId = await aWorkspace(db.owner);
});

afterEach(async () => {
  const keys = await client.commands.keys(`${place.keyPrefix}*`);
  for (const key of keys) await client.commands.del(key.slice(place.keyPrefix.length));
});

afterAll(async () => {
  client.close();
  await db.drop();
});

async function heard(agentId: string): Promise<void> {
  const agent = { workspaceId, agentId };
  const heartbeat = { ...agent, status: 'healthy', staleThresholdSeconds: THRESHOLD_SECONDS };
  await new HeartbeatStore(client).record(heartbeat);
}

async function written(agentId: string, secondsAgo: number): Promise<void> {
  await db.owner.query(
    `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, last_seen_at)
     VALUES ($1, $2, 'healthy', now() - make_interval(secs => $3))`,
    [workspaceId, agentId, secondsAgo],
  );
}

const problems = async () => {
  const { holds, violations } = await checkRebuildable(db.serviceUrl, place);
  expect(holds).toBe(violations.length === 0);
  return violations.map(({ problem }) => problem);
};

describe('What is in Valkey', () => {
  it('a lock, counts of attempts, and heartbeats that Postgres has can be rebuilt', async () => {
    await client.commands.set('coordinator:lock:global', 'somebody');
    await client.commands.set('rate:login', '1');
    // The views.
    await client.commands.set(`agent:heartbeat:${newId()}`, '{}');
    const agentId = await anAgent(db.owner, workspaceId);
    await heard(agentId);
    await written(agentId, 3);
    expect(await problems()).toEqual([]);
  });

  it('a heartbeat that Postgres lacks is found', async () => {
    const [never, before] = [
      await anAgent(db.owner, workspaceId),
      await anAgent(db.owner, workspaceId),
    ];
    for (const agentId of [never, before]) await heard(agentId);
    await written(before, 60);
    expect((await problems()).sort()).toEqual([
      'heartbeat 0 s ago, and Postgres knows of no heartbeat',
      'heartbeat 0 s ago, and Postgres knows of one 60 s ago',
    ]);
  });

  it('an agent that Postgres does not know is found', async () => {
    await heard(newId());
    expect(await problems()).toEqual(['was heard by Valkey, and is not in Postgres']);
  });

  it('a key of an unknown kind is found', async () => {
    await client.commands.set('tasks:queue', '1');
    expect(await problems()).toEqual(['nobody says how to make it again']);
  });
});
