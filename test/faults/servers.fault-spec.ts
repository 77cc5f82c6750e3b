import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '#lib/embedded';
import { newId } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { TestFleet } from '../support/fleet.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { waitFor } from '../support/wait-for.js';
import { AnswerBook, once } from './harness/patience.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

const REQUESTS = 100;
const BACKOFF_SECONDS = 4;

let db: TestDatabase;
let fleet: TestFleet;
let undo: (() => Promise<void>)[];

beforeEach(async () => {
  undo = [];
  db = await createTestDatabase();
  fleet = await TestFleet.create({ db });
}, 60_000);

afterEach(async () => {
  for (const step of undo) await step();
  await fleet.stop();
}, 60_000);

describe('a server', () => {
  it('killed while a task waits for its retry: the next one keeps the time', async () => {
    const server = await fleet.startServer();
    const agent = await PullAgent.register(fleet);
    const taskId = await fleet.submit('', { retryBackoffSeconds: BACKOFF_SECONDS });
    const run = await agent.claim();
    await agent.start(run);
    const failure = { error: { message: 'on purpose', class: 'exit_code', retryable: true } };
    await agent.api.post(`/runs/${run.runId}/fail`, failure);
    const { rows } = await db.owner.query<{ retry_at: Date }>(
      `SELECT retry_at FROM agent_tasks WHERE id = $1 AND status = 'ABORTED'`,
      [taskId],
    );
    server.kill('SIGKILL');
    await server.ended();
    await fleet.startServer();
    const again = await agent.claim();
    expect(again.taskId).toBe(taskId);
    const promoted = await db.owner.query<{ created_at: Date }>(
      `SELECT created_at FROM agent_task_logs
       WHERE task_id = $1 AND previous_status = 'ABORTED' AND new_status = 'PENDING'`,
      [taskId],
    );
    expect(promoted.rows).toHaveLength(1);
    expect(promoted.rows[0]?.created_at.getTime()).toBeGreaterThanOrEqual(
      rows[0]?.retry_at.getTime() ?? Infinity,
    );
    await agent.complete(again);
    await expectInvariants(db);
  }, 60_000);

  it.each([
    ['before the commit', 'before-commit'],
    ['after the commit', 'after-commit'],
  ] as const)(
    'killed %s among a hundred requests with one Idempotency-Key: there is one task',
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
      const caught = proxy.catch({ at, statement: 'create_tasks' });
      const answers = Array.from({ length: REQUESTS }, () =>
        once(async () => (await post()) as never, book),
      );
      await caught.reached;
      server.kill('SIGKILL');
      await Promise.all(answers);
      // A dead server's key is free again after a minute; the test does not wait for it.
      await db.owner.query(
        'UPDATE idempotency_keys SET locked_until = now() WHERE key = $1 AND status_code IS NULL',
        [title],
      );
      const created = await waitFor('an answer', async () => {
        const answer = await post(second);
        return answer?.status === 201 && answer;
      });
      const { rows } = await db.owner.query('SELECT id FROM agent_tasks WHERE title = $1', [title]);
      expect(rows).toEqual([{ id: created.body['id'] }]);
      expect(created.headers.get('idempotency-replayed')).toBe(
        at === 'after-commit' ? 'true' : null,
      );
      expect(book.count(201)).toBe(0);
      await expectInvariants(db);
    },
    60_000,
  );
});
