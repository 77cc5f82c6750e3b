import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  type Body,
  changesIn,
  commit,
  green,
  type Work,
} from '../../../../test/support/changes-in.js';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../../../work/coordinator/testing/scene.js';
import { hurryChanges } from './pull-requests.sql.js';

/** What hosts find at a forge, and what becomes of it. */

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const { working, start, repositoryOf, submitted, step, report, done, change, review, approve } =
  changesIn(() => scene);

const AT_FORGE = {
  forge: 'github',
  url: 'https://example.com/team/shop.git',
  credentials: { kind: 'token', token: 'the-token' },
};
const PULL = { forge: 'github', number: 7, url: 'https://example.com/pull/7', state: 'open' };
const said = (id: number, verdict: string, more: Body = {}) => ({
  id: `review:${id}`,
  login: 'ada',
  verdict,
  commit: commit(1),
  body: 'Words.',
  ...more,
});

const record = ({ agent }: Held, { step: { changeId, generation } }: Work, more: Body = {}) =>
  agent.api.post<Body>(`/change-steps/${changeId}/pull-request`, { generation, ...PULL, ...more });

async function inReview(settings: Body = {}): Promise<Held> {
  const held = await working({ ...AT_FORGE, ...settings });
  await submitted(held, commit(1));
  await done(held.agent, 'prove', green(commit(1)));
  return held;
}

/** What a host of an earlier version gets. */
const ofEarlierHost = async (held: Held) => {
  await scene.sql(`UPDATE changes SET step_due_at = now() WHERE task_id = $1`, held.id);
  return step(held.agent, {});
};

/** The step that is due, also if its time has not come. */
async function next(held: Held): Promise<Work> {
  await scene.sql(`UPDATE changes SET step_due_at = now() WHERE task_id = $1`, held.id);
  const work = await step(held.agent);
  expect(work).toBeDefined();
  return work!;
}

async function synced(held: Held): Promise<void> {
  const sync = await next(held);
  await record(held, sync);
  expect((await report(held.agent, sync, { outcome: 'synced' })).status).toBe(200);
}

const secondsUntilDue = async ({ id }: Held) => {
  const due = 'SELECT extract(epoch FROM step_due_at - now())::int AS seconds';
  const { rows } = await scene.sql(`${due} FROM changes WHERE task_id = $1`, id);
  return Number(rows[0]?.['seconds']);
};

const reviewsBy = async (id: string, author: string) =>
  ((await change(id))['reviews'] as Body[]).filter((review) => review['author'] === author);

it('what people say at the forge counts once, however often hosts report it', async () => {
  const held = await inReview();
  const events = [said(1, 'commented', { id: 'comment:1' }), said(2, 'approved')];
  const first = await next(held);
  expect(first).toMatchObject({ step: { kind: 'sync' }, change: { state: 'IN_REVIEW' } });
  expect(await record(held, first, { said: [events[0]] })).toMatchObject({
    status: 200,
    body: { state: 'IN_REVIEW' },
  });
  expect(await record(held, first, { said: events })).toMatchObject({
    body: { state: 'APPROVED' },
  });
  // The change has moved, so the step is over.
  expect(await record(held, first, { said: events })).toMatchObject({ status: 409 });
  expect((await report(held.agent, first, { outcome: 'synced' })).status).toBe(409);
  expect(await reviewsBy(held.id, 'github:ada')).toHaveLength(2);
  expect(await change(held.id)).toMatchObject({
    approvedBy: 'github:ada',
    pullRequest: { number: 7, url: PULL.url },
  });
  expect(await scene.events('change.commented')).toHaveLength(1);
  await scene.holdsEverything();
});

it('the cost in a pull request has the agents that reviewed it', async () => {
  const use = ({ agent, runId }: Held, inputTokens: number) => {
    const usage = { id: runId, model: 'gpt-5.5', inputTokens, outputTokens: 0 };
    return agent.api.post(`/runs/${runId}/usage`, { reports: [usage] });
  };
  const held = await working({ ...AT_FORGE, review: 'agent', reviewer: { kind: 'codex' } });
  await use(held, 70);
  await submitted(held, commit(1));
  await done(held.agent, 'prove', green(commit(1)));
  await scene.recover();
  const reviewer = await scene.workspace.newAgent({ capabilities: ['command', 'kind:codex'] });
  const reviewTaskId = String((await change(held.id))['reviewTaskId']);
  const reviewing = await start(await scene.claim(reviewer, reviewTaskId));
  await use(reviewing, 30);
  const outputResult = { summary: JSON.stringify({ verdict: 'request_changes' }) };
  await reviewer.api.post(`/runs/${reviewing.runId}/complete`, { outputResult });
  const work = (await next(held)) as Work & { pullRequest: { body: string } };
  expect(work.pullRequest.body).toContain('| Cost | 1 run, 100 tokens');
  await scene.holdsEverything();
});

it('an approval counts for the commit that it names', async () => {
  const held = await inReview();
  const sync = await next(held);
  for (const stale of [{ commit: commit(9) }, { commit: undefined }]) {
    expect(await record(held, sync, { said: [said(1, 'approved', stale)] })).toMatchObject({
      status: 200,
      body: { state: 'IN_REVIEW' },
    });
  }
  expect(await record(held, sync, { said: [said(1, 'approved')] })).toMatchObject({
    body: { state: 'APPROVED' },
  });
});

it('an approval asks an agent without a verdict again, where both must approve', async () => {
  const held = await inReview({ review: 'both', reviewer: { kind: 'codex' } });
  await scene.recover();
  const { reviewTaskId: first } = (await change(held.id)) as { reviewTaskId: string };
  await scene.workspace.api.post(`/agent-tasks/${first}/cancel`, {});
  await scene.recover();
  const sync = await next(held);
  expect(await record(held, sync, { said: [said(1, 'approved')] })).toMatchObject({
    body: { state: 'IN_REVIEW' },
  });
  expect((await report(held.agent, sync, { outcome: 'synced' })).status).toBe(200);
  await scene.recover();
  const { reviewTaskId: second, obstacle } = (await change(held.id)) as Body;
  expect([second === first, obstacle]).toEqual([false, null]);
});

it('requests for changes of one reading are one round, and old ones are comments', async () => {
  const held = await inReview();
  const requested = [
    said(1, 'changes_requested'),
    said(2, 'changes_requested', { login: 'bob' }),
    said(3, 'commented', { id: 'comment:3' }),
  ];
  expect(await record(held, await next(held), { said: requested })).toMatchObject({
    body: { state: 'WORKING' },
  });
  const again = await start(await scene.claim(held.agent, held.id));
  const { feedback } = (await repositoryOf(again)).body.change;
  expect(feedback.map(({ author, verdict }) => `${author} ${verdict}`).sort()).toEqual([
    'github:ada changes_requested',
    'github:ada commented',
    'github:bob changes_requested',
  ]);
  await submitted(again, commit(2));
  await done(again.agent, 'prove', green(commit(2)));
  // The person began before the new commit was there.
  const late = said(4, 'changes_requested', { login: 'eve' });
  expect(await record(again, await next(again), { said: [...requested, late] })).toMatchObject({
    body: { state: 'IN_REVIEW' },
  });
  expect(await reviewsBy(held.id, 'github:eve')).toMatchObject([{ verdict: 'commented' }]);
  await scene.holdsEverything();
});

it('a merge while an agent works leaves it at work, and later ones end the change', async () => {
  const held = await inReview();
  const merged = { state: 'merged', mergedCommit: commit('d') };
  await record(held, await next(held), { said: [said(1, 'changes_requested')] });
  const atWork = await next(held);
  expect(await record(held, atWork, merged)).toMatchObject({ body: { state: 'WORKING' } });
  expect((await report(held.agent, atWork, { outcome: 'synced' })).status).toBe(200);
  expect(await change(held.id)).toMatchObject({ pullRequest: null, step: null });
  const again = await start(await scene.claim(held.agent, held.id));
  await submitted(again, commit(2));
  const proof = await step(again.agent);
  expect(await record(again, proof!, { ...merged, number: 8 })).toMatchObject({
    body: { state: 'MERGED', mergedCommit: commit('d') },
  });
  expect(await scene.read(held.id)).toMatchObject({ status: 'COMPLETED' });
  await scene.holdsEverything();
});

it('a task that is retried does not end with the pull request that a host has closed', async () => {
  const held = await inReview();
  await synced(held);
  await approve(held.id, commit(1));
  const outage = { outcome: 'waits', reason: 'The forge answers with 502' };
  await report(held.agent, await next(held), outage);
  const since = `now() - interval '5 hours'`;
  await scene.sql(`UPDATE changes SET step_waits_since = ${since} WHERE task_id = $1`, held.id);
  expect((await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`, {})).status).toBe(200);
  const removal = await next(held);
  expect(removal.step.kind).toBe('remove');
  await report(held.agent, removal, outage);
  // A wait of its own.
  expect(await secondsUntilDue(held)).toBeLessThanOrEqual(15);
  expect((await scene.workspace.api.post(`/agent-tasks/${held.id}/retry`, {})).status).toBe(200);
  expect(await change(held.id)).toMatchObject({ state: 'WORKING', pullRequest: null, step: null });
});

it('a synchronisation that fails goes on by itself, and its obstacle ends with it', async () => {
  const held = await inReview();
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const failed = { outcome: 'failed', reason: 'The forge answers with 502' };
    expect((await report(held.agent, await next(held), failed)).status).toBe(200);
  }
  const limited = { outcome: 'blocked', reason: 'The forge limits requests', waitSeconds: 1_800 };
  await report(held.agent, await next(held), limited);
  expect(await change(held.id)).toMatchObject({ obstacle: 'The forge limits requests' });
  expect(await secondsUntilDue(held)).toBeGreaterThan(1_700);
  // Nobody has to do anything about it.
  expect(await scene.events('change.obstructed')).toEqual([]);
  await synced(held);
  expect(await change(held.id)).toMatchObject({ obstacle: null, state: 'IN_REVIEW' });
  await report(held.agent, await next(held), limited);
  await synced(held);
  expect(await change(held.id)).toMatchObject({ obstacle: null });
  expect((await approve(held.id, commit(1))).body).toMatchObject({ state: 'APPROVED' });
});

it('a merge that waits for its forge is looked at less often, at once after an event, and stays planned', async () => {
  const held = await inReview();
  await synced(held);
  await approve(held.id, commit(1));
  const landing = await step(held.agent);
  const { generation } = landing!.step;
  const plan = { generation, landingCommit: commit('c') };
  await held.agent.api.post(`/change-steps/${held.id}/plan`, plan);
  const outage = { outcome: 'waits', reason: 'The forge answers with 502' };
  expect((await report(held.agent, landing!, outage)).status).toBe(200);
  expect(await secondsUntilDue(held)).toBeLessThanOrEqual(15);
  expect(await change(held.id)).toMatchObject({
    state: 'APPROVED',
    obstacle: outage.reason,
    step: { attempts: 0 },
  });
  // Nobody has asked the forge since whether it was merged.
  const request = () => review(held.id, 'request-changes', { body: 'No.' });
  expect(await request()).toMatchObject({ status: 409 });
  const checks = { outcome: 'waits', reason: 'The check build is under way', waitSeconds: 60 };
  for (const [hours, seconds] of [
    [0, 60],
    [0.2, 180],
    [5, 600],
  ] as const) {
    const since = `now() - $2 * interval '1 hour'`;
    await scene.sql(
      `UPDATE changes SET step_waits_since = ${since} WHERE task_id = $1`,
      held.id,
      hours,
    );
    await report(held.agent, await next(held), checks);
    const due = await secondsUntilDue(held);
    expect(due).toBeGreaterThan(seconds - 20);
    expect(due).toBeLessThanOrEqual(seconds);
  }
  expect(await scene.events('change.obstructed')).toEqual([]);
  // People hear once that a forge is away, or that nothing begins a check.
  const attention = async () => (await scene.workspace.api.get('/attention')).body;
  expect(await attention()).toMatchObject({ obstructedChanges: 0 });
  const missing = { ...checks, reason: 'The check build is not reported yet' };
  for (const wait of [missing, outage, checks]) {
    await report(held.agent, await next(held), wait);
    expect(await attention()).toMatchObject({ obstructedChanges: 1 });
  }
  // A host that stops gives its step back, and the wait goes on.
  await report(held.agent, await next(held), { outcome: 'released' });
  expect(await attention()).toMatchObject({ obstructedChanges: 1 });
  await report(held.agent, await next(held), missing);
  expect(await secondsUntilDue(held)).toBeGreaterThan(500);
  expect(await scene.events('change.obstructed')).toMatchObject([{ obstacle: missing.reason }]);
  // The event comes after the host has read the forge.
  const again = await next(held);
  const { rows } = await scene.sql(`SELECT repository_id FROM changes WHERE task_id = $1`, held.id);
  const event = [scene.workspace.id, [rows[0]?.['repository_id']], null, commit(1)];
  await scene.sql(hurryChanges.text, ...event);
  await report(held.agent, again, checks);
  const last = await step(held.agent);
  expect(last).toMatchObject({ step: { kind: 'land' } });
  const look = { generation: last!.step.generation };
  const looked = await held.agent.api.post(`/change-steps/${held.id}/not-landed`, look);
  expect(looked.status).toBe(200);
  await report(held.agent, last!, checks);
  expect(await request()).toMatchObject({ status: 200, body: { state: 'WORKING' } });
});

it('hosts of an earlier version only prove changes of forges', async () => {
  const held = await working(AT_FORGE);
  await submitted(held, commit(1));
  const proof = await ofEarlierHost(held);
  expect(proof).toMatchObject({ step: { kind: 'prove' } });
  expect((await report(held.agent, proof!, green(commit(1)))).status).toBe(200);
  expect(await ofEarlierHost(held)).toBeUndefined();
  await synced(held);
  await approve(held.id, commit(1));
  expect(await ofEarlierHost(held)).toBeUndefined();
  expect(await next(held)).toMatchObject({ step: { kind: 'land' } });
});

it('a synchronisation that fails keeps the obstacles of others', async () => {
  const held = await inReview();
  await synced(held);
  const other = 'The agent gave no verdict';
  await scene.sql(`UPDATE changes SET obstacle = $2 WHERE task_id = $1`, held.id, other);
  for (const more of [{ waitSeconds: 60 }, {}]) {
    const limited = { outcome: 'blocked', reason: 'The forge limits requests', ...more };
    await report(held.agent, await next(held), limited);
    expect(await change(held.id)).toMatchObject({ obstacle: other });
    // A person can ask for no merge of a change in review, and the obstacle stays.
    expect(await review(held.id, 'merge')).toMatchObject({ status: 409 });
    expect(await change(held.id)).toMatchObject({ obstacle: other });
  }
  await synced(held);
  expect(await change(held.id)).toMatchObject({ obstacle: other });
  expect(await scene.events('change.obstructed')).toEqual([]);
});
