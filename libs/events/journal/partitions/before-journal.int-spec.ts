import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#lib/database';
import { TokenService } from '#lib/identity';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { numbered, type NumberedMessage } from '../domain/channel.js';
import { JournalCursor } from '../reading/journal-cursor.js';

const MIGRATIONS = 'prisma/migrations';
const JOURNAL = '20261122000000_journal';
const FIXTURE = 'libs/events/journal/testing/before-journal.sql';
const PASSWORD = 'a password of the fixture';
const LOGS = `
SELECT workspace_id, task_id, run_id, agent_id, task_version, level, event, message, details, previous_status, new_status,
  actor_kind, actor_id, session_key, stack_trace, created_at
FROM agent_task_logs ORDER BY workspace_id, task_id, id`;
const TASKS = `
SELECT id, title, status, version, priority, run_id, agent_id, session_key, generation, progress_percent, current_step,
  estimated_completion_at, timeout_seconds, retry_count, max_retries, retry_at, last_error, abort_reason, failure_reason,
  unmet_dependencies, ready_at, queue_rank, queue_expires_at, summary, paused_by, pause_reason, created_by, created_at,
  updated_at, assigned_at, started_at, paused_at, completed_at, failed_at, aborted_at, archived_at
FROM agent_tasks ORDER BY id`;
/** Data that no migration moves and that servers and agents continue with. */
const KEPT_ROWS = [
  'users',
  'workspace_members',
  'api_keys',
  'agents',
  'agent_heartbeats',
  'gateways',
  'task_runs',
  'session_spawns',

  'task_dependencies',
  'agent_task_tags',
  'pauses',
  'idempotency_keys',
  'coordinator_logs',
  'data_keys',
];

const COUNTS = {
  PENDING: 8,
  ASSIGNED: 2,
  RUNNING: 8,
  PAUSED: 3,
  COMPLETED: 2,
  FAILED: 4,
  ABORTED: 8,
  ARCHIVED: 1,
};
/** The title of each aborted task with its reason. */
const ABORTED = {
  'Aborted, waits for its retry': 'Killed',
  'Cancelled prerequisite': 'Requirements changed',
  'Cancelled under way': 'No longer needed',
  'Cancelled with others': 'Clearing up',
  'Failed, nobody has heard': 'Exit 1',
  'Its agent was terminated': 'Its agent was terminated',
  'Its session exits': 'Exited with 3',
  'Ran for too long': 'It ran longer than its timeout',
  'Waited for too long': 'It waited in the queue longer than it may',
};
/** The task and generation of each ended run with its reason. */
const ENDED = {
  'Completed with a result 1': 'agent',
  'Archived 1': 'agent',
  'Completed 1': 'agent',
  'Failed twice, waits again 1': 'agent',
  'Failed twice, waits again 2': 'agent',
  'Aborted, waits for its retry 1': 'agent',
  'Failed for good 1': 'agent',
  'Failed, nobody has heard 1': 'agent',
  'Given back 1': 'agent',
  // The old log did not record it.
  'Paused under way 1': null,
  'Lost with its agent 1': 'coordinator',
  'Ran for too long 1': 'coordinator',
  'Cancelled under way 1': 'user',
  'Its agent was terminated 1': 'user',
  'Its session exits 1': 'gateway',
};

/**
 * The old servers stopped a moment ago, whenever this test runs. Rows that the clock judges move
 * along.
 */
const STOPPED_NOW = `
WITH passed AS (SELECT now() - max(last_seen_at) AS since FROM agent_heartbeats),
beats AS (UPDATE agent_heartbeats SET last_seen_at = last_seen_at + since FROM passed),
leases AS (UPDATE task_runs SET lease_expires_at = lease_expires_at + since FROM passed WHERE ended_at IS NULL)
UPDATE agent_tasks SET retry_at = retry_at + since FROM passed WHERE retry_at IS NOT NULL`;

/** A task that a worker would have claimed without being asked. */
const COMMANDED = 'Failed for good';
const WITH_COMMAND = `UPDATE agent_tasks SET input_context = '{"command": ["true"]}' WHERE title = '${COMMANDED}'`;

/**
 * Revocations of tokens that no agent has any more. A revocation now names the workspace of its
 * agent.
 */
const REVOKED = `INSERT INTO token_revocations (kind, subject, expires_at) SELECT 'agent', id || '<1', now() + interval '1 day' FROM agents`;
const NAMED = `SELECT FROM token_revocations JOIN agents a ON subject = a.id || '<1' AND agent_workspace_id = workspace_id`;

/** Pull agents could execute commands, and continue to do so. */
function afterwards(table: string, row: Body): Body {
  const { mode, capabilities } = row as { mode: string; capabilities: string[] };
  if (table !== 'agents' || mode !== 'pull') return row;
  return { ...row, capabilities: [...capabilities, 'command'].sort() };
}

type Body = Record<string, unknown>;

let db: TestDatabase;
let server: TestApp;
let logsBefore: Body[];
let tasksBefore: Body[];
let rowsBefore: Map<string, Body[]>;
/** Events that no subscriber received for certain, in order. */
let unsent: { workspace_id: string; payload: Body }[];
let counters: Map<string, number>;

beforeAll(async () => {
  db = await createTestDatabase({}, undefined, 'template1');
  await migrateUpTo(JOURNAL);
  await db.owner.query(await readFile(FIXTURE, 'utf8'));
  await db.owner.query(STOPPED_NOW);
  await db.owner.query(WITH_COMMAND);
  await db.owner.query(REVOKED);
  logsBefore = await rows(LOGS);
  tasksBefore = await rows(TASKS);
  rowsBefore = await allKeptRows();
  unsent = await rows(
    `SELECT workspace_id, payload FROM outbox_events
     WHERE published_at IS NULL OR id IN (SELECT unnest(in_flight) FROM outbox_relay) ORDER BY id`,
  );
  const counted = await rows<{ workspace_id: string; last_seq: string }>(
    'SELECT workspace_id, last_seq FROM outbox_counters',
  );
  counters = new Map(counted.map((row) => [row.workspace_id, Number(row.last_seq)]));
  // The connected sessions are those of this test.
  expect(await migrate({ ownerUrl: db.ownerUrl, force: true })).toContain(JOURNAL);
  server = await startTestApp({ ROLES: 'api' }, db);
}, 60_000);

afterAll(async () => {
  await server.app.close();
  await db.drop();
});

async function rows<Row = Body>(sql: string, params: unknown[] = []): Promise<Row[]> {
  return (await db.owner.query(sql, params)).rows as Row[];
}

async function allKeptRows(): Promise<Map<string, Body[]>> {
  const read = KEPT_ROWS.map(async (table) => {
    const sql = `SELECT to_jsonb(x) AS body FROM ${table} x ORDER BY to_jsonb(x) ->> 'created_at', x::text`;
    return [table, (await rows<{ body: Body }>(sql)).map(({ body }) => body)] as const;
  });
  return new Map(await Promise.all(read));
}

async function task(title: string): Promise<{ id: string; workspace_id: string; run_id: string }> {
  const found = await rows<{ id: string; workspace_id: string; run_id: string }>(
    'SELECT id, workspace_id, run_id FROM agent_tasks WHERE title = $1',
    [title],
  );
  if (found.length !== 1) throw new Error(`${found.length} tasks ${title}`);
  return found[0] as (typeof found)[0];
}

/** A member who signs in with the old password. */
async function member(name: string): Promise<ApiClient> {
  const [workspace] = await rows<{ id: string }>(
    `SELECT m.workspace_id AS id FROM workspace_members m JOIN users u ON u.id = m.user_id WHERE u.email = $1`,
    [`${name}@example.test`],
  );
  const answer = await apiClient(server.url, {}).post('/auth/login', {
    email: `${name}@example.test`,
    password: PASSWORD,
  });
  expect(answer.status).toBe(200);
  const authorization = `Bearer ${String(answer.body['accessToken'])}`;
  return apiClient(server.url, { authorization, 'x-workspace-id': workspace?.id ?? '' });
}

async function agent(name: string): Promise<{ id: string; api: ApiClient }> {
  const [found] = await rows<{ id: string; workspace_id: string; token_version: number }>(
    'SELECT id, workspace_id, token_version FROM agents WHERE name = $1',
    [name],
  );
  if (!found) throw new Error(`No agent ${name}`);
  const { token } = server.app.get(TokenService, { strict: false }).issueAgentToken({
    workspaceId: found.workspace_id,
    agentId: found.id,
    tokenVersion: found.token_version,
  });
  return { id: found.id, api: apiClient(server.url, { authorization: `Bearer ${token}` }) };
}

async function migrateUpTo(end: string): Promise<void> {
  const migrationsDir = await mkdtemp(join(tmpdir(), 'drover-migrations-'));
  for (const name of (await readdir(MIGRATIONS)).filter((one) => one < end)) {
    await cp(join(MIGRATIONS, name), join(migrationsDir, name), { recursive: true });
  }
  await migrate({ ownerUrl: db.ownerUrl, migrationsDir });
  await rm(migrationsDir, { recursive: true });
}

/** Times in one notation. Old ones had microseconds and another name for UTC. */
function plain(body: Body): Body {
  const asTime = (value: unknown) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, asTime(value)]));
}

async function relayAll(): Promise<NumberedMessage[]> {
  const cursor = new JournalCursor(db.database, { name: 'channels' }, 7);
  const sent: NumberedMessage[] = [];
  for (;;) {
    const reading = await cursor.read();
    if (reading.kind === 'idle') {
      await cursor.giveBack();
      return sent;
    }
    if (reading.kind !== 'batch') continue;
    const { messages } = reading;
    const numbers = await cursor.numbersOf([...new Set(messages.map((m) => m.workspaceId))]);
    if (!numbers) throw new Error('Nobody else is there');
    sent.push(...numbered(messages, numbers));
    expect(await cursor.done(numbers)).toBe(true);
  }
}

async function expectInvariants(): Promise<void> {
  const outcomes = await checkInvariants(db.serviceUrl);
  expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
}

/** A row of the log in the API, without its id, which changes. */
const shownEntry = (row: Body) => ({
  taskId: row['task_id'],
  runId: row['run_id'],
  agentId: row['agent_id'],
  level: row['level'],
  event: row['event'],
  message: row['message'],
  details: row['details'],
  taskVersion: row['task_version'],
  previousStatus: row['previous_status'],
  newStatus: row['new_status'],
  actor: { kind: row['actor_kind'], id: row['actor_id'] },
  sessionKey: row['session_key'],
  stackTrace: row['stack_trace'],
  createdAt: (row['created_at'] as Date).toISOString(),
});

describe('data from before the journal', () => {
  it('tasks, runs, agents and their data are unchanged', async () => {
    expect(await rows(TASKS)).toEqual(tasksBefore);
    const counts = await rows<{ status: string; tasks: number }>(
      'SELECT status, count(*)::int AS tasks FROM agent_tasks GROUP BY status',
    );
    expect(Object.fromEntries(counts.map((row) => [row.status, row.tasks]))).toEqual(COUNTS);
    expect(await rows(NAMED)).toHaveLength((rowsBefore.get('agents') ?? []).length);
    const now = await allKeptRows();
    for (const table of KEPT_ROWS) {
      const before = rowsBefore.get(table) ?? [];
      expect(before).not.toEqual([]);
      expect(now.get(table)).toMatchObject(before.map((row) => afterwards(table, row)));
    }
  });

  it('tasks with a command wait for agents that execute commands', async () => {
    expect(
      await rows(
        `SELECT t.required_capabilities, s.key FROM agent_tasks t
         JOIN capability_sets s ON s.workspace_id = t.workspace_id AND s.key = t.capability_key
         WHERE t.title = '${COMMANDED}'`,
      ),
    ).toEqual([{ required_capabilities: ['command', 'tired'], key: 'command,tired' }]);
  });

  it('the log is the same in the same order', async () => {
    expect(await rows(LOGS)).toEqual(logsBefore);
    expect(logsBefore.length).toBeGreaterThan(35);
  });

  it.each(['ada', 'bob'])('%s shows each log as it was', async (name) => {
    const api = await member(name);
    const list = await api.get<{ items: { id: string }[] }>('/agent-tasks?limit=200');
    expect(list.body.items.length).toBeGreaterThan(3);
    for (const { id } of list.body.items) {
      const log = await api.get<{ items: Body[] }>(`/agent-tasks/${id}/logs?order=asc&limit=200`);
      const expected = logsBefore.filter((row) => row['task_id'] === id).map(shownEntry);
      expect(log.body.items).toEqual(
        expected.map((entry) => ({ ...entry, id: expect.any(String), action: expect.any(String) })),
      );
    }
  });

  it('no invariant is broken', expectInvariants);

  it('reasons of aborted tasks and ended runs are in columns', async () => {
    const tasks = await rows(
      'SELECT title, abort_message FROM agent_tasks WHERE abort_message IS NOT NULL',
    );
    expect(Object.fromEntries(tasks.map((row) => [row['title'], row['abort_message']]))).toEqual(
      ABORTED,
    );
    const runs = await rows(
      `SELECT t.title || ' ' || r.generation AS run, r.ended_by
       FROM task_runs r JOIN agent_tasks t ON t.id = r.task_id WHERE r.ended_at IS NOT NULL`,
    );
    expect(Object.fromEntries(runs.map((row) => [row['run'], row['ended_by']]))).toEqual(ENDED);
    expect(
      await rows('SELECT FROM task_runs WHERE ended_at IS NULL AND ended_by IS NOT NULL'),
    ).toEqual([]);
  });

  it('unsent events are sent once with the next numbers, in order for each task', async () => {
    const ids = await rows<{ newest: string }>(
      `SELECT (2 * max(id))::text AS newest FROM journal WHERE id <= (SELECT position FROM event_consumers WHERE name = 'channels')`,
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

  it('sealed values stay hidden and open for the runs that hold them', async () => {
    const [{ leaks }] = (await rows<{ leaks: string }>(
      `SELECT count(*) AS leaks FROM agent_tasks
       WHERE concat(input_context, checkpoint_data, output_result, metadata) ~ 'drover-sealed|-secret-[0-9]'`,
    )) as [{ leaks: string }];
    expect(leaks).toBe('0');
    const {
      id,
      run_id: runId,
      workspace_id: workspaceId,
    } = await task('Running with a checkpoint');
    const shown = await (await member('ada')).get(`/agent-tasks/${id}`);
    expect(shown.body).toMatchObject({
      inputContext: {
        repository: 'https://example.test/compiler.git',
        apiKey: '[redacted]',
        steps: [{ run: 'make', password: '[redacted]' }],
      },
      checkpointData: { file: 17, resumeToken: '[redacted]' },
    });
    const { id: agentId } = await agent('Builder');
    const token = server.app
      .get(TokenService, { strict: false })
      .issueRunToken({ workspaceId, agentId, taskId: id, runId });
    const run = apiClient(server.url, { authorization: `Bearer ${token}` });
    expect((await run.get(`/agent-tasks/${id}`)).body).toMatchObject({
      inputContext: {
        apiKey: 'running-secret-1',
        steps: [{ run: 'make', password: 'running-secret-2' }],
      },
      checkpointData: { file: 17, resumeToken: 'checkpoint-secret-2' },
    });
  });

  it("a live run can be completed, and its task's log continues", async () => {
    const { run_id: runId } = await task('Running with a checkpoint');
    const [before] = await rows<{ version: number }>(
      'SELECT version FROM task_runs WHERE id = $1',
      [runId],
    );
    const { api } = await agent('Builder');
    expect(await api.post(`/runs/${runId}/complete`, {})).toMatchObject({ status: 200 });
    const [message, other] = await relayAll();
    expect(message?.body).toMatchObject({ newStatus: 'COMPLETED', runId, version: 4 });
    expect(other?.body).toMatchObject({
      newState: 'COMPLETED',
      runId,
      version: Number(before?.version) + 1,
    });
    await expectInvariants();
  });

  it('a task that was paused during a run resumes from its checkpoint', async () => {
    const { id } = await task('Paused under way');
    const ada = await member('ada');
    expect(await ada.post(`/agent-tasks/${id}/resume`)).toMatchObject({
      status: 200,
      body: { status: 'PENDING', version: 5 },
    });
    const { id: agentId, api } = await agent('Builder');
    const { body } = await api.post<{ tasks: { task: Body; run: Body }[] }>(
      `/agents/${agentId}/claim`,
      { maxTasks: 50 },
    );
    const claim = body.tasks.find((one) => one.task['id'] === id);
    expect(claim?.task).toMatchObject({
      inputContext: { secret: 'paused-secret-1' },
      checkpointData: { page: 7 },
    });
    const path = `/runs/${String(claim?.run['id'])}`;
    expect(await api.post(`${path}/start`)).toMatchObject({ status: 200 });
    expect(await api.post(`${path}/complete`)).toMatchObject({ status: 200 });
    expect((await ada.get(`/agent-tasks/${id}`)).body).toMatchObject({
      status: 'COMPLETED',
      generation: 2,
    });
    await expectInvariants();
  });

  it('waiting tasks are handed out in order, and held ones are not', async () => {
    const ada = await member('ada');
    const id = newId();
    const values = { name: 'New', capabilities: ['later', 'flaky'], maxConcurrentTasks: 50 };
    expect(await ada.put(`/agents/${id}`, values)).toMatchObject({ status: 201 });
    const { api } = await agent('New');
    const { body } = await api.post<{ tasks: { task: Body }[] }>(`/agents/${id}/claim`, {
      maxTasks: 50,
    });
    expect(body.tasks.map((one) => one.task['title'])).toEqual([
      'Waited for, and changed',
      'Failed twice, waits again',
      'Does not mind',
    ]);
    const again = body.tasks.find((one) => one.task['title'] === 'Failed twice, waits again');
    expect(again?.task).toMatchObject({
      inputContext: { password: 'pending-secret-1', depth: 3 },
      checkpointData: { attempt: 2, sessionToken: 'checkpoint-secret-1' },
    });
    await expectInvariants();
  });
});
