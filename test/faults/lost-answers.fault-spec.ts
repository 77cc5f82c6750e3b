import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import type { ApiAnswer } from '../support/api-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { type Moment, PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { AnswerBook, once, patiently } from './harness/patience.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

const NEVER = '0 0 0 29 2 *';

let db: TestDatabase;
let fleet: TestFleet;
let server: BuiltProcess;
/** The proxies of the API and of the coordinator to Postgres. */
let app: PostgresProxy;
let service: PostgresProxy;
let book: AnswerBook;

beforeAll(async () => {
  db = await createTestDatabase();
  [app, service] = await Promise.all([
    PostgresProxy.to(db.appUrl),
    PostgresProxy.to(db.serviceUrl),
  ]);
  const env = {
    DATABASE_URL: app.url,
    DATABASE_SERVICE_URL: service.url,
    // An unexpected cycle could lose another answer than the intended one.
    COORDINATOR_CRON: NEVER,
  };
  fleet = await TestFleet.create({ db, env });
  server = await fleet.startServer();
});

beforeEach(() => {
  book = new AnswerBook();
});

afterAll(async () => {
  app.mend();
  service.mend();
  await fleet.stop();
  await Promise.all([app.close(), service.close()]);
});

const runsOf = async (taskId: string) => {
  const { rows } = await db.owner.query<{ state: string }>(
    'SELECT state FROM task_runs WHERE task_id = $1 ORDER BY generation',
    [taskId],
  );
  return rows.map(({ state }) => state);
};

describe('a commit whose answer is lost', () => {
  it('a repeated creation with its Idempotency-Key creates one task', async () => {
    const title = newId();
    const lost = app.loseAnswerTo('create_tasks_with_extras');
    const create = () =>
      fleet.api.post(
        '/agent-tasks',
        { title, taskType: 'lost', requiredCapabilities: ['nobody'] },
        { 'idempotency-key': title },
      );
    const answer = await patiently(create, book);
    await lost;
    expect(book.count(503)).toBe(1);
    expect(book.withoutRetryAfter).toBe(0);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('idempotency-replayed')).toBe('true');
    const { rows } = await db.owner.query('SELECT id FROM agent_tasks WHERE title = $1', [title]);
    expect(rows).toEqual([{ id: answer.body['id'] }]);
  });

  it('an agent whose claim has lost its answer finds its one run', async () => {
    const agent = await PullAgent.register(fleet);
    const taskId = await fleet.submit('');
    const lost = app.loseAnswerTo('claim_for_one');
    expect(await agent.tryClaim()).toBeUndefined();
    await lost;
    expect(await agent.tryClaim()).toEqual([]);
    const live = await agent.live();
    expect(live).toMatchObject([{ taskId }]);
    for (const run of live) expect((await agent.complete(run)).status).toBe(200);
    expect(await runsOf(taskId)).toEqual(['COMPLETED']);
  });

  it.each([
    ['start', 'start_run'],
    ['complete', 'complete_runs'],
  ] as const)('a repeated %s gets the first answer', async (report, name) => {
    const agent = await PullAgent.register(fleet, {}, book);
    const taskId = await fleet.submit('');
    const run = await agent.claim();
    if (report === 'complete') await agent.start(run);
    const lost = app.loseAnswerTo(name);
    const answer = await agent[report](run);
    await lost;
    expect(book.count(503)).toBe(1);
    const version = report === 'complete' ? 4 : 3;
    expect(answer).toMatchObject({ status: 200, body: { version } });
    if (report === 'start') await agent.complete(run);
    expect(await fleet.task(taskId)).toMatchObject({ status: 'COMPLETED', version: 4 });
    expect(await runsOf(taskId)).toEqual(['COMPLETED']);
  });

  it('a worker returns a run whose claim has lost its answer, and then executes it', async () => {
    const worker = await fleet.startWorker('forgetful');
    // The worker polls by itself now and then, so the lost answer may have been an empty one.
    const states = await waitFor('the answer of a claim with a task to be lost', async () => {
      const lost = app.loseAnswerTo('claim_for_one');
      const taskId = await fleet.submit(
        'console.log("::drover {\\"result\\": {\\"done\\": true}}")',
      );
      await lost;
      await waitFor('the task to be done', async () => {
        return (await fleet.task(taskId))['status'] === 'COMPLETED';
      });
      const runs = await runsOf(taskId);
      return runs.length > 1 && runs;
    });
    expect(states).toEqual(['RELEASED', 'COMPLETED']);
    await worker.stop();
  });

  it('usage that a command reports twice is in the budget once', async () => {
    const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };
    const made = await fleet.api.post('/budgets', { scope: 'global', allocated: 1e9, ...period });
    const worker = await fleet.startWorker('reckoning');
    const lost = app.loseAnswerTo('apply_settlement');
    const usage = { model: 'claude-sonnet-4', inputTokens: 40, outputTokens: 2 };
    const line = `::drover ${JSON.stringify({ usage: [usage, { ...usage, cacheReadTokens: 9 }] })}`;
    const taskId = await fleet.submit(`console.log(${JSON.stringify(line)})`);
    await lost;
    await waitFor('the task to be done', async () => {
      return (await fleet.task(taskId))['status'] === 'COMPLETED';
    });
    const budget = await fleet.api.get(`/budgets/${made.body['id']}`);
    expect(budget.body).toMatchObject({ consumed: '93', reserved: '0' });
    await worker.stop();
  });

  it('the cycle after a lost commit of a sweep does nothing twice', async () => {
    const agent = await PullAgent.register(fleet, {}, book);
    const taskId = await fleet.submit('');
    const run = await agent.claim();
    await agent.start(run);
    let lost = service.loseAnswerTo('promote_due_retries');
    const failure = { error: { message: 'on purpose', class: 'exit_code', retryable: true } };
    expect((await agent.api.post(`/runs/${run.runId}/fail`, failure)).status).toBe(200);
    await waitFor('the answer to be lost of the sweep that promotes the task', async () => {
      await lost;
      if ((await fleet.task(taskId))['status'] === 'PENDING') return true;
      // The answer belongs to a sweep before the failure.
      lost = service.loseAnswerTo('promote_due_retries');
      return false;
    });
    const again = await agent.claim();
    expect(again.taskId).toBe(taskId);
    await agent.complete(again);
    expect(await runsOf(taskId)).toEqual(['FAILED', 'COMPLETED']);
  });
});

describe('a server that is killed', () => {
  const ESTIMATE = '8970';
  const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };
  const usage = [{ id: 'call-1', model: 'claude-sonnet-4', inputTokens: 900, outputTokens: 70 }];

  /** A task that only its own agent can take, with its own budget. */
  async function limited() {
    const capability = `only-${newId()}`;
    const agent = await PullAgent.register(fleet, { capabilities: [capability] }, book);
    const taskId = await fleet.submit('', { requiredCapabilities: [capability] });
    const limits = { scope: 'task', scopeId: taskId, allocated: 10_000, ...period };
    const { body } = await fleet.api.post('/budgets', limits);
    const sums = async () => {
      const { reserved, consumed } = (await fleet.api.get(`/budgets/${body['id']}`)).body;
      return { reserved, consumed };
    };
    return { agent, taskId, sums };
  }

  /**
   * Sends the request, kills the server at that moment, and starts another one. Nobody receives the
   * answer.
   */
  async function killedAt(moment: Moment, send: () => Promise<ApiAnswer>): Promise<void> {
    const caught = app.catch(moment);
    const answer = once(send, book);
    await caught.reached;
    server.kill('SIGKILL');
    await server.ended();
    expect(await answer).toBeUndefined();
    server = await fleet.startServer();
  }

  it('a run whose claim died with the server loses its hold with its lease', async () => {
    const { agent, taskId, sums } = await limited();
    const claim = () => agent.api.post(`/agents/${agent.id}/claim`, { leaseSeconds: 600 });
    await killedAt({ at: 'after-commit', statement: 'claim_for_one_holding' }, claim);
    expect(await sums()).toEqual({ reserved: ESTIMATE, consumed: '0' });
    await db.owner.query(
      `UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1`,
      [taskId],
    );
    await fleet.api.post('/coordinator/recover', { workspaceId: fleet.workspaceId });
    expect(await sums()).toEqual({ reserved: '0', consumed: '0' });
    const run = await agent.claim();
    expect(run.taskId).toBe(taskId);
    expect(await sums()).toEqual({ reserved: ESTIMATE, consumed: '0' });
    await agent.complete(run);
    expect(await sums()).toEqual({ reserved: '0', consumed: '0' });
  });

  it.each([
    ['before-commit', { accepted: 1, repeated: 0 }],
    ['after-commit', { accepted: 0, repeated: 1 }],
  ] as const)(
    'a usage report that is repeated after a kill %s is counted once',
    async (at, counts) => {
      const { agent, sums } = await limited();
      const run = await agent.claim();
      const report = () => agent.api.post(`/runs/${run.runId}/usage`, { reports: usage });
      await killedAt({ at, statement: 'apply_settlement' }, report);
      expect(await patiently(report, book)).toMatchObject({ status: 200, body: counts });
      expect(await sums()).toEqual({ reserved: '8000', consumed: '970' });
      await agent.complete(run);
      expect(await sums()).toEqual({ reserved: '0', consumed: '970' });
    },
  );

  it('usage and its completion are stored together, and a repetition counts both once', async () => {
    const { agent, taskId, sums } = await limited();
    const run = await agent.claim();
    const complete = () => agent.api.post(`/runs/${run.runId}/complete`, { usage });
    await killedAt({ at: 'before', statement: 'complete_runs' }, complete);
    expect(await sums()).toEqual({ reserved: ESTIMATE, consumed: '0' });
    expect(await patiently(complete, book)).toMatchObject({ status: 200 });
    expect(await sums()).toEqual({ reserved: '0', consumed: '970' });
    expect(await runsOf(taskId)).toEqual(['COMPLETED']);
  });
});

it('lost answers leave every invariant intact', async () => {
  await expectInvariants(db);
});
