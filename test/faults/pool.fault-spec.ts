import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { TestFleet } from '../support/fleet.js';
import { AnswerBook, once, patiently } from './harness/patience.js';
import { expectInvariants } from './harness/verdict.js';

const CLIENTS = 200;
const STATEMENT_MS = 1_000;

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.create({
    env: {
      DATABASE_MAX_CONNECTIONS: '2',
      DATABASE_SERVICE_MAX_CONNECTIONS: '2',
      DATABASE_STATEMENT_TIMEOUT_MS: String(STATEMENT_MS),
    },
  });
  await fleet.startServer();
});

afterAll(() => fleet.stop());

/**
 * A request like the API's usual ones: creations with and without a key, single ones and batches,
 * reads.
 */
function requestOf(client: number, title: string) {
  const task = { title, taskType: 'fault' };
  const key = { 'idempotency-key': title };
  switch (client % 4) {
    case 0:
      return () => fleet.api.post('/agent-tasks', task, key);
    case 1:
      return () => fleet.api.post('/agent-tasks/batch', { tasks: [task] }, key);
    case 2:
      return () => fleet.api.get('/agent-tasks?limit=5');
    default:
      return () => fleet.api.get('/agents');
  }
}

const aCrowd = () =>
  Array.from({ length: CLIENTS }, (_, client) => {
    const title = newId();
    return { title, creates: client % 4 < 2, request: requestOf(client, title) };
  });

async function expectCreatedOnce(titles: string[]): Promise<void> {
  const { rows } = await fleet.db.owner.query<{ title: string }>(
    'SELECT title FROM agent_tasks WHERE title = ANY($1)',
    [titles],
  );
  expect(rows.map(({ title }) => title).sort()).toEqual([...titles].sort());
}

const titlesOf = (crowd: ReturnType<typeof aCrowd>) =>
  crowd.filter(({ creates }) => creates).map(({ title }) => title);

describe('two connections for two hundred clients', () => {
  it('two connections serve two hundred clients one after the other', async () => {
    const book = new AnswerBook();
    const crowd = aCrowd();
    await Promise.all(crowd.map(({ request }) => patiently(request, book)));
    expect(book.count(200) + book.count(201)).toBe(CLIENTS);
    expect(book.failures - book.count(503)).toBe(0);
    // Two requests that wait for each other's connection would block until the timeout.
    expect(book.count(503)).toBeLessThan(CLIENTS);
    expect({ broken: book.broken, hints: book.withoutRetryAfter }).toEqual({ broken: 0, hints: 0 });
    await expectCreatedOnce(titlesOf(crowd));
  });

  it('two connections that hang make clients wait, then refuse them, and serve them later', async () => {
    const blocker = await fleet.db.owner.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE agent_tasks, agents, idempotency_keys');
    const crowd = aCrowd();
    const refused = new AnswerBook();
    // A waiter without a limit would wait forever: the lock is released when all have an answer.
    await Promise.all(crowd.map(({ request }) => once(request, refused)));
    await blocker.query('ROLLBACK');
    blocker.release();
    expect(Object.fromEntries(refused.byStatus)).toEqual({ 503: CLIENTS });
    expect(refused.withoutRetryAfter).toBe(0);

    const book = new AnswerBook();
    await Promise.all(crowd.map(({ request }) => patiently(request, book)));
    expect(book.count(200) + book.count(201)).toBe(CLIENTS);
    await expectCreatedOnce(titlesOf(crowd));
  });

  it('exhausted connections leave every invariant intact', async () => {
    await expectInvariants(fleet.db);
  });
});
