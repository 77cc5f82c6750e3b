import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import type { ApiAnswer } from '../support/api-client.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { AnswerBook, once, patiently } from './harness/patience.js';
import { type HeldRun, PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

const COMMIT = 'a'.repeat(40);

let db: TestDatabase;
let fleet: TestFleet;
let server: BuiltProcess;
let app: PostgresProxy;
let book: AnswerBook;

beforeAll(async () => {
  db = await createTestDatabase();
  app = await PostgresProxy.to(db.appUrl);
  const env = { DATABASE_URL: app.url, COORDINATOR_CRON: '0 0 0 29 2 *' };
  fleet = await TestFleet.create({ db, env });
  server = await fleet.startServer();
  book = new AnswerBook();
});
afterAll(async () => {
  await fleet.stop();
  await app.close();
});

type Send = () => Promise<ApiAnswer>;

/**
 * Kills the server at a statement, so that nobody receives the answer, and repeats the request at
 * another server.
 *
 * @returns the status of the repeated request
 */
async function killedAndRepeated(
  at: 'before' | 'before-commit' | 'after-commit',
  send: Send,
  statement = 'move_change',
) {
  const caught = app.catch({ at, statement });
  const sent = once(send, book);
  await caught.reached;
  server.kill('SIGKILL');
  await server.ended();
  expect(await sent).toBeUndefined();
  server = await fleet.startServer();
  return (await patiently(send, book)).status;
}

/** A run that works on a change, and a host that finds no step of an earlier test. */
async function startChange(): Promise<{ host: PullAgent; run: HeldRun; id: string }> {
  await db.owner.query(`UPDATE changes SET step_due_at = 'infinity' WHERE step IS NOT NULL`);
  const capability = `only-${newId()}`;
  const host = await PullAgent.register(fleet, { capabilities: ['git', capability] }, book);
  const settings = { name: newId(), url: 'https://example.com/shop.git' };
  const { body } = await patiently(() => fleet.api.post('/repositories', settings), book);
  const id = await fleet.submit('', {
    repositoryId: body['id'],
    requiredCapabilities: [capability],
  });
  const run = await host.claim();
  await host.start(run);
  return { host, run, id };
}

it.each(['before-commit', 'after-commit'] as const)(
  'a change is submitted and merged once, although the server is killed %s each time',
  async (at) => {
    const { host, run, id } = await startChange();
    const isDone = at === 'after-commit';

    const size = { filesChanged: 1, insertions: 1, deletions: 0 };
    const submission = { baseCommit: COMMIT, headCommit: COMMIT, ...size };
    const submit: Send = () => host.api.post(`/runs/${run.runId}/submit`, submission);
    expect(await killedAndRepeated(at, submit)).toBe(200);

    const report = async (kind: string, outcome: string): Promise<Send> => {
      const claim = () => host.api.post('/change-steps/claim', {});
      const { step } = (await patiently(claim, book)).body as {
        step: { kind: string; generation: number };
      };
      expect(step.kind).toBe(kind);
      const { generation } = step;
      return () =>
        host.api.post(`/change-steps/${id}/report`, { generation, outcome, commit: COMMIT });
    };
    expect((await patiently(await report('prove', 'green'), book)).status).toBe(200);
    const approve: Send = () => fleet.api.post(`/changes/${id}/approve`, { headCommit: COMMIT });
    expect((await patiently(approve, book)).status).toBe(200);
    // A repeated report learns that its step has ended.
    expect(await killedAndRepeated(at, await report('land', 'merged'))).toBe(isDone ? 409 : 200);

    const { rows } = await db.owner.query<{ event: string }>(
      `SELECT event FROM journal WHERE task_id = $1 AND event LIKE 'change.%' ORDER BY id`,
      [id],
    );
    const names = ['submitted', 'review_requested', 'approved', 'merged'];
    expect(rows.map(({ event }) => event)).toEqual(names.map((name) => `change.${name}`));
    const reviews = 'SELECT verdict FROM change_reviews WHERE task_id = $1 ORDER BY id';
    const verdicts = (await db.owner.query<{ verdict: string }>(reviews, [id])).rows;
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['green', 'approved']);
    const { body: task } = await patiently(() => fleet.api.get(`/agent-tasks/${id}`), book);
    expect(task).toMatchObject({ status: 'COMPLETED' });
  },
);

it.each(['before-commit', 'after-commit'] as const)(
  'a host claims, plans and ends steps once, although the server is killed %s each time',
  async (at) => {
    const { host, run, id } = await startChange();
    const send = (path: string, values: object = {}) =>
      patiently(() => host.api.post(path, values), book);
    await send(`/runs/${run.runId}/repository`);
    const size = { filesChanged: 1, insertions: 1, deletions: 0 };
    await send(`/runs/${run.runId}/submit`, { baseCommit: COMMIT, headCommit: COMMIT, ...size });
    const isDone = at === 'after-commit';

    // These statements travel with their COMMIT.
    const alone = isDone ? 'after-commit' : 'before';
    const claim: Send = () => host.api.post('/change-steps/claim', {});
    type Claimed = { step: { kind: string; generation: number } };
    // A host that never heard of its step loses it with the lease.
    expect(await killedAndRepeated(alone, claim, 'claim_step')).toBe(isDone ? 204 : 200);
    await db.owner.query(
      `UPDATE changes SET step_until = now() - interval '1 second' WHERE task_id = $1`,
      [id],
    );
    const proving = ((await patiently(claim, book)).body as unknown as Claimed).step;
    expect(proving).toMatchObject({ kind: 'prove' });
    const path = `/change-steps/${id}`;
    const green = { generation: proving.generation, outcome: 'green', commit: COMMIT };
    expect((await send(`${path}/report`, green)).status).toBe(200);

    const approve: Send = () => fleet.api.post(`/changes/${id}/approve`, { headCommit: COMMIT });
    expect(await killedAndRepeated(at, approve)).toBe(200);
    const { generation } = ((await patiently(claim, book)).body as unknown as Claimed).step;
    const landingCommit = 'b'.repeat(40);
    const plan: Send = () => host.api.post(`${path}/plan`, { generation, landingCommit });
    expect(await killedAndRepeated(alone, plan, 'plan_landing')).toBe(200);
    const planned = 'SELECT landing_commits FROM changes WHERE task_id = $1';
    const { rows } = await db.owner.query<{ landing_commits: string[] }>(planned, [id]);
    expect(rows[0]?.landing_commits).toEqual([landingCommit]);
    const merged = { generation, outcome: 'merged', commit: landingCommit };
    expect((await send(`${path}/report`, merged)).status).toBe(200);

    const removal = ((await patiently(claim, book)).body as unknown as Claimed).step;
    const removed = { generation: removal.generation, outcome: 'removed' };
    const remove: Send = () => host.api.post(`${path}/report`, removed);
    expect(await killedAndRepeated(at, remove, 'end_removal')).toBe(isDone ? 409 : 200);
    const change = (await patiently(() => fleet.api.get(`/changes/${id}`), book)).body;
    expect(change).toMatchObject({ state: 'MERGED', step: null, mergedCommit: landingCommit });
    const reviews = change['reviews'] as { verdict: string }[];
    expect(reviews.map(({ verdict }) => verdict)).toEqual(['green', 'approved']);
  },
);

it('faults around changes leave every invariant intact', async () => {
  await expectInvariants(db);
});
