import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { type SpawnAllowance, TaskAssignment } from './task-assignment.js';

let db: TestDatabase;
let client: ValkeyClient;
let subscriber: ValkeySubscriber;
let assignment: TaskAssignment;

const UNBOUNDED: SpawnAllowance = {
  leaseByHeartbeat: true,
  of: () => Promise.resolve({ total: 1_000, ofWorkspace: new Map() }),
  spend: () => Promise.resolve(),
};
const unfenced = () => Promise.resolve();

beforeAll(async () => {
  db = await createTestDatabase();
  client = new ValkeyClient(testValkey());
  subscriber = new ValkeySubscriber(testValkey());
  assignment = new TaskAssignment(db.database, new WakeUps(client, subscriber, newId()));
});

beforeEach(async () => {
  await db.owner.query(`UPDATE agents SET coordinator_enabled = false`);
});

afterAll(async () => {
  client.close();
  subscriber.close();
  await db.drop();
});

async function aPushAgent(workspaceId: string, capabilities: string[]): Promise<string> {
  const id = await anAgent(db.owner, workspaceId, { mode: 'push', capabilities });
  await db.owner.query(`UPDATE agents SET command = '{node}' WHERE id = $1`, [id]);
  return id;
}

async function agentOf(taskId: string): Promise<string | null> {
  const { rows } = await db.owner.query<{ agent_id: string | null }>(
    `SELECT agent_id FROM agent_tasks WHERE id = $1`,
    [taskId],
  );
  return rows[0]?.agent_id ?? null;
}

describe('an assignment pass that cannot read all agents', () => {
  it('a pass reads the agents that can do waiting tasks, even behind idle ones', async () => {
    const workspaceId = await aWorkspace(db.owner);
    for (let idle = 0; idle < 3; idle++) await aPushAgent(workspaceId, ['other']);
    const able = await aPushAgent(workspaceId, ['rare', 'special']);
    const taskId = await aTask(db.owner, workspaceId, { requiredCapabilities: ['special'] });
    expect((await assignment.assign(unfenced, 2, UNBOUNDED)).moved).toBe(1);
    expect(await agentOf(taskId)).toBe(able);
  });

  it('tasks without a capable agent do not delay other workspaces', async () => {
    for (let stuck = 0; stuck < 3; stuck++) {
      const workspaceId = await aWorkspace(db.owner);
      await aPushAgent(workspaceId, []);
      await aTask(db.owner, workspaceId, { requiredCapabilities: ['nobody-has-it'] });
    }
    const workspaceId = await aWorkspace(db.owner);
    const agentId = await aPushAgent(workspaceId, []);
    const taskId = await aTask(db.owner, workspaceId);
    expect((await assignment.assign(unfenced, 2, UNBOUNDED)).moved).toBe(1);
    expect(await agentOf(taskId)).toBe(agentId);
  });

  it('a pass serves the workspaces in turn', async () => {
    const [many, few] = [await aWorkspace(db.owner), await aWorkspace(db.owner)];
    for (let n = 0; n < 4; n++) {
      await aPushAgent(many, []);
      await aTask(db.owner, many);
    }
    const agentId = await aPushAgent(few, []);
    const taskId = await aTask(db.owner, few);
    expect((await assignment.assign(unfenced, 2, UNBOUNDED)).moved).toBe(2);
    expect(await agentOf(taskId)).toBe(agentId);
  });
});
