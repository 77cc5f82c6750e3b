import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { soundServer, type TestServer } from '../../../test/support/sound-server.js';
import {
  BASE,
  type Body,
  changesIn,
  commit,
  green,
  SECRET,
  type Work,
} from '../../../test/support/changes-in.js';
import { type Held, Scene } from '../../work/coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const {
  repository,
  working,
  start,
  repositoryOf,
  submit,
  submitted,
  step,
  report,
  done,
  change,
  review,
  approve,
  inReview,
} = changesIn(() => scene);

describe('a change', () => {
  it('is submitted, proven, approved, merged and completes its task', async () => {
    const held = await working();
    const branch = expect.stringMatching(new RegExp(`^[a-z0-9-]+/${held.id}$`));
    const received = await repositoryOf(held);
    expect(received.body).toMatchObject({
      repository: { acceptance: 'npm test', secrets: { TOKEN: SECRET } },
      change: { id: held.id, branch, target: 'main', state: 'WORKING', headCommit: null },
    });
    expect(await held.agent.api.post(`/runs/${held.runId}/complete`, {})).toMatchObject({
      status: 409,
      body: { code: 'change_required' },
    });
    await submitted(held, commit(1));
    // The answer was lost.
    expect(await submit(held, commit(1))).toMatchObject({ status: 200, body: { revision: 1 } });
    expect(await submit(held, commit(2))).toMatchObject({
      status: 409,
      body: { code: 'stale_run' },
    });
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PAUSED',
      pausedFor: 'review',
      runId: null,
      summary: 'It works.',
    });
    expect((await scene.workspace.api.get<Body>(`/agents/${held.agent.id}`)).body).toMatchObject({
      status: 'IDLE',
    });
    expect((await scene.workspace.api.post(`/agent-tasks/${held.id}/resume`, {})).status).toBe(409);
    await scene.holdsEverything();

    const dependent = await scene.task({ dependsOn: [held.id] });
    const idle = await scene.workspace.newAgent();
    await done(held.agent, 'prove', green(commit(1)));
    expect(await step(held.agent)).toBeUndefined();
    const explained = await scene.workspace.api.get<Body>(`/agent-tasks/${held.id}/explain`);
    expect(explained.body).toMatchObject({
      reasons: [{ code: 'waiting_for_review', facts: { state: 'IN_REVIEW', target: 'main' } }],
    });
    expect(await approve(held.id, commit(2))).toMatchObject({
      status: 409,
      body: { code: 'change_moved', headCommit: commit(1) },
    });
    const approved = await approve(held.id, commit(1));
    expect(approved).toMatchObject({
      status: 200,
      body: { state: 'APPROVED', approvedBy: `user:${scene.workspace.userId}` },
    });
    // Dependents start after the merge, and not before.
    await scene.recover();
    expect((await idle.api.post(`/agents/${idle.id}/claim`)).body).toMatchObject({ tasks: [] });
    const landing = await step(held.agent);
    expect(landing).toMatchObject({
      step: { kind: 'land', changeId: held.id },
      message: `A task\n\nIt works.\n\nDrover-Task: ${held.id}\nDrover-Run: ${held.runId}\n`,
    });
    const { generation } = landing!.step;
    const planned = { generation, landingCommit: commit('c') };
    const path = `/change-steps/${held.id}`;
    expect((await held.agent.api.post(`${path}/plan`, planned)).status).toBe(200);
    expect((await held.agent.api.post(`${path}/renew`, { generation })).status).toBe(200);
    const landing409 = { status: 409, body: { code: 'illegal_transition', current: 'APPROVED' } };
    expect(await review(held.id, 'request-changes', { body: 'No.' })).toMatchObject(landing409);
    expect(await review(held.id, 'close')).toMatchObject(landing409);
    const merged = await report(held.agent, landing!, { outcome: 'merged', commit: commit('c') });
    expect(merged).toMatchObject({ status: 200, body: { state: 'MERGED' } });
    expect(await scene.read(held.id)).toMatchObject({ status: 'COMPLETED' });
    await scene.recover();
    await scene.claim(idle, dependent);
    await done(held.agent, 'remove', { outcome: 'removed' });
    expect(await change(held.id)).toMatchObject({
      state: 'MERGED',
      mergedCommit: commit('c'),
      step: null,
      reviews: [
        { kind: 'proof', verdict: 'green' },
        { kind: 'review', verdict: 'approved' },
      ],
      cost: { runs: 1 },
    });
    const names = ['submitted', 'review_requested', 'approved', 'merged'];
    for (const name of names) expect(await scene.events(`change.${name}`)).toHaveLength(1);
    await scene.holdsEverything();
  });

  it('whose run changed nothing is closed, and its task completes', async () => {
    const held = await working();
    const answer = await submit(held, BASE, { filesChanged: 0 });
    expect(answer).toMatchObject({ status: 200, body: { state: 'CLOSED' } });
    expect(await submit(held, BASE, { filesChanged: 0 })).toMatchObject({ status: 200 });
    expect(await scene.read(held.id)).toMatchObject({ status: 'COMPLETED' });
    await done(held.agent, 'remove', { outcome: 'removed' });
    await scene.holdsEverything();
  });
});

it('a review that is overdue raises one event and changes no state', async () => {
  const held = await inReview();
  await scene.sql(`UPDATE changes SET review_due_at = now() WHERE task_id = $1`, held.id);
  expect(await scene.recover()).toMatchObject({ reviewsOverdue: 1 });
  expect(await scene.recover()).toMatchObject({ reviewsOverdue: 0 });
  const waitingSince = (await change(held.id))['submittedAt'];
  expect(await scene.events('change.review_overdue')).toMatchObject([
    { taskId: held.id, revision: 1, waitingSince: expect.any(String) },
  ]);
  expect(waitingSince).toEqual(expect.any(String));
  expect(await change(held.id)).toMatchObject({ state: 'IN_REVIEW' });
  const said = await review(held.id, 'comment', { body: 'Is the cache needed?' });
  expect(said.body).toMatchObject({ reviews: [{}, { verdict: 'commented' }] });
  expect(await scene.events('change.commented')).toMatchObject([{ taskId: held.id }]);
});

describe('a change that goes back', () => {
  it('tells its next run the red proof, and fails after the last revision', async () => {
    const held = await working({ maxRevisions: 2, review: 'none' });
    await submitted(held, commit(1));
    const output = `1 test failed: ${SECRET}`;
    const red = { outcome: 'red', commit: commit(1), exitCode: 1, output, durationMs: 1_000 };
    await done(held.agent, 'prove', red);
    expect(await scene.read(held.id)).toMatchObject({ status: 'PENDING', retryCount: 0 });
    const next = await start(await scene.claim(held.agent, held.id));
    const { body } = await repositoryOf(next);
    expect(body.change).toMatchObject({ headCommit: commit(1), revision: 1, state: 'WORKING' });
    expect(body.change.feedback).toMatchObject([
      { kind: 'proof', verdict: 'red', exitCode: 1, body: '1 test failed: [redacted]' },
    ]);
    const promptOf = async ({ agent, runId }: Held) =>
      (await agent.api.post<{ prompt: string }>(`/runs/${runId}/prompt`, {})).body.prompt;
    const prompt = await promptOf(next);
    expect(prompt).toContain('checkout of the repository shop');
    expect(prompt).toContain('exit code 1. This is the end of its output:\n\n```\n1 test failed');
    await submitted(next, commit(2));
    await done(held.agent, 'prove', green(commit(2)));
    await done(held.agent, 'land', { ...red, commit: commit('c') });
    const last = await start(await scene.claim(held.agent, held.id));
    expect(await promptOf(last)).toContain('exit code 1, on top of newer commits of main');
    await submitted(last, commit(3));
    await done(held.agent, 'prove', { ...red, commit: commit(3) });
    expect(await change(held.id)).toMatchObject({ state: 'FAILED', revision: 3 });
    expect(await scene.read(held.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'revisions_exhausted',
    });
    expect(await step(held.agent)).toBeUndefined();
    expect((await scene.workspace.api.post(`/agent-tasks/${held.id}/retry`, {})).status).toBe(200);
    expect(await change(held.id)).toMatchObject({ state: 'WORKING', headCommit: commit(3) });
    await scene.holdsEverything();
  });

  it('by the words of a person starts the count of revisions again', async () => {
    const held = await inReview({ maxRevisions: 0 });
    const comments = [{ path: 'src/date.ts', line: 12, text: 'Use the parser.' }];
    const asked = await review(held.id, 'request-changes', { body: 'Nearly.', comments });
    expect(asked).toMatchObject({ status: 200, body: { state: 'WORKING' } });
    expect(await approve(held.id, commit(1))).toMatchObject({
      status: 409,
      body: { code: 'illegal_transition', current: 'WORKING' },
    });
    const next = await start(await scene.claim(held.agent, held.id));
    expect((await repositoryOf(next)).body.change.feedback).toMatchObject([
      { verdict: 'changes_requested', body: 'Nearly.', comments },
    ]);
    await submitted(next, commit(2));
    await done(held.agent, 'prove', green(commit(2)));
    await approve(held.id, commit(2));
    const conflict = { outcome: 'conflict', files: ['src/date.ts'], text: '<<<<<<< main' };
    await done(held.agent, 'land', conflict);
    // Without a person, and the repository allows no revision.
    expect(await change(held.id)).toMatchObject({ state: 'FAILED' });
    expect(await review(held.id, 'close')).toMatchObject({ body: { state: 'CLOSED' } });
    await done(held.agent, 'remove', { outcome: 'removed' });
    expect(await change(held.id)).toMatchObject({ branch: null, headCommit: null });
    await scene.holdsEverything();
  });
});

describe('the steps of a change', () => {
  it('a host whose lease ended loses the step to another, and its reports change nothing', async () => {
    const held = await working();
    await submitted(held, commit(1));
    const first = await step(held.agent);
    expect(await step(held.agent)).toBeUndefined();
    await scene.sql(`UPDATE changes SET step_until = now() WHERE task_id = $1`, held.id);
    const stranger = await scene.workspace.newAgent({ capabilities: ['command'] });
    expect(await step(stranger)).toBeUndefined();
    const other = await scene.workspace.newAgent({ capabilities: ['git'] });
    const second = await step(other);
    expect(second!.step.generation).toBeGreaterThan(first!.step.generation);
    for (const answer of [
      await report(held.agent, first!, green(commit(1))),
      await held.agent.api.post(`/change-steps/${held.id}/renew`, {
        generation: first!.step.generation,
      }),
      await report(held.agent, second!, green(commit(1))),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'stale_step' } });
    }
    expect(await change(held.id)).toMatchObject({ state: 'PROVING', reviews: [] });
    expect((await report(other, second!, green(commit(1)))).status).toBe(200);
    // Its answer was lost.
    expect(await report(other, second!, green(commit(1)))).toMatchObject({ status: 409 });
    expect(await change(held.id)).toMatchObject({ state: 'IN_REVIEW', reviews: [{}] });
  });

  it('one change of a branch lands at a time, in the order of approval', async () => {
    const held = await working({ review: 'none' });
    const { repositoryId } = (await scene.read(held.id)) as { repositoryId: string };
    const ids = [held.id];
    await submitted(held, commit(1));
    for (const number of [2, 3]) {
      const id = await scene.task({ repositoryId });
      const next = await start(await scene.claim(held.agent, id));
      await submitted(next, commit(number));
      ids.push(id);
    }
    const proofs = [await step(held.agent), await step(held.agent), await step(held.agent)];
    for (const [index, proof] of proofs.entries()) {
      expect((await report(held.agent, proof!, green(commit(index + 1)))).status).toBe(200);
    }
    const hosts = await Promise.all(
      Array.from({ length: 6 }, () => scene.workspace.newAgent({ capabilities: ['git'] })),
    );
    const [first = '', second] = ids;
    const [blocker] = hosts;
    // Another host is about to get the first one.
    const claiming = await server.db.owner.connect();
    await claiming.query('BEGIN');
    await claiming.query('SELECT FROM changes WHERE task_id = $1 FOR UPDATE', [first]);
    const passedBy = await step(blocker!);
    await claiming.query('ROLLBACK');
    claiming.release();
    expect(passedBy).toBeUndefined();
    const taken = (await Promise.all(hosts.map((agent) => step(agent)))).filter(
      (work) => work !== undefined,
    );
    expect(taken.map(({ step: { kind, changeId } }) => [kind, changeId])).toEqual([
      ['land', first],
    ]);
    // A host died after its plan: the next one finds the commit that it was about to push.
    await scene.sql(
      `UPDATE changes SET step_until = now(), landing_commits = $2 WHERE task_id = $1`,
      first,
      [commit('c')],
    );
    const again = await step(blocker!);
    expect(again).toMatchObject({
      step: { changeId: first },
      change: { landingCommits: [commit('c')] },
    });
    await report(blocker!, again!, { outcome: 'blocked', reason: 'The checkout is dirty.' });
    expect(await change(first)).toMatchObject({
      state: 'APPROVED',
      obstacle: 'The checkout is dirty.',
    });
    expect(await scene.events('change.obstructed')).toHaveLength(1);
    // The host of the second one dies, and the first one is due again before its lease has ended.
    expect(await step(held.agent)).toMatchObject({ step: { changeId: second } });
    await scene.sql('UPDATE changes SET step_due_at = now() WHERE task_id = $1', first);
    expect(await step(blocker!)).toBeUndefined();
    await scene.sql('UPDATE changes SET step_until = now() WHERE task_id = $1', second!);
    await done(held.agent, 'land', { outcome: 'merged', commit: commit('d') });
    expect(await change(second!)).toMatchObject({ state: 'MERGED' });
    expect((await review(first, 'merge')).status).toBe(200);
    await done(held.agent, 'land', { outcome: 'merged', commit: commit('c') });
    expect(await change(first)).toMatchObject({ state: 'MERGED', obstacle: null });
    await scene.holdsEverything();
  });

  it('a pause gives no step, and one that ends runs takes a merge before its push', async () => {
    const held = await working({ review: 'none' });
    const pause = async (body: Body) => {
      const answer = await scene.workspace.api.post<Body>('/pauses', { reason: 'Stop', ...body });
      expect(answer.status).toBe(201);
      return () => scene.workspace.api.delete(`/pauses/${String(answer.body['id'])}`);
    };
    await submitted(held, commit(1));
    for (const scope of [{ scope: 'workspace' }, { scope: 'task_type', taskType: 'test' }]) {
      const resume = await pause(scope);
      expect(await step(held.agent)).toBeUndefined();
      await resume();
    }
    const other = await pause({ scope: 'task_type', taskType: 'other' });
    await done(held.agent, 'prove', green(commit(1)));
    await other();
    const landing = await step(held.agent);
    const { generation } = landing!.step;
    const resume = await pause({ scope: 'workspace', endRuns: true });
    const planned = { generation, landingCommit: commit('c') };
    const refused = await held.agent.api.post(`/change-steps/${held.id}/plan`, planned);
    expect(refused).toMatchObject({ status: 409, body: { code: 'stale_step' } });
    expect(await change(held.id)).toMatchObject({
      state: 'APPROVED',
      step: { kind: 'land', agentId: null, attempts: 0 },
    });
    await resume();
    await done(held.agent, 'land', { outcome: 'merged', commit: commit('d') });
    expect(await change(held.id)).toMatchObject({ state: 'MERGED' });
  });

  it('a step that hosts gave up waits for a person', async () => {
    const held = await working();
    await submitted(held, commit(1));
    const due = `UPDATE changes SET step_due_at = now() WHERE task_id = $1 AND step_due_at < 'infinity'`;
    for (let attempt = 0; attempt < 5; attempt++) {
      await scene.sql(due, held.id);
      await done(held.agent, 'prove', { outcome: 'failed', reason: 'No disk.' });
    }
    await scene.sql(due, held.id);
    expect(await step(held.agent)).toBeUndefined();
    expect(await change(held.id)).toMatchObject({ state: 'PROVING', obstacle: 'No disk.' });
    expect(await report(held.agent, await retaken(held), { outcome: 'merged' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'outcome' }] },
    });
  });

  async function retaken(held: Held): Promise<Work> {
    expect((await review(held.id, 'merge')).status).toBe(200);
    return (await step(held.agent))!;
  }
});

describe('a task that ends otherwise', () => {
  it('whose last run fails before its start leaves the branch of its change', async () => {
    const id = await scene.task({ repositoryId: await repository(), maxRetries: 0 });
    const agent = await scene.workspace.newAgent({ capabilities: ['git'] });
    const held = await scene.claim(agent, id);
    await repositoryOf(held);
    const failed = { error: { message: 'No disk', retryable: true } };
    expect((await agent.api.post(`/runs/${held.runId}/fail`, failed)).status).toBe(200);
    expect(await scene.read(id)).toMatchObject({ status: 'FAILED' });
    expect(await change(id)).toMatchObject({ state: 'FAILED', step: null });
    expect(await step(agent)).toBeUndefined();
    expect((await scene.workspace.api.post(`/agent-tasks/${id}/retry`, {})).status).toBe(200);
    expect(await change(id)).toMatchObject({ state: 'WORKING', branch: expect.any(String) });
    await scene.holdsEverything();
  });

  it('takes its change along, whatever its state, and a retry works on it again', async () => {
    const held = await inReview();
    const cancelled = await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`, {});
    expect(cancelled.status).toBe(200);
    expect(await change(held.id)).toMatchObject({ state: 'CLOSED', step: { kind: 'remove' } });
    expect(await scene.events('change.closed')).toHaveLength(1);
    expect((await scene.workspace.api.post(`/agent-tasks/${held.id}/retry`, {})).status).toBe(200);
    expect(await change(held.id)).toMatchObject({ state: 'WORKING', step: null });
    const next = await start(await scene.claim(held.agent, held.id));
    const failed = { error: { message: 'It gave up', retryable: false } };
    expect((await next.agent.api.post(`/runs/${next.runId}/fail`, failed)).status).toBe(200);
    expect(await change(held.id)).toMatchObject({ state: 'FAILED', step: null });
    await scene.holdsEverything();
  });
});

describe('the project of a change', () => {
  const ofProject = async () => {
    const { api } = scene.workspace;
    expect((await api.patch(`/workspaces/${scene.id}`, { network: 'host' })).status).toBe(200);
    const { body } = await api.post<{ id: string }>('/projects', { name: 'Closed' });
    const host = await scene.workspace.newAgent({ capabilities: ['git'] });
    const repositoryId = await repository({ network: 'host', review: 'none' });
    const submittedChange = async (projectId?: string) => {
      const id = await scene.task({ repositoryId, projectId });
      const held = await start(await scene.claim(host, id));
      const access = (await repositoryOf(held)).body.repository;
      await submitted(held, commit(1));
      return { id, access };
    };
    return { api, host, project: body.id, submittedChange };
  };

  it('a project without network refuses it to setup and proof', async () => {
    const { api, host, project, submittedChange } = await ofProject();
    const closed = { network: 'none', hostLists: [] };
    const { id, access } = await submittedChange(project);
    expect(access).toMatchObject(closed);
    const proof = await step(host);
    expect(proof).toMatchObject({ step: { changeId: id }, repository: closed });
    expect((await api.patch(`/projects/${project}`, { network: 'host' })).status).toBe(200);
    expect((await report(host, proof!, { outcome: 'released' })).status).toBe(200);
    expect(await step(host)).toMatchObject({ repository: { network: 'host' } });
  });

  it('a host proves ahead of its turn only a change of the same project', async () => {
    const { host, project, submittedChange } = await ofProject();
    const { id: first } = await submittedChange();
    await done(host, 'prove', green(commit(1)));
    const landing = await step(host);
    const { id: second } = await submittedChange(project);
    await done(host, 'prove', green(commit(1)));
    expect((await report(host, landing!, { outcome: 'released' })).status).toBe(200);
    const again = await step(host);
    expect(again).toMatchObject({ step: { kind: 'land', changeId: first }, next: null });
    await scene.sql(`UPDATE agent_tasks SET project_id = NULL WHERE id = $1`, second);
    expect((await report(host, again!, { outcome: 'released' })).status).toBe(200);
    expect(await step(host)).toMatchObject({
      step: { kind: 'land', changeId: first },
      next: { changeId: second },
    });
  });
});
