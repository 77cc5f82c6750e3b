import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import type { ApiAnswer } from '../support/api-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { type Moment, PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { AnswerBook, once, patiently } from './harness/patience.js';
import { type HeldRun, PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

const NEVER = '0 0 0 29 2 *';

let db: TestDatabase;
let fleet: TestFleet;
let server: BuiltProcess;
/** The proxies of the API and of the coordinator to Postgres. */
let app: PostgresProxy;
let service: PostgresProxy;
let book: AnswerBook;
let agent: PullAgent;
let taskId: string;
let run: HeldRun;

beforeAll(async () => {
  db = await createTestDatabase();
  [app, service] = await Promise.all([
    PostgresProxy.to(db.appUrl),
    PostgresProxy.to(db.serviceUrl),
  ]);
  const env = {
    DATABASE_URL: app.url,
    DATABASE_SERVICE_URL: service.url,
    // An unexpected cycle could close a question before its deadline.
    COORDINATOR_CRON: NEVER,
  };
  fleet = await TestFleet.create({ db, env });
  server = await fleet.startServer();
});

beforeEach(async () => {
  book = new AnswerBook();
  const capability = `only-${newId()}`;
  agent = await PullAgent.register(fleet, { capabilities: [capability] }, book);
  taskId = await fleet.submit('', { requiredCapabilities: [capability] });
  run = await agent.claim();
  await agent.start(run);
});

afterAll(async () => {
  await fleet.stop();
  await Promise.all([app.close(), service.close()]);
});

const ask = () =>
  agent.api.post(`/runs/${run.runId}/questions`, {
    prompt: 'Ship it?',
    choices: ['yes', 'no'],
    deadlineSeconds: 600,
    onDeadline: 'default',
    default: 'no',
    checkpointData: { page: 7 },
  });
const answer = (id: string, text: string) =>
  fleet.api.post(`/questions/${id}/answer`, { answer: text });
const recover = () => fleet.api.post('/coordinator/recover', { workspaceId: fleet.workspaceId });

async function asked(): Promise<string> {
  const { status, body } = await patiently(ask, book);
  expect(status).toBe(201);
  return String(body['id']);
}

/**
 * Sends the request, kills the server at that moment, and starts another one. Nobody receives the
 * answer.
 */
async function killedAt(
  [proxy, moment]: [PostgresProxy, Moment],
  send: () => Promise<ApiAnswer>,
): Promise<void> {
  const caught = proxy.catch(moment);
  const sent = once(send, book);
  await caught.reached;
  server.kill('SIGKILL');
  await server.ended();
  expect(await sent).toBeUndefined();
  server = await fleet.startServer();
}

/** There was one question, and its answer has resumed the task once, at its checkpoint. */
async function expectResumedOnceWith(text: string): Promise<void> {
  const claim = () => agent.api.post(`/agents/${agent.id}/claim`, { maxTasks: 10 });
  const { body } = await patiently(claim, book);
  const held = body['tasks'] as { run: { id: string }; task: Record<string, unknown> }[];
  expect(held).toMatchObject([
    { task: { id: taskId, checkpointData: { page: 7 }, answers: [{ answer: text }] } },
  ]);
  await agent.complete({ taskId, runId: String(held[0]?.run.id) });
  const { rows } = await db.owner.query(
    'SELECT state, end_reason FROM task_runs WHERE task_id = $1 ORDER BY generation',
    [taskId],
  );
  expect(rows).toEqual([
    { state: 'RELEASED', end_reason: 'question' },
    { state: 'COMPLETED', end_reason: 'completed' },
  ]);
  const sql = `SELECT FROM questions WHERE task_id = $1 AND status IN ('answered', 'expired')`;
  expect((await db.owner.query(sql, [taskId])).rowCount).toBe(1);
}

describe('a question', () => {
  it('a question whose commit lost its answer is asked again, and is the same', async () => {
    const lost = app.loseAnswerTo('insert_question');
    const id = await asked();
    await lost;
    expect(book.count(503)).toBe(1);
    expect((await answer(id, 'yes')).status).toBe(200);
    await expectResumedOnceWith('yes');
  });

  it.each(['before-commit', 'after-commit'] as const)(
    'a question exists once when the server is killed %s and the run asks again',
    async (at) => {
      await killedAt([app, { at, statement: 'insert_question' }], ask);
      const id = await asked();
      expect((await answer(id, 'yes')).status).toBe(200);
      await expectResumedOnceWith('yes');
    },
  );
});

describe('an answer', () => {
  it('an answer whose commit lost its reply counts once, and is accepted again', async () => {
    const id = await asked();
    const lost = app.loseAnswerTo('answer_question');
    const repeated = await patiently(() => answer(id, 'yes'), book);
    await lost;
    expect(repeated).toMatchObject({ status: 200, body: { answer: 'yes' } });
    await expectResumedOnceWith('yes');
  });

  it.each([
    ['before-commit', 'no', { status: 200, body: { answer: 'no' } }],
    ['after-commit', 'yes', { status: 409, body: { code: 'question_closed', answer: 'yes' } }],
  ] as const)(
    'an answer whose server is killed %s counts or not, and the next answer gets %s',
    async (at, counts, toTheNext) => {
      const id = await asked();
      await killedAt([app, { at, statement: 'answer_question' }], () => answer(id, 'yes'));
      expect(await patiently(() => answer(id, 'no'), book)).toMatchObject(toTheNext);
      await expectResumedOnceWith(counts);
    },
  );
});

describe('a deadline', () => {
  const pass = (id: string) =>
    db.owner.query(
      `UPDATE questions SET asked_at = now() - interval '1 hour', deadline_at = now() - interval '1 second'
       WHERE id = $1`,
      [id],
    );

  it.each(['before-commit', 'after-commit'] as const)(
    'a deadline closes an unanswered question although the coordinator is killed %s',
    async (at) => {
      const id = await asked();
      await pass(id);
      await killedAt([service, { at, statement: 'expire_question' }], recover);
      // Before the commit the question is still open, unless the new server's first cycle has
      // expired it.
      const late = await patiently(() => answer(id, 'yes'), book);
      expect(at === 'after-commit' ? [409] : [200, 409]).toContain(late.status);
      await patiently(recover, book);
      await expectResumedOnceWith(late.status === 200 ? 'yes' : 'no');
    },
  );
});

it('faults around questions leave every invariant intact', async () => {
  await expectInvariants(db);
});
