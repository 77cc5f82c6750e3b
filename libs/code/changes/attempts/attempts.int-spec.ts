import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Body, changesIn, commit, green } from '../../../../test/support/changes-in.js';
import {
  soundServer,
  type TestAgent,
  type TestServer,
} from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../../../work/coordinator/testing/scene.js';

/** Several attempts at one change. A client of the API plays the hosts. */

let server: TestServer;
let scene: Scene;
let host: TestAgent;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
  const kinds = ['kind:codex', 'kind:claude-code'];
  host = await scene.workspace.newAgent({ capabilities: ['git', 'command', ...kinds] });
});
afterAll(() => server.stop());

const { repository, start, submitted, step, report, done, saveDiff, change, approve, review } =
  changesIn(() => scene);

const TASK = { title: 'Accept ISO weeks', taskType: 'test', retryBackoffSeconds: 0 };
const create = (body: Body) => scene.workspace.api.post<Body>('/task-attempts', body);
const retry = (id: string) => scene.workspace.api.post(`/agent-tasks/${id}/retry`, {});

async function attempts(count: number, settings: Body = {}): Promise<string[]> {
  const repositoryId = await repository(settings);
  const { status, body } = await create({ task: { ...TASK, repositoryId }, attempts: count });
  expect(status).toBe(201);
  return (body['items'] as { id: string }[]).map(({ id }) => id);
}

async function work(id: string): Promise<Held> {
  return start(await scene.claim(host, id));
}

/** Submits the change, and reports its proof. */
async function proven(id: string, head: string, held?: Held): Promise<Held> {
  const run = held ?? (await work(id));
  await submitted(run, head);
  await done(host, 'prove', green(head));
  return run;
}

const states = async (ids: string[]) =>
  Promise.all(ids.map(async (id) => String((await change(id))['state'])));

it('attempts of two agents are compared, and an approval of one closes the others', async () => {
  const repositoryId = await repository();
  const agents = [{ kind: 'codex' }, { kind: 'claude-code', model: 'claude-sonnet-4' }];
  const { body } = await create({ task: { ...TASK, repositoryId }, agents, attempts: 2 });
  const items = body['items'] as { id: string; agentKind: string; attemptsId: string }[];
  const [first = '', second = '', running = '', waiting = ''] = items.map(({ id }) => id);
  const kinds = ['codex', 'codex', 'claude-code', 'claude-code'];
  expect(items.map(({ agentKind }) => agentKind)).toEqual(kinds);
  expect(items.every(({ attemptsId }) => attemptsId === first)).toBe(true);

  const one = await work(first);
  await saveDiff(one, 'diff --git a/a b/a');
  const usage = { id: 'u', model: 'gpt-5.5', inputTokens: 70, outputTokens: 0 };
  await host.api.post(`/runs/${one.runId}/usage`, { reports: [usage] });
  await proven(first, commit(1), one);
  const held = await work(second);
  await submitted(held, commit(2));
  await done(host, 'prove', { outcome: 'red', commit: commit(2), exitCode: 3 });
  await proven(second, commit(3));
  const live = await work(running);
  expect((await scene.workspace.api.get<Body>(`/changes/${second}/attempts`)).body).toMatchObject({
    items: [
      {
        id: first,
        state: 'IN_REVIEW',
        proof: { verdict: 'green', durationMs: 900 },
        insertions: 10,
      },
      { id: second, state: 'IN_REVIEW', proof: { verdict: 'green' }, revision: 2 },
      { id: running, state: 'WORKING', proof: null, model: 'claude-sonnet-4' },
      { id: waiting, state: 'WORKING', cost: { runs: 0, tokens: '0' } },
    ],
  });
  expect(await approve(second, commit(3))).toMatchObject({ body: { state: 'APPROVED' } });
  const ids = [first, second, running, waiting];
  expect(await states(ids)).toEqual(['CLOSED', 'APPROVED', 'CLOSED', 'CLOSED']);
  const closed = { status: 'ABORTED', abortReason: 'cancelled', runId: null };
  for (const id of [first, running, waiting]) expect(await scene.read(id)).toMatchObject(closed);
  expect(await host.api.post(`/runs/${live.runId}/submit`, {})).toMatchObject({ status: 400 });
  expect(await approve(first, commit(1))).toMatchObject({ status: 409 });
  expect(await scene.events('change.approved')).toHaveLength(1);
  // The branches of those that had one are removed.
  await done(host, 'land', { outcome: 'merged', commit: commit('c') });
  const removals = [await done(host, 'remove', { outcome: 'removed' })];
  for (let work = await step(host); work !== undefined; work = await step(host)) {
    expect((await report(host, work, { outcome: 'removed' })).status).toBe(200);
    removals.push(work);
  }
  expect(removals.map(({ step: { changeId } }) => changeId).sort()).toEqual([first, second].sort());
  await scene.holdsEverything();
});

it('one of two attempts that are approved at the same time is approved', async () => {
  for (let round = 0; round < 5; round++) {
    const [first = '', second = ''] = await attempts(2, { name: `shop-${round}` });
    await proven(first, commit(1));
    await proven(second, commit(2));
    const answers = await Promise.all([approve(first, commit(1)), approve(second, commit(2))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await states([first, second])).sort()).toEqual(['APPROVED', 'CLOSED']);
    await scene.sql(`UPDATE changes SET step_due_at = 'infinity' WHERE step IS NOT NULL`);
  }
  await scene.holdsEverything();
});

it('an attempt that is retried while another one is merged cannot be approved', async () => {
  const [first = '', second = ''] = await attempts(2);
  await proven(first, commit(1));
  await proven(second, commit(2));
  await approve(first, commit(1));
  const landing = await step(host);
  expect(landing).toMatchObject({ step: { kind: 'land', changeId: first } });
  expect((await retry(second)).status).toBe(200);
  await proven(second, commit(3));
  const refused = { status: 409, body: { code: 'illegal_transition', current: 'IN_REVIEW' } };
  expect(await approve(second, commit(3))).toMatchObject(refused);
  // Its task is cancelled while a host can push it: it is on its target, or not.
  const { generation } = landing!.step;
  const plan = { generation, landingCommit: commit('c') };
  expect((await host.api.post(`/change-steps/${first}/plan`, plan)).status).toBe(200);
  await scene.workspace.api.post(`/agent-tasks/${first}/cancel`, {});
  expect(await approve(second, commit(3))).toMatchObject(refused);
  await scene.sql('UPDATE changes SET step_due_at = now() WHERE task_id = $1', first);
  await done(host, 'remove', { outcome: 'removed' });
  // The host has looked, also for a retry.
  expect((await retry(first)).status).toBe(200);
  expect(await approve(second, commit(3))).toMatchObject({ body: { state: 'APPROVED' } });
  await scene.holdsEverything();
});

it('an attempt that goes back after its approval can lose against another one', async () => {
  const [first = '', second = ''] = await attempts(2, { maxRevisions: 0 });
  await proven(first, commit(1));
  await approve(first, commit(1));
  await done(host, 'land', { outcome: 'conflict', files: ['a'] });
  expect(await states([first, second])).toEqual(['FAILED', 'CLOSED']);
  await retry(second);
  await proven(second, commit(2));
  expect((await approve(second, commit(2))).status).toBe(200);
  // A failed one would keep its branch.
  expect(await change(first)).toMatchObject({ state: 'CLOSED', step: { kind: 'remove' } });
  await scene.holdsEverything();
});

it('an attempt waits, and is not closed, while another one can be on its target', async () => {
  const [first = '', second = ''] = await attempts(2, { review: 'none' });
  await proven(first, commit(1));
  const landing = await step(host);
  const plan = { generation: landing!.step.generation, landingCommit: commit('c') };
  expect((await host.api.post(`/change-steps/${first}/plan`, plan)).status).toBe(200);
  await scene.workspace.api.post(`/agent-tasks/${first}/cancel`, {});
  expect((await retry(second)).status).toBe(200);
  await proven(second, commit(2));
  const obstacle = expect.stringContaining(`drover review merge ${first}`);
  expect(await change(second)).toMatchObject({ state: 'IN_REVIEW', obstacle });
  expect(await approve(second, commit(2))).toMatchObject({
    status: 409,
    body: { detail: obstacle },
  });
  await scene.sql('UPDATE changes SET step_due_at = now() WHERE task_id = $1', first);
  for (let failures = 0; failures < 5; failures++) {
    await done(host, 'remove', { outcome: 'failed', reason: 'No route to host' });
    await scene.sql(
      'UPDATE changes SET step_due_at = now() WHERE task_id = $1 AND isfinite(step_due_at)',
      first,
    );
  }
  expect(await step(host)).toBeUndefined();
  expect((await scene.workspace.api.get('/attention')).body).toMatchObject({
    obstructedChanges: 1,
  });
  expect((await review(first, 'merge')).status).toBe(200);
  await done(host, 'remove', { outcome: 'removed' });
  expect(await change(second)).toMatchObject({ state: 'APPROVED', obstacle: null });
  await scene.holdsEverything();
});

it('an attempt waits for one that failed before a host had looked for its landing', async () => {
  const forge = { forge: 'github', url: 'https://example.com/team/shop.git' };
  const credentials = { kind: 'token', token: 'the-token' };
  const [first = '', second = ''] = await attempts(2, { ...forge, credentials, review: 'none' });
  await proven(first, commit(1));
  const { generation } = (await step(host))!.step;
  const of = `/change-steps/${first}`;
  await host.api.post(`${of}/plan`, { generation, landingCommit: commit('c') });
  const request = { id: 'review:1', login: 'ada', verdict: 'changes_requested', body: 'No.' };
  const pull = { forge: 'github', number: 7, url: 'https://example.com/pull/7', state: 'open' };
  await host.api.post(`${of}/pull-request`, { generation, ...pull, said: [request] });
  const { runId } = await work(first);
  const error = { message: 'No disk', retryable: false };
  expect((await host.api.post(`/runs/${runId}/fail`, { error })).status).toBe(200);
  expect(await change(first)).toMatchObject({ state: 'FAILED' });
  await scene.sql(`UPDATE changes SET step_due_at = 'infinity' WHERE step IS NOT NULL`);
  expect((await retry(second)).status).toBe(200);
  await proven(second, commit(2));
  const obstacle = expect.stringContaining(`drover review close ${first}`);
  expect(await change(second)).toMatchObject({ state: 'IN_REVIEW', obstacle });
  expect((await review(first, 'close')).status).toBe(200);
  await done(host, 'remove', { outcome: 'removed' });
  expect(await change(second)).toMatchObject({ state: 'APPROVED', obstacle: null });
  await scene.holdsEverything();
});

it('without a review the first green attempt is merged, and a retried one is closed again', async () => {
  const [first = '', second = '', third = ''] = await attempts(3, { review: 'none' });
  const slow = await work(second);
  await submitted(slow, commit(2));
  const proof = await step(host);
  const fast = await work(third);
  await submitted(fast, commit(3));
  await done(host, 'prove', green(commit(3)));
  expect(await states([first, second, third])).toEqual(['CLOSED', 'CLOSED', 'APPROVED']);
  expect(await report(host, proof!, green(commit(2)))).toMatchObject({
    status: 409,
    body: { code: 'stale_step' },
  });
  await done(host, 'land', { outcome: 'merged', commit: commit('c') });
  await retry(second);
  // Its branch is not removed yet.
  await proven(second, commit(4));
  expect(await states([second, third])).toEqual(['CLOSED', 'MERGED']);
  expect(await scene.events('change.approved')).toHaveLength(1);
  await scene.holdsEverything();
});

it('a failed attempt is replayed as an attempt, and never after another one was approved', async () => {
  const [first = '', second = '', third = ''] = await attempts(3, { review: 'none' });
  for (const id of [first, third]) {
    await scene.sql('UPDATE agent_tasks SET max_retries = 0 WHERE id = $1', id);
    const { runId } = await work(id);
    await host.api.post(`/runs/${runId}/fail`, { error: { message: 'Broken' } });
  }
  expect(await states([first, second, third])).toEqual(['FAILED', 'WORKING', 'FAILED']);
  const replay = async (id: string) =>
    (await scene.workspace.api.post<Body>('/dead-letter/replay', { ids: [id] })).body;
  const { ids } = (await replay(third)) as { ids: string[] };
  const [replayed = ''] = ids;
  expect(await change(replayed)).toMatchObject({ state: 'WORKING', attemptsId: first });
  await proven(second, commit(2));
  const ends = ['CLOSED', 'APPROVED', 'CLOSED', 'CLOSED'];
  expect(await states([first, second, third, replayed])).toEqual(ends);
  expect(await replay(first)).toMatchObject({ replayed: 0, skipped: 1 });
  await scene.holdsEverything();
});

it('the first attempt that an agent approves is merged', async () => {
  const reviewer = { kind: 'codex' };
  const [first = '', second = ''] = await attempts(2, { review: 'agent', reviewer });
  await proven(first, commit(1));
  await proven(second, commit(2));
  await scene.recover();
  for (const [id, verdict] of [
    [first, 'request_changes'],
    [second, 'approve'],
  ] as const) {
    const run = await work(String((await change(id))['reviewTaskId']));
    const outputResult = { summary: JSON.stringify({ verdict }) };
    await host.api.post(`/runs/${run.runId}/complete`, { outputResult });
  }
  await scene.recover();
  expect(await states([first, second])).toEqual(['CLOSED', 'APPROVED']);
  await scene.holdsEverything();
});

it('attempts without a repository, with a debounce key, or of a wrong number are refused', async () => {
  const repositoryId = await repository();
  const refused: [Body, string][] = [
    [{ task: TASK, attempts: 2 }, 'task.repositoryId'],
    [{ task: { ...TASK, repositoryId }, attempts: 1 }, 'attempts'],
    [{ task: { ...TASK, repositoryId }, agents: [{ kind: 'codex' }] }, 'attempts'],
    [
      { task: { ...TASK, repositoryId, debounceKey: 'k', delaySeconds: 1 }, attempts: 2 },
      'task.debounceKey',
    ],
    [
      { task: { ...TASK, repositoryId, concurrencyLimit: 2 }, attempts: 2 },
      'task.concurrencyLimit',
    ],
  ];
  for (const [body, field] of refused) {
    expect(await create(body)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  }
  expect((await scene.workspace.api.get<{ items: Body[] }>('/changes')).body.items).toEqual([]);
  const key = { 'idempotency-key': 'once' };
  const asked = { task: { ...TASK, repositoryId }, attempts: 2 };
  const ids = async () =>
    (
      (await scene.workspace.api.post('/task-attempts', asked, key)).body as { items: Body[] }
    ).items.map(({ id }) => id);
  expect(await ids()).toEqual(await ids());
  // A server can die after the commit: the answer is a part of it.
  const together = await scene.sql(
    `SELECT count(*)::int AS count FROM changes c JOIN idempotency_keys k
      ON k.workspace_id = c.workspace_id AND k.xmin::text = c.xmin::text AND k.status_code = 201
      WHERE c.task_id = ANY ($1::uuid[])`,
    await ids(),
  );
  expect(together.rows).toEqual([{ count: 2 }]);
  expect((await review(String((await ids())[0]), 'close')).status).toBe(200);
});
