import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { TestFleet } from '../support/fleet.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { waitFor } from '../support/wait-for.js';
import { reign, successorOf } from './harness/coordinators.js';
import { AnswerBook, once } from './harness/patience.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

const REQUESTS = 100;
/** The key of a killed server is locked for 10 s. The rest is for a slow machine. */
const KEY_IS_FREE_MS = 40_000;

let db: TestDatabase;
let fleet: TestFleet;
let undo: (() => Promise<void>)[];

beforeEach(async () => {
  undo = [];
  db = await createTestDatabase();
  fleet = await TestFleet.create({ db });
});

afterEach(async () => {
  for (const step of undo) await step();
  await fleet.stop();
});

/** Moves the retry of a waiting task to this time from now. */
async function retryIn(taskId: string, interval: string): Promise<Date> {
  const { rows } = await db.owner.query<{ retry_at: Date }>(
    `UPDATE agent_tasks SET retry_at = now() + $2::interval
     WHERE id = $1 AND status = 'ABORTED' AND retry_at IS NOT NULL RETURNING retry_at`,
    [taskId, interval],
  );
  if (!rows[0]) throw new Error('it does not wait for a retry');
  return rows[0].retry_at;
}

describe('a server', () => {
  it('a server killed while a task waits for its retry: the next one keeps the retry time', async () => {
    const server = await fleet.startServer();
    const agent = await PullAgent.register(fleet);
    const taskId = await fleet.submit('', { retryBackoffSeconds: 60 });
    const run = await agent.claim();
    await agent.start(run);
    const failure = { error: { message: 'on purpose', class: 'exit_code', retryable: true } };
    await agent.api.post(`/runs/${run.runId}/fail`, failure);
    // The random delay can be over at once.
    const retryAt = await retryIn(taskId, '10 minutes');
    server.kill('SIGKILL');
    await server.ended();
    const { epoch } = await reign(db);
    await fleet.startServer();
    await successorOf(db, epoch);
    await waitFor('a cycle', async () => (await reign(db)).cycles > 0);
    expect(await fleet.task(taskId)).toMatchObject({
      status: 'ABORTED',
      retryAt: retryAt.toISOString(),
    });
    const due = await retryIn(taskId, '1 second');
    const again = await agent.claim();
    expect(again.taskId).toBe(taskId);
    const promoted = await db.owner.query<{ created_at: Date }>(
      `SELECT created_at FROM agent_task_logs
       WHERE task_id = $1 AND previous_status = 'ABORTED' AND new_status = 'PENDING'`,
      [taskId],
    );
    expect(promoted.rows).toHaveLength(1);
    expect(promoted.rows[0]?.created_at.getTime()).toBeGreaterThanOrEqual(due.getTime());
    await agent.complete(again);
    await expectInvariants(db);
  });

  it.each([
    ['before the commit', 'before-commit'],
    ['after the commit', 'after-commit'],
  ] as const)(
    'a server killed %s among a hundred requests with one Idempotency-Key: one task exists',
    async (_, at) => {
      const proxy = await PostgresProxy.to(db.appUrl);
      undo = [
        async () => {
          proxy.mend();
          await proxy.close();
        },
      ];
      const port = await freePort();
      const server = await fleet.startServer({ PORT: String(port), DATABASE_URL: proxy.url });
      await fleet.startServer();
      const title = newId();
      const [first, second] = [port, fleet.port].map((each) =>
        apiClient(`http://127.0.0.1:${each}`, fleet.credentials),
      );
      const post = (api = first) =>
        api?.post('/agent-tasks', { title, taskType: 'fault' }, { 'idempotency-key': title });
      const book = new AnswerBook();
      const caught = proxy.catch({ at, statement: 'create_tasks_with_extras' });
      const answers = Array.from({ length: REQUESTS }, () =>
        once(async () => (await post()) as never, book),
      );
      await caught.reached;
      server.kill('SIGKILL');
      await Promise.all(answers);
      const answered = async () => {
        const answer = await post(second);
        return answer?.status === 201 && answer;
      };
      const created = await waitFor('an answer', answered, KEY_IS_FREE_MS);
      const { rows } = await db.owner.query('SELECT id FROM agent_tasks WHERE title = $1', [title]);
      expect(rows).toEqual([{ id: created.body['id'] }]);
      expect(created.headers.get('idempotency-replayed')).toBe(
        at === 'after-commit' ? 'true' : null,
      );
      expect(book.count(201)).toBe(0);
      await expectInvariants(db);
    },
  );
});
