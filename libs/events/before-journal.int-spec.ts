import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#lib/database';
import { TokenService } from '#lib/identity';
import { checkInvariants } from '#lib/invariants';
import { apiClient } from '../../test/support/api-client.js';
import { startTestApp, type TestApp } from '../../test/support/app.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { numbered, type NumberedMessage } from './domain/channel.js';
import { messagesOf } from './index.js';
import { JournalCursor } from './journal-cursor.js';

const MIGRATIONS = 'prisma/migrations';
const JOURNAL = '20261122000000_journal';
const LOGS = `
SELECT workspace_id, task_id, run_id, agent_id, task_version, level, event, message, details, previous_status, new_status,
  actor_kind, actor_id, session_key, stack_trace, created_at
FROM agent_task_logs ORDER BY workspace_id, task_id, id`;

type Body = Record<string, unknown>;

let db: TestDatabase;
let logsBefore: Body[];
/** What no subscriber has heard for certain, in order. */
let unsent: { workspace_id: string; payload: Body }[];
let counters: Map<string, number>;

beforeAll(async () => {
  db = await createTestDatabase({}, undefined, 'template1');
  await migrateUpTo(JOURNAL);
  await db.owner.query(await readFile('libs/events/testing/before-journal.sql', 'utf8'));
  logsBefore = (await db.owner.query<Body>(LOGS)).rows;
  unsent = (
    await db.owner.query<{ workspace_id: string; payload: Body }>(
      `SELECT workspace_id, payload FROM outbox_events
       WHERE published_at IS NULL OR id IN (SELECT unnest(in_flight) FROM outbox_relay) ORDER BY id`,
    )
  ).rows;
  const { rows } = await db.owner.query<{ workspace_id: string; last_seq: string }>(
    'SELECT workspace_id, last_seq FROM outbox_counters',
  );
  counters = new Map(rows.map((row) => [row.workspace_id, Number(row.last_seq)]));
  expect(await migrate({ ownerUrl: db.ownerUrl })).toContain(JOURNAL);
}, 60_000);

afterAll(() => db.drop());

async function migrateUpTo(end: string): Promise<void> {
  const migrationsDir = await mkdtemp(join(tmpdir(), 'drover-migrations-'));
  for (const name of (await readdir(MIGRATIONS)).filter((one) => one < end)) {
    await cp(join(MIGRATIONS, name), join(migrationsDir, name), { recursive: true });
  }
  await migrate({ ownerUrl: db.ownerUrl, migrationsDir });
  await rm(migrationsDir, { recursive: true });
}

/** Times as one kind of text: those of before had microseconds and another name for UTC. */
function plain(body: Body): Body {
  const asTime = (value: unknown) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, asTime(value)]));
}

async function relayAll(): Promise<NumberedMessage[]> {
  const cursor = new JournalCursor(db.database, 'channels', 7);
  const sent: NumberedMessage[] = [];
  for (;;) {
    const reading = await cursor.read();
    if (reading.kind === 'idle') return sent;
    if (reading.kind !== 'batch') continue;
    const messages = reading.rows.flatMap(messagesOf);
    const numbers = await cursor.numbersOf([...new Set(messages.map((m) => m.workspaceId))]);
    if (!numbers) throw new Error('Nobody else is there');
    sent.push(...numbered(messages, numbers));
    expect(await cursor.done(numbers)).toBe(true);
  }
}

describe('what was there before the journal', () => {
  it('has the same log, in the same order', async () => {
    const { rows } = await db.owner.query<Body>(LOGS);
    expect(rows).toEqual(logsBefore);
    expect(rows.length).toBeGreaterThan(35);
  });

  it('breaks no invariant', async () => {
    const outcomes = await checkInvariants(db.serviceUrl);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
  });

  it('keeps in a column why tasks were aborted, and what ended runs', async () => {
    const tasks = await db.owner.query(
      'SELECT title, abort_message FROM agent_tasks WHERE abort_message IS NOT NULL ORDER BY id',
    );
    expect(tasks.rows).toEqual([
      { title: 'Task 3', abort_message: 'It ran for longer than it may' },
      { title: 'Task 10', abort_message: 'No longer needed' },
    ]);
    const runs = await db.owner.query(
      `SELECT t.title, r.ended_by FROM task_runs r JOIN agent_tasks t ON t.id = r.task_id ORDER BY r.id`,
    );
    expect(runs.rows).toEqual([
      { title: 'Task 2', ended_by: 'agent' },
      { title: 'Task 3', ended_by: 'coordinator' },
      { title: 'Task 4', ended_by: null },
      { title: 'Task 7', ended_by: 'agent' },
      { title: 'Task 8', ended_by: null },
      { title: 'Task 10', ended_by: 'user' },
    ]);
  });

  it('has each event sent once that was not, with the next numbers, and each task told in order', async () => {
    const { rows: ids } = await db.owner.query<{ newest: string }>(
      `SELECT (2 * max(id))::text AS newest FROM journal WHERE id <= (SELECT position FROM event_consumers)`,
    );
    const sent = await relayAll();
    const about = (body: Body) => JSON.stringify([body['taskId'], body['agentId'], body['event']]);
    const byKind = (list: Body[]) => list.toSorted((a, b) => about(a).localeCompare(about(b)));
    expect(byKind(sent.map(({ body }) => plain(body)))).toEqual(
      byKind(unsent.map(({ payload }) => plain(payload))),
    );
    for (const [workspace, last] of counters) {
      const own = sent.filter(({ workspaceId }) => workspaceId === workspace);
      expect(own.length).toBeGreaterThan(3);
      expect(own.map((m) => Number(m.workspaceSeq))).toEqual(own.map((_, n) => last + n + 1));
      expect(own.every(({ id }) => BigInt(id) > BigInt(ids[0]?.newest ?? 0))).toBe(true);
    }
    for (const taskId of new Set(unsent.map(({ payload }) => payload['taskId']))) {
      const ofTask = (list: Body[]) =>
        list.filter((body) => body['taskId'] === taskId).map((body) => body['event']);
      expect(ofTask(sent.map(({ body }) => body))).toEqual(
        ofTask(unsent.map(({ payload }) => payload)),
      );
    }
  });

  it('goes on: a run that was under way is completed, and its task’s log goes on', async () => {
    const server: TestApp = await startTestApp({ ROLES: 'api' }, db);
    const { rows } = await db.owner.query<{ workspace_id: string; agent_id: string; id: string }>(
      `SELECT workspace_id, agent_id, id FROM task_runs WHERE state = 'WORKING'`,
    );
    const run = rows[0] as (typeof rows)[0];
    const tokens = server.app.get(TokenService, { strict: false });
    const { token } = tokens.issueAgentToken({
      workspaceId: run.workspace_id,
      agentId: run.agent_id,
      tokenVersion: 1,
    });
    const agent = apiClient(server.url, { authorization: `Bearer ${token}` });
    expect(await agent.post(`/runs/${run.id}/complete`, {})).toMatchObject({ status: 200 });
    await server.app.close();
    const [message, other] = await relayAll();
    expect(message?.body).toMatchObject({ newStatus: 'COMPLETED', runId: run.id, version: 4 });
    expect(other?.body).toMatchObject({ newState: 'COMPLETED', runId: run.id, version: 5 });
    const outcomes = await checkInvariants(db.serviceUrl);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
  });
});
