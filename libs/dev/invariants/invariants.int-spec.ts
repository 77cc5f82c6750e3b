import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#lib/kernel';
import { anAgent, aWorkspace } from '../../../test/support/factories.js';
import { USED_BUDGET } from '../../../test/support/holds.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aDependency, aHeldTask, aTask } from '../../../test/support/task-factories.js';
import { checkInvariants } from './checks/check.js';

let db: TestDatabase;
let workspaceId: string;
let agentId: string;

beforeEach(async () => {
  db = await createTestDatabase();
  workspaceId = await aWorkspace(db.owner);
  agentId = await anAgent(db.owner, workspaceId, { maxConcurrentTasks: 2 });
  await db.owner.query(
    `INSERT INTO agent_heartbeats (workspace_id, agent_id, status) VALUES ($1, $2, 'healthy')`,
    [workspaceId, agentId],
  );
});

afterEach(() => db.drop());

/** A task under lease, as the claim and the start leave it. */
function held(): Promise<{ taskId: string; runId: string }> {
  return aHeldTask(db.owner, { workspaceId, agentId });
}

async function runEvent(runId: string, version: number, newState: string): Promise<void> {
  await db.owner.query(
    `INSERT INTO journal (workspace_id, event, log_event, run_id, run_version, new_state, agent_id, actor_kind)
     VALUES ($1, 'run.state_changed', '', $2, $3, $5, $4, 'system')`,
    [workspaceId, runId, version, agentId, newState],
  );
}

/** Breaks the rows as no transition could, with constraints and triggers disabled. */
async function breakBy(sql: string, params: unknown[] = []): Promise<void> {
  const client = await db.owner.connect();
  try {
    await client.query('BEGIN');
    for (const constraint of ['agent_tasks_state_is_whole', 'agent_tasks_is_sound']) {
      await client.query(`ALTER TABLE agent_tasks DROP CONSTRAINT IF EXISTS ${constraint}`);
    }
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(sql, params);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

async function broken(): Promise<Record<string, string[]>> {
  const outcomes = await checkInvariants(db.serviceUrl);
  const entries = outcomes
    .filter(({ holds }) => !holds)
    .map(({ name, violations }) => [name, violations.map((violation) => violation.problem)]);
  return Object.fromEntries(entries) as Record<string, string[]>;
}

describe('The invariants', () => {
  test('the invariants hold on an empty database, for the service and the owner', async () => {
    for (const url of [db.serviceUrl, db.ownerUrl]) {
      const outcomes = await checkInvariants(url);
      expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
      expect(outcomes).toHaveLength(14);
    }
  });

  test('the invariants hold for tasks in every status, also through a SqlRunner', async () => {
    const statuses = ['PENDING', 'PAUSED', 'COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED'] as const;
    for (const status of statuses) {
      await aTask(db.owner, workspaceId, { status });
    }
    await held();
    const outcomes = await checkInvariants(db.database.service);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
  });
});

describe('accounted_for', () => {
  test.each([
    ['a run that is gone', 'run_id = NULL', /^is RUNNING without a live run$/],
    ['no time', `status = 'PENDING', run_id = NULL, ready_at = NULL`, /not since any time/],
    [
      'a miscounted dependency',
      `status = 'PENDING', run_id = NULL, unmet_dependencies = 3`,
      /counts 3 unmet dependencies, but has 0/,
    ],
    [
      'an overdue retry',
      `status = 'ABORTED', run_id = NULL, abort_reason = 'timeout', retry_at = now() - interval '2 minutes'`,
      /overdue for its retry/,
    ],
    [
      'a pause by nobody',
      `status = 'PAUSED', run_id = NULL, paused_by = NULL`,
      /nobody knows by whom/,
    ],
  ])('a task with %s is found', async (_, assignment, problem) => {
    const { taskId } = await held();
    await breakBy(`UPDATE agent_tasks SET ${assignment} WHERE id = $1`, [taskId]);
    expect((await broken())['accounted_for']).toContainEqual(expect.stringMatching(problem));
  });

  test('an expired lease is found', async () => {
    const { runId } = await held();
    await breakBy(
      `UPDATE task_runs SET lease_by_heartbeat = false, lease_expires_at = now() - interval '2 minutes'
       WHERE id = $1`,
      [runId],
    );
    expect(await broken()).toEqual({ accounted_for: ['is under a lease that has passed'] });
  });

  test('an agent without heartbeats is found', async () => {
    await held();
    await breakBy(`UPDATE agent_heartbeats SET last_seen_at = now() - interval '1 hour'`);
    await breakTime();
    expect(await broken()).toEqual({
      accounted_for: ['is held by an agent that sends no more heartbeats'],
    });
  });

  test('a forgotten release is found', async () => {
    const dependsOnId = await aTask(db.owner, workspaceId, { status: 'COMPLETED' });
    const taskId = await aTask(db.owner, workspaceId);
    await aDependency(db.owner, workspaceId, { taskId, dependsOnId });
    expect(await broken()).toEqual({
      accounted_for: ['waits for a task that has ended, and nobody will tell it'],
    });
  });

  const breakTime = () =>
    db.owner.query(`UPDATE task_runs SET lease_expires_at = now() - interval '1 hour'`);
});

describe('one_open_question', () => {
  const ask = (taskId: string, runId: string, deadline: string) =>
    db.owner.query(
      `INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, free_text, deadline_at, on_deadline)
       VALUES ($1, uuidv7(), $2, $3, uuidv7(), 'Which?', true, now() + $4::interval, 'fail')`,
      [workspaceId, taskId, runId, deadline],
    );
  const rest = (taskId: string) =>
    breakBy(
      `UPDATE agent_tasks SET status = 'PAUSED', paused_by = 'run:1', paused_for = 'question' WHERE id = $1`,
      [taskId],
    );

  test.each([
    ['no question', [], false, ['waits for an answer, and has no open question']],
    ['a run', ['1 day'], false, ['waits for an answer, and has a run']],
    ['a passed deadline', ['-1 hour'], true, ['has an open question whose deadline has passed']],
  ])('a waiting task with %s is found', async (_, deadlines, withoutRun, problems) => {
    const { taskId, runId } = await held();
    for (const deadline of deadlines) await ask(taskId, runId, deadline);
    await rest(taskId);
    if (withoutRun) await breakBy('UPDATE agent_tasks SET run_id = NULL WHERE id = $1', [taskId]);
    const found = (await broken())['one_open_question'];
    expect(found).toEqual(expect.arrayContaining(problems));
  });

  test('a question without a waiting task is found', async () => {
    const { taskId, runId } = await held();
    await ask(taskId, runId, '1 day');
    expect(await broken()).toEqual({
      one_open_question: ['has an open question, and does not wait for an answer'],
    });
  });
});

test('changes_match_tasks: a change in review without a waiting task is found, and the reverse', async () => {
  const { taskId } = await held();
  const { taskId: other } = await held();
  const { rows } = await db.owner.query<{ id: string }>(
    `INSERT INTO repositories (workspace_id, id, name, url) VALUES ($1, uuidv7(), uuidv7(), 'x') RETURNING id`,
    [workspaceId],
  );
  await db.owner.query(
    `INSERT INTO changes (workspace_id, task_id, repository_id, target, state, step, step_due_at)
     VALUES ($1, $2, $3, 'main', 'PROVING', 'prove', now())`,
    [workspaceId, taskId, rows[0]?.id],
  );
  await breakBy(
    `UPDATE agent_tasks SET status = 'PAUSED', paused_by = 'agent:1', paused_for = 'review' WHERE id = $1`,
    [other],
  );
  expect((await broken())['changes_match_tasks']?.sort()).toEqual([
    'has a change in review, and does not wait for it',
    'waits for a review, and has a run',
    'waits for a review, and has no change in review',
  ]);
});

test('holds_marked: a mark without a hold is found, and a hold without a mark', async () => {
  const budgeted = await aWorkspace(db.owner);
  await db.owner.query(USED_BUDGET, [budgeted]);
  await db.owner.query('UPDATE workspaces SET may_hold_tasks = NOT may_hold_tasks');
  expect((await broken())['holds_marked']?.sort()).toEqual([
    'is marked, and nothing holds its tasks',
    'is not marked, and something may hold its tasks',
  ]);
});

describe('unbroken_log', () => {
  test.each([
    [
      'a missing entry',
      'DELETE FROM journal WHERE task_id = $1 AND version = 2',
      /version 3 follows 1/,
    ],
    [
      'a missing beginning',
      'DELETE FROM journal WHERE task_id = $1 AND version < 3',
      /version 3 follows 0/,
    ],
    [
      'two entries for a version',
      `INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, actor_kind)
       SELECT workspace_id, event, task_id, version, previous_status, new_status, actor_kind FROM journal
       WHERE task_id = $1 AND version = 2`,
      /version 2 follows 2/,
    ],
    [
      'an illegal edge',
      `UPDATE journal SET new_status = 'ARCHIVED' WHERE task_id = $1 AND version = 2`,
      /version 2 goes from PENDING to ARCHIVED/,
    ],
    [
      'a status without an entry',
      `UPDATE agent_tasks SET version = 9 WHERE id = $1`,
      /RUNNING in version 9/,
    ],
    [
      'no entry at all',
      `DELETE FROM journal WHERE task_id = $1`,
      /^is RUNNING in version 3, but its log ends with nothing$/,
    ],
    [
      'an entry that starts elsewhere',
      `UPDATE journal SET previous_status = 'PAUSED' WHERE task_id = $1 AND version = 3`,
      /version 3 starts from PAUSED, where the one before ended in ASSIGNED/,
    ],
    [
      'a change of fields that moved it',
      `UPDATE journal SET event = 'task.updated' WHERE task_id = $1 AND version = 3`,
      /version 3 changes the status as task.updated/,
    ],
    [
      'an entry out of order',
      `UPDATE journal SET id = (SELECT min(id) - 1 FROM journal) WHERE task_id = $1 AND version = 3`,
      /version 3 stands before the one that it follows/,
    ],
  ])('%s is found', async (_, sql, problem) => {
    const { taskId } = await held();
    expect(await broken()).toEqual({});
    await breakBy(sql, [taskId]);
    expect((await broken())['unbroken_log']).toContainEqual(expect.stringMatching(problem));
  });

  test('rows that retention dropped are not missed, and younger ones are', async () => {
    const { taskId, runId } = await held();
    const other = await aTask(db.owner, workspaceId, { status: 'COMPLETED' });
    await breakBy(`DELETE FROM journal WHERE task_id = $1 AND version < 3 OR task_id = $2`, [
      taskId,
      other,
    ]);
    expect(Object.keys(await broken())).toEqual(['unbroken_log', 'one_event_each']);
    await db.owner.query(
      `DO $$
       DECLARE until text := (SELECT regexp_replace(pg_get_expr(relpartbound, oid), '.* TO ', '')
         FROM pg_class WHERE relname = 'journal_before');
       BEGIN
         ALTER TABLE journal DETACH PARTITION journal_before;
         EXECUTE format('ALTER TABLE journal ATTACH PARTITION journal_before FOR VALUES FROM (%L) TO ',
           now() - interval '1 day') || until;
       END $$`,
    );
    await breakBy(`UPDATE agent_tasks SET created_at = now() - interval '2 days'`);
    await breakBy(`UPDATE task_runs SET assigned_at = now() - interval '2 days' WHERE id = $1`, [
      runId,
    ]);
    expect(await broken()).toEqual({});
    await breakBy(`UPDATE agent_tasks SET created_at = now() WHERE id = $1`, [taskId]);
    expect(await broken()).toMatchObject({ unbroken_log: ['version 3 follows 0'] });
  });
});

describe('one_live_run', () => {
  const secondRun = (taskId: string, generation: number) =>
    breakBy(
      `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds, lease_expires_at)
       VALUES ($1, $2, $3, $4, $5, 60, now() + interval '1 minute')`,
      [workspaceId, newId(), taskId, agentId, generation],
    );

  test('two live runs are found', async () => {
    const { taskId } = await held();
    await secondRun(taskId, 2);
    expect((await broken())['one_live_run']).toContain('has 2 live runs');
  });

  test('two runs of one generation are found, even with a gap elsewhere', async () => {
    const { taskId } = await held();
    await secondRun(taskId, 1);
    await secondRun(taskId, 3);
    expect((await broken())['one_live_run']).toContain('has 3 runs of 2 generations');
  });

  test('a gap in the generations is found', async () => {
    const { taskId, runId } = await held();
    await breakBy('UPDATE task_runs SET generation = 3 WHERE id = $1', [runId]);
    await db.owner.query('UPDATE agent_tasks SET generation = 3 WHERE id = $1', [taskId]);
    expect((await broken())['one_live_run']).toEqual(['has 1 runs, and the latest is number 3']);
  });

  test('a task that names another run is found', async () => {
    const { taskId } = await held();
    await breakBy('UPDATE agent_tasks SET run_id = $2 WHERE id = $1', [taskId, newId()]);
    expect((await broken())['one_live_run']?.[0]).toMatch(/^names the run/);
  });

  test('an entry of an older run after one of a newer is found', async () => {
    const { taskId, runId } = await held();
    await breakBy(
      `UPDATE task_runs SET state = 'FAILED', ended_at = now(), end_reason = 'agent_stale',
         assigned_at = now() - interval '1 hour' WHERE id = $1`,
      [runId],
    );
    const newer = newId();
    await db.owner.query(
      `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
         lease_expires_at, assigned_at)
       VALUES ($1, $2, $3, $4, 2, 60, now() + interval '1 minute', now() - interval '10 minutes')`,
      [workspaceId, newer, taskId, agentId],
    );
    await db.owner.query('UPDATE agent_tasks SET generation = 2, run_id = $2 WHERE id = $1', [
      taskId,
      newer,
    ]);
    await db.owner.query(
      `UPDATE journal SET actor_kind = 'run', run_id = CASE version WHEN 2 THEN $2::uuid ELSE $3::uuid END
       WHERE task_id = $1 AND version IN (2, 3)`,
      [taskId, newer, runId],
    );
    const problems = (await broken())['one_live_run'] ?? [];
    expect(problems).toContain('version 3 was moved by run 1 after run 2');
    expect(problems).toContainEqual(expect.stringMatching(/accepted after the next run had begun/));
  });
});

test('too many attempts are found, and a retry by hand starts anew', async () => {
  const { taskId, runId } = await held();
  await db.owner.query('UPDATE agent_tasks SET max_retries = 0 WHERE id = $1', [taskId]);
  const failed = `state = 'FAILED', ended_at = now(), end_reason = 'exit_code'`;
  await breakBy(
    `UPDATE task_runs SET ${failed}, assigned_at = now() - interval '1 hour' WHERE id = $1`,
    [runId],
  );
  await db.owner.query(
    `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, lease_seconds,
       lease_expires_at, state, ended_at, end_reason)
     VALUES ($1, $2, $3, $4, 2, 60, now(), 'FAILED', now(), 'exit_code')`,
    [workspaceId, newId(), taskId, agentId],
  );
  expect((await broken())['bounded_attempts']).toEqual([
    'has failed in 2 runs, and may be retried 0 times',
  ]);
  await db.owner.query(
    `INSERT INTO journal (workspace_id, task_id, version, event, previous_status, new_status, actor_kind, created_at)
     VALUES ($1, $2, 4, 'task.status_changed', 'FAILED', 'PENDING', 'user', now() - interval '30 minutes')`,
    [workspaceId, taskId],
  );
  expect((await broken())['bounded_attempts']).toBeUndefined();
});

describe('bounded_concurrency', () => {
  test('a wrong count of live runs is found', async () => {
    await held();
    await db.owner.query('UPDATE agents SET live_runs = 2 WHERE id = $1', [agentId]);
    expect(await broken()).toEqual({ bounded_concurrency: ['counts 2 live runs, and has 1'] });
  });

  test('an agent with more runs than its limit is found', async () => {
    await held();
    await held();
    await db.owner.query('UPDATE agents SET max_concurrent_tasks = 1 WHERE id = $1', [agentId]);
    expect((await broken())['bounded_concurrency']).toContain('holds 2 runs, and may hold 1');
  });

  test('an earlier excess of the limit is found after all runs ended', async () => {
    const runs = [newId(), newId(), newId()];
    for (const run of runs) await runEvent(run, 1, 'ASSIGNED');
    for (const run of runs) await runEvent(run, 2, 'COMPLETED');
    const problems = (await broken())['bounded_concurrency'];
    expect(problems).toEqual([expect.stringMatching(/^held 3 runs at .*, and may hold 2$/)]);
  });
});

describe('one_event_each', () => {
  test.each([
    ['none', `DELETE FROM journal WHERE task_id = $1 AND version = 2`, 'version 2 has 0 events'],
    [
      'two',
      `INSERT INTO journal (workspace_id, event, task_id, version, previous_status, new_status, actor_kind)
       SELECT workspace_id, event, task_id, version, previous_status, new_status, actor_kind FROM journal
       WHERE task_id = $1 AND version = 2`,
      'version 2 has 2 events',
    ],
    [
      'one for what never was',
      `UPDATE journal SET version = 8 WHERE task_id = $1 AND version = 3`,
      'version 8 has an event, and never was',
    ],
  ])('%s is found', async (_, sql, problem) => {
    const { taskId } = await held();
    await db.owner.query(sql, [taskId]);
    expect((await broken())['one_event_each']).toContain(problem);
  });

  test('a run without its event is found', async () => {
    const { runId } = await held();
    await db.owner.query(
      'UPDATE journal SET run_version = NULL WHERE run_id = $1 AND run_version = 1',
      [runId],
    );
    expect((await broken())['one_event_each']).toEqual(['version 1 has 0 events']);
  });

  test('a run with an event for a version that never existed is found', async () => {
    const { runId } = await held();
    await runEvent(runId, 3, 'STALE');
    expect((await broken())['one_event_each']).toEqual(['version 3 has an event, and never was']);
  });

  test('a skipped event, and more numbers than events, are found', async () => {
    await held();
    await db.owner.query(`UPDATE event_consumers SET position = (SELECT max(id) FROM journal)`);
    await db.owner.query(`INSERT INTO event_numbers VALUES ('channels', $1, 5)`, [workspaceId]);
    expect(await broken()).toEqual({});
    await db.owner.query('UPDATE event_numbers SET last_number = 4');
    expect((await broken())['one_event_each']).toEqual([
      expect.stringMatching(
        /^channels has numbered 4 messages, and the journal holds 5 up to \d+$/,
      ),
    ]);
    await db.owner.query('UPDATE event_numbers SET last_number = 1000');
    expect(Object.keys(await broken())).toEqual(['one_event_each']);
  });
});

test('a task that ran before its dependency is found', async () => {
  const dependsOnId = await aTask(db.owner, workspaceId);
  const { taskId } = await held();
  await db.owner.query(
    `INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, settled_at, created_at)
     VALUES ($1, $2, $3, now(), now() - interval '1 hour')`,
    [workspaceId, taskId, dependsOnId],
  );
  expect(await broken()).toEqual({
    dependencies_first: [`run 1 began before ${dependsOnId} had completed`],
  });
  await db.owner.query(`UPDATE task_dependencies SET policy = 'ignore'`);
  expect(await broken()).toEqual({});
});
