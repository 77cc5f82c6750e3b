import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { soundServer, type TestServer } from '../../../test/support/sound-server.js';
import {
  type Body,
  changesIn,
  commit,
  green,
  type Work,
} from '../../../test/support/changes-in.js';
import { type Held, Scene } from '../../work/coordinator/testing/scene.js';

/** Changes whose end comes from elsewhere while a host or an agent works on them. */

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const { working, start, submitted, step, report, done, change, review, approve, inReview } =
  changesIn(() => scene);

const cancel = (id: string) => scene.workspace.api.post(`/agent-tasks/${id}/cancel`, {});
const retry = (id: string) => scene.workspace.api.post(`/agent-tasks/${id}/retry`, {});
const plan = ({ agent, id }: Held, generation: number, landingCommit: string) =>
  agent.api.post(`/change-steps/${id}/plan`, { generation, landingCommit });
const endLease = (id: string) =>
  scene.sql(`UPDATE changes SET step_due_at = now() WHERE task_id = $1`, id);

/** A change whose host is about to push to the target. */
async function landing(head: string, planned: string, held?: Held): Promise<Held> {
  const run = held ?? (await working({ review: 'none' }));
  await submitted(run, head);
  await done(run.agent, 'prove', green(head));
  const work = await step(run.agent);
  expect(work?.step.kind).toBe('land');
  expect((await plan(run, work!.step.generation, planned)).status).toBe(200);
  return run;
}

it('a change whose task is cancelled while it lands is MERGED if it is on the target', async () => {
  const held = await landing(commit(1), commit('c'));
  expect((await cancel(held.id)).status).toBe(200);
  expect(await change(held.id)).toMatchObject({ state: 'CLOSED', step: { kind: 'remove' } });
  // The host that merges can still push: the next one waits for its lease.
  expect(await step(held.agent)).toBeUndefined();
  await endLease(held.id);
  const removal = await step(held.agent);
  expect(removal).toMatchObject({
    step: { kind: 'remove' },
    change: { state: 'CLOSED', landingCommits: [commit('c')] },
  });
  const merged = { outcome: 'merged', commit: commit('c') };
  expect((await report(held.agent, removal!, merged)).status).toBe(200);
  await done(held.agent, 'remove', { outcome: 'removed' });
  expect(await change(held.id)).toMatchObject({
    state: 'MERGED',
    mergedCommit: commit('c'),
    step: null,
  });
  expect(await scene.read(held.id)).toMatchObject({ status: 'ABORTED' });
  expect(await scene.events('change.merged')).toHaveLength(1);
  await scene.holdsEverything();
});

it('the commits of each submission are looked for when a change is closed', async () => {
  const first = await landing(commit(1), commit('c'));
  await cancel(first.id);
  // Its host can have pushed it, so another one looks before anybody works on it again.
  expect(await retry(first.id)).toMatchObject({
    status: 409,
    body: { code: 'illegal_transition', detail: expect.stringContaining('drover review merge') },
  });
  expect((await review(first.id, 'merge')).status).toBe(200);
  expect(await step(first.agent)).toBeUndefined();
  await endLease(first.id);
  await done(first.agent, 'remove', { outcome: 'removed' });
  expect((await retry(first.id)).status).toBe(200);
  const second = await start(await scene.claim(first.agent, first.id));
  await landing(commit(2), commit('d'), second);
  await scene.sql(`UPDATE changes SET step_until = now() WHERE task_id = $1`, first.id);
  const again = await step(first.agent);
  // The commit of an earlier head does not land this one.
  expect(again).toMatchObject({
    step: { kind: 'land' },
    change: { landingCommits: [commit('d')] },
  });
  await cancel(first.id);
  await endLease(first.id);
  const removal = await done(first.agent, 'remove', { outcome: 'removed' });
  expect(removal.change).toMatchObject({ landingCommits: [commit('c'), commit('d')] });
  expect(await change(first.id)).toMatchObject({ state: 'CLOSED', step: null });
  await scene.holdsEverything();
});

it('changes are requested of a change that can be on its target after a host has looked', async () => {
  const held = await landing(commit(1), commit('c'));
  await scene.sql(`UPDATE changes SET step_until = now() WHERE task_id = $1`, held.id);
  await done(held.agent, 'land', { outcome: 'failed', reason: 'The answer was lost' });
  const request = () => review(held.id, 'request-changes', { body: 'No.' });
  expect(await request()).toMatchObject({
    status: 409,
    body: { code: 'illegal_transition', detail: expect.stringContaining('drover review merge') },
  });
  expect((await review(held.id, 'merge')).status).toBe(200);
  await done(held.agent, 'land', { outcome: 'blocked', reason: 'The push was refused' });
  expect(await request()).toMatchObject({ status: 200, body: { state: 'WORKING' } });
  await scene.holdsEverything();
});

type Arrive = () => Promise<{ held: Held; generation?: number }>;

const proven = async (review: string): Promise<Held> => {
  const held = await working({ review });
  await submitted(held, commit(1));
  await done(held.agent, 'prove', green(commit(1)));
  return held;
};
const STATES: [string, Arrive][] = [
  ['works', async () => ({ held: await working() })],
  [
    'is proven',
    async () => {
      const held = await working();
      await submitted(held, commit(1));
      return { held, generation: (await step(held.agent))!.step.generation };
    },
  ],
  ['is in review', async () => ({ held: await proven('person') })],
  ['waits for its merge', async () => ({ held: await proven('none') })],
  [
    'lands',
    async () => {
      const held = await proven('none');
      const { generation } = (await step(held.agent))!.step;
      await plan(held, generation, commit('c'));
      return { held, generation };
    },
  ],
];

it.each(STATES)('the cancellation of a task whose change %s leaves nothing', async (_, arrive) => {
  const { held, generation } = await arrive();
  await held.agent.api.post(`/runs/${held.runId}/repository`, {});
  expect((await cancel(held.id)).status).toBe(200);
  expect(await scene.read(held.id)).toMatchObject({ status: 'ABORTED', runId: null });
  expect(await change(held.id)).toMatchObject({
    state: 'CLOSED',
    step: { kind: 'remove', agentId: null },
  });
  const queue = await scene.workspace.api.get('/changes/merge-queue');
  expect(queue.body).toMatchObject({ items: [] });
  if (generation !== undefined) {
    expect(await plan(held, generation, commit('d'))).toMatchObject({ status: 409 });
    expect(
      await report(
        held.agent,
        { step: { changeId: held.id, generation } } as Work,
        green(commit(1)),
      ),
    ).toMatchObject({ status: 409, body: { code: 'stale_step' } });
  }
  await endLease(held.id);
  await done(held.agent, 'remove', { outcome: 'removed' });
  expect(await change(held.id)).toMatchObject({ state: 'CLOSED', branch: null, step: null });
  expect(await scene.events('change.closed')).toHaveLength(1);
  await scene.holdsEverything();
});

it('a merge after which its task fails makes room for the next one, and needs attention', async () => {
  const held = await working({ review: 'none', maxRevisions: 0 });
  const { repositoryId } = (await scene.read(held.id)) as { repositoryId: string };
  await submitted(held, commit(1));
  await done(held.agent, 'prove', green(commit(1)));
  const next = await start(await scene.claim(held.agent, await scene.task({ repositoryId })));
  await submitted(next, commit(2));
  const first = await step(held.agent);
  expect(first?.step.kind).toBe('land');
  await done(next.agent, 'prove', green(commit(2)));
  expect(await step(next.agent)).toBeUndefined();
  await report(held.agent, first!, { outcome: 'conflict', files: ['a.txt'] });
  expect(await scene.read(held.id)).toMatchObject({ status: 'FAILED' });
  expect(await change(held.id)).toMatchObject({ state: 'FAILED', step: null });
  expect(await scene.events('change.failed')).toHaveLength(1);
  const { body } = await scene.workspace.api.get('/attention');
  expect(body).toMatchObject({ failedTasks: 1, obstructedChanges: 0 });
  const landing = await step(next.agent);
  expect(landing?.step).toMatchObject({ kind: 'land', changeId: next.id });
  await report(next.agent, landing!, { outcome: 'merged', commit: commit('d') });
  await scene.holdsEverything();
});

it('a pause that ends runs takes a proof from its host', async () => {
  const held = await working();
  await submitted(held, commit(1));
  const proof = await step(held.agent);
  const { generation } = proof!.step;
  const renew = () => held.agent.api.post(`/change-steps/${held.id}/renew`, { generation });
  expect((await renew()).status).toBe(200);
  const pause = { scope: 'workspace', endRuns: true, reason: 'Stop' };
  const { body } = await scene.workspace.api.post<Body>('/pauses', pause);
  expect(await renew()).toMatchObject({ status: 409, body: { code: 'stale_step' } });
  expect(await change(held.id)).toMatchObject({
    state: 'PROVING',
    step: { agentId: null, attempts: 0 },
  });
  expect((await scene.workspace.api.delete(`/pauses/${String(body['id'])}`)).status).toBe(200);
  await done(held.agent, 'prove', green(commit(1)));
});

it('the task of a reviewing agent is cancelled when a person is first, or the change ends', async () => {
  const asked = async (): Promise<[Held, string]> => {
    const held = await inReview({
      name: commit(Math.random()),
      review: 'agent',
      reviewer: { kind: 'codex' },
    });
    await scene.recover();
    return [held, String((await change(held.id))['reviewTaskId'])];
  };
  for (const end of [
    (id: string) => approve(id, commit(1)),
    (id: string) => review(id, 'request-changes', { body: 'No.' }),
    (id: string) => cancel(id),
  ]) {
    const [held, reviewing] = await asked();
    expect(await scene.read(reviewing)).toMatchObject({ status: 'PENDING' });
    expect((await end(held.id)).status).toBe(200);
    await scene.sql(`UPDATE changes SET obstacle = 'Known' WHERE task_id = $1`, held.id);
    expect(await scene.recover()).toMatchObject({ agentReviews: 1 });
    expect(await scene.events('change.obstructed')).toEqual([]);
    expect(await scene.read(reviewing)).toMatchObject({ status: 'ABORTED' });
    expect(await scene.recover()).toMatchObject({ agentReviews: 0 });
    await scene.sql(`UPDATE changes SET step_due_at = 'infinity' WHERE step IS NOT NULL`);
  }
  await scene.holdsEverything();
});
