import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { SqlRunner } from '#lib/database';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aUser, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask, aTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { creationOf } from '../../task-manager/creation/create-tasks.sql.js';
import { Housekeeping } from './housekeeping.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

function aHousekeeping(): Housekeeping {
  const agents = {
    heartbeatFlushMs: 1_000,
    heartbeatHistorySeconds: 60,
    heartbeatRetentionDays: 7,
  };
  return new Housekeeping(db.database, Logger.create({ level: 'silent' }), {
    agents,
    audit: { retentionDays: 365 },
    usage: { retentionDays: 400 },
    webhooks: { retentionDays: 30 },
  });
}

/** Hours since the session expired and since it ended; negative hours lie ahead. */
async function aSession(expired: number, ended: number | null): Promise<string> {
  const id = newId();
  await db.owner.query(
    `INSERT INTO user_sessions (id, user_id, refresh_hash, created_at, expires_at, revoked_at)
     VALUES ($1, $2, decode(md5($1::uuid::text), 'hex'), now() - interval '30 days',
       now() - make_interval(hours => $3), now() - make_interval(hours => $4))`,
    [id, await aUser(db.owner), expired, ended],
  );
  return id;
}

it('sessions are removed a day after their end, and no others', async () => {
  const kept = [await aSession(-24, null), await aSession(23, null), await aSession(-24, 23)];
  await aSession(25, null);
  await aSession(-24, 25);
  const housekeeping = aHousekeeping();
  expect(await housekeeping.round()).toBe(false);
  const { rows } = await db.owner.query<{ id: string }>('SELECT id FROM user_sessions ORDER BY id');
  expect(rows.map(({ id }) => id)).toEqual(kept);
});

it('entries of the audit log are removed after their retention', async () => {
  const workspaceId = await aWorkspace(db.owner);
  const entry = (daysAgo: number) =>
    db.owner.query(
      `INSERT INTO audit_log (workspace_id, id, actor_kind, actor_id, operation, path, status,
        request_id, address)
       VALUES ($1, uuidv7(make_interval(days => -$2::int)), 'user', uuidv7(), 'createPause', '/',
         201, 'r', '::1')`,
      [workspaceId, daysAgo],
    );
  for (const daysAgo of [366, 364, 0]) await entry(daysAgo);
  await aHousekeeping().round();
  const { rows } = await db.owner.query<{ days: number }>(
    'SELECT (now()::date - uuid_extract_timestamp(id)::date) AS days FROM audit_log ORDER BY id',
  );
  expect(rows).toEqual([{ days: 364 }, { days: 0 }]);
});

it('the calibration of a kind of task that nobody runs any more is removed', async () => {
  const workspaceId = await aWorkspace(db.owner);
  for (const daysAgo of [181, 179, 0]) {
    await db.owner.query(
      `INSERT INTO estimate_calibrations (workspace_id, task_type, median_used, samples, updated_at)
       VALUES ($1, 'kind ' || $2::int, 1, 5, now() - make_interval(days => $2))`,
      [workspaceId, daysAgo],
    );
  }
  expect(await aHousekeeping().round()).toBe(false);
  const { rows } = await db.owner.query('SELECT task_type FROM estimate_calibrations ORDER BY 1');
  expect(rows).toEqual([{ task_type: 'kind 0' }, { task_type: 'kind 179' }]);
});

describe('statistics', () => {
  const addLines = (count: number) =>
    db.owner.query(
      `INSERT INTO coordinator_logs (instance_id, event, message)
       SELECT 'i', 'e', repeat('x', 100) FROM generate_series(1, $1)`,
      [count],
    );

  /** Rows that Postgres counted at the last ANALYZE; -1 before the first. */
  async function countedLines(): Promise<number> {
    const { rows } = await db.owner.query<{ reltuples: number }>(
      `SELECT reltuples FROM pg_class WHERE oid = 'coordinator_logs'::regclass`,
    );
    return rows[0]?.reltuples ?? Number.NaN;
  }

  it('a table has statistics as soon as it has grown ten-fold', async () => {
    // Autovacuum must not come first.
    await db.owner.query('ALTER TABLE coordinator_logs SET (autovacuum_enabled = false)');
    await addLines(100);
    await aHousekeeping().runIfDue();
    expect(await countedLines()).toBe(-1);
    await addLines(900);
    await aHousekeeping().runIfDue();
    expect(await countedLines()).toBe(1_000);
    await addLines(5_000);
    await aHousekeeping().runIfDue();
    expect(await countedLines()).toBe(1_000);
    await addLines(5_000);
    await aHousekeeping().runIfDue();
    expect(await countedLines()).toBe(11_000);
  });
});

it('partitions of the coming days are created, and old heartbeats removed', async () => {
  await db.owner.query(
    `CREATE TABLE of_old PARTITION OF agent_heartbeat_history FOR VALUES
       FROM ('2020-01-01') TO ('2020-01-02')`,
  );
  const keep = async (daysAgo: number) =>
    db.owner.query(
      `INSERT INTO agent_heartbeat_history (workspace_id, agent_id, seen_at, status)
       VALUES (uuidv7(), uuidv7(), now() - make_interval(days => $1), 'healthy')`,
      [daysAgo],
    );
  for (const daysAgo of [-3, 0, 6, 8]) await keep(daysAgo);
  await aHousekeeping().round();
  const { rows } = await db.owner.query<{ place: string; days: number }>(
    `SELECT tableoid::regclass::text AS place, (now()::date - seen_at::date) AS days
     FROM agent_heartbeat_history ORDER BY seen_at`,
  );
  expect(rows.map(({ days }) => days)).toEqual([6, 0, -3]);
  const part = expect.stringMatching(/^agent_heartbeat_history_\d{8}$/);
  expect(rows.map(({ place }) => place)).toEqual(['agent_heartbeat_history_default', part, part]);
  const { rows: old } = await db.owner.query(`SELECT to_regclass('of_old') AS name`);
  expect(old).toEqual([{ name: null }]);
});

describe('sets of capabilities', () => {
  let workspaceId: string;

  beforeEach(async () => {
    workspaceId = await aWorkspace(db.owner);
  });

  async function aSet(key: string, unusedHours: number): Promise<void> {
    await db.owner.query(
      `INSERT INTO capability_sets (workspace_id, key, capabilities, used_at)
       VALUES ($1, $2, ARRAY[$2], now() - make_interval(hours => $3))
       ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = excluded.used_at`,
      [workspaceId, key, unusedHours],
    );
  }

  async function sets(): Promise<string[]> {
    const { rows } = await db.owner.query<{ key: string }>(
      'SELECT key FROM capability_sets WHERE workspace_id = $1 ORDER BY key',
      [workspaceId],
    );
    return rows.map(({ key }) => key);
  }

  async function createIn(runner: SqlRunner, key: string): Promise<void> {
    const task = {
      id: newId(),
      title: 'T',
      taskType: 't',
      priority: 5,
      maxRetries: 3,
      tags: [],
      retryBackoffSeconds: 1,
      estimatedTokens: '8970',
      estimateSource: 'default',
      requiredCapabilities: [key],
      capabilityKey: key,
      unmetDependencies: 0,
      hasDependents: false,
      inputContext: {},
      steps: [],
      deliverables: [],
      acceptance: [],
      metadata: {},
      secrets: {},
      actorKind: 'user',
      actorId: null,
      createdBy: null,
    };
    const params = [workspaceId, JSON.stringify([task]), '[]'];
    await runner.rows(creationOf('with_extras'), params);
  }

  const create = (key: string) => createIn(db.database.tenant(workspaceId), key);
  const round = () => aHousekeeping().round();

  it('a set of capabilities is removed after a day without use', async () => {
    await aSet('new', 23);
    await aSet('old', 25);
    await round();
    expect(await sets()).toEqual(['new']);
  });

  it.each(['PENDING', 'PAUSED', 'ABORTED', 'FAILED'] as const)(
    'a set of capabilities stays while a task that is %s has it, and counts as used',
    async (status) => {
      await aTask(db.owner, workspaceId, { status, requiredCapabilities: ['a'] });
      await aSet('a', 25);
      await round();
      expect(await sets()).toEqual(['a']);
      const { rows } = await db.owner.query(
        `SELECT FROM capability_sets WHERE workspace_id = $1
          AND used_at > now() - interval '1 hour'`,
        [workspaceId],
      );
      expect(rows).toHaveLength(1);
    },
  );

  it('a set of capabilities stays while an agent holds a task that has it', async () => {
    const agentId = await anAgent(db.owner, workspaceId);
    const { taskId } = await aHeldTask(db.owner, { workspaceId, agentId });
    await db.owner.query(
      `UPDATE agent_tasks SET required_capabilities = '{a}', capability_key = 'a' WHERE id = $1`,
      [taskId],
    );
    await aSet('a', 25);
    await round();
    expect(await sets()).toContain('a');
  });

  it('a set of capabilities stays while a task of a paused type has it', async () => {
    const id = await aTask(db.owner, workspaceId, { requiredCapabilities: ['a'] });
    await db.owner.query(`UPDATE agent_tasks SET capability_key = '!a' WHERE id = $1`, [id]);
    await aSet('a', 25);
    await round();
    expect(await sets()).toEqual(['a']);
  });

  it.each(['COMPLETED', 'ARCHIVED'] as const)(
    'a set of only %s tasks is removed',
    async (status) => {
      await aTask(db.owner, workspaceId, { status, requiredCapabilities: ['a'] });
      await aSet('a', 25);
      await round();
      expect(await sets()).toEqual([]);
    },
  );

  it('a set of capabilities stays for a task whose creation has not committed yet', async () => {
    await aSet('a', 25);
    const tenant = db.database.tenant(workspaceId);
    await tenant.transaction(async (tx) => {
      await createIn(tx, 'a');
      await round();
    });
    expect(await sets()).toEqual(['a']);
    await round();
    expect(await sets()).toEqual(['a']);
  });

  it('a set of capabilities is created again for a task created during its removal', async () => {
    await aSet('a', 25);
    const client = await db.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('DELETE FROM capability_sets WHERE workspace_id = $1', [workspaceId]);
      const creation = create('a');
      await waitFor('the creation to wait', async () => {
        const { rows } = await db.owner.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      await client.query('COMMIT');
      await creation;
    } finally {
      client.release();
    }
    expect(await sets()).toEqual(['a']);
  });
});
