import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { changesIn, commit, green } from '../../../../test/support/changes-in.js';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { Scene } from '../../../work/coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const { working, start, submitted, done, saveDiff, change, approve } = changesIn(() => scene);

describe('a review', () => {
  it('by an agent and a person needs both, and the agent can send the change back', async () => {
    const held = await working({ review: 'both', reviewer: { kind: 'codex' } });
    const diff = 'diff --git a/date.ts b/date.ts';
    expect((await saveDiff(held, diff)).status).toBe(200);
    await submitted(held, commit(1));
    await done(held.agent, 'prove', green(commit(1)));
    expect(await approve(held.id, commit(1))).toMatchObject({ body: { state: 'IN_REVIEW' } });
    const reviewer = await scene.workspace.newAgent({ capabilities: ['command', 'kind:codex'] });
    const say = async (words: string) => {
      await scene.recover();
      const { reviewTaskId } = (await change(held.id)) as { reviewTaskId: string };
      const run = await scene.claim(reviewer, reviewTaskId);
      const { instructions } = (await scene.read(reviewTaskId)) as { instructions: string };
      await reviewer.api.post(`/runs/${run.runId}/complete`, { outputResult: { summary: words } });
      await scene.recover();
      return instructions;
    };
    const comments = [{ path: 'date.ts', line: 3, text: 'Use the parser.' }];
    const back = { verdict: 'request_changes', body: 'Nearly.', comments };
    expect(await say(`No.\n\`\`\`json\n${JSON.stringify(back)}\n\`\`\``)).toContain(diff);
    const author = `agent:${reviewer.id}`;
    expect(await change(held.id)).toMatchObject({
      state: 'WORKING',
      reviews: [{}, {}, { verdict: 'changes_requested', author, body: 'Nearly.', comments }],
    });
    const named = (await change(held.id)) as { reviews: { authorName: string }[] };
    const { body: agent } = await scene.workspace.api.get(`/agents/${reviewer.id}`);
    expect(named.reviews.at(-1)?.authorName).toBe(agent['name']);
    const next = await start(await scene.claim(held.agent, held.id));
    await submitted(next, commit(2));
    await done(held.agent, 'prove', green(commit(2)));
    await say('{"verdict": "approve"}');
    expect(await change(held.id)).toMatchObject({ state: 'IN_REVIEW' });
    const { userId } = scene.workspace;
    await scene.sql(`UPDATE users SET name = 'Ann' WHERE id = $1`, userId);
    expect(await approve(held.id, commit(2))).toMatchObject({ body: { state: 'APPROVED' } });
    const { reviews } = (await change(held.id)) as { reviews: object[] };
    expect(reviews.at(-1)).toMatchObject({ author: `user:${userId}`, authorName: 'Ann' });
    await scene.holdsEverything();
  });

  it('by an agent without a verdict is left to a person', async () => {
    const held = await working({ review: 'agent', reviewer: { kind: 'codex' } });
    await submitted(held, commit(1));
    await done(held.agent, 'prove', green(commit(1)));
    await scene.recover();
    const { reviewTaskId } = (await change(held.id)) as { reviewTaskId: string };
    await scene.workspace.api.post(`/agent-tasks/${reviewTaskId}/cancel`, {});
    await scene.recover();
    expect(await change(held.id)).toMatchObject({
      state: 'IN_REVIEW',
      obstacle: expect.stringContaining('no verdict'),
    });
    expect(await scene.events('change.obstructed')).toHaveLength(1);
    expect(await approve(held.id, commit(1))).toMatchObject({ body: { state: 'APPROVED' } });
  });

  it('by both, without a verdict of the agent, asks it again when a person approves', async () => {
    const held = await working({ review: 'both', reviewer: { kind: 'codex' } });
    await submitted(held, commit(1));
    await done(held.agent, 'prove', green(commit(1)));
    await scene.recover();
    const { reviewTaskId: first } = (await change(held.id)) as { reviewTaskId: string };
    expect(await approve(held.id, commit(1))).toMatchObject({ body: { reviewTaskId: first } });
    await scene.workspace.api.post(`/agent-tasks/${first}/cancel`, {});
    await scene.recover();
    expect(await approve(held.id, commit(1))).toMatchObject({
      body: { state: 'IN_REVIEW', obstacle: null },
    });
    await scene.recover();
    const { reviewTaskId: second } = (await change(held.id)) as { reviewTaskId: string };
    expect(second).not.toBe(first);
    const reviewer = await scene.workspace.newAgent({ capabilities: ['command', 'kind:codex'] });
    const run = await scene.claim(reviewer, second);
    const outputResult = { summary: '{"verdict": "approve"}' };
    await reviewer.api.post(`/runs/${run.runId}/complete`, { outputResult });
    await scene.recover();
    expect(await change(held.id)).toMatchObject({ state: 'APPROVED' });
    await scene.holdsEverything();
  });

  it('by an agent waits while the queue is full, and stops no other recovery', async () => {
    const held = await working({ review: 'agent', reviewer: { kind: 'codex' } });
    await submitted(held, commit(1));
    await done(held.agent, 'prove', green(commit(1)));
    await scene.task();
    const { userId } = scene.workspace;
    await scene.sql(`UPDATE users SET is_operator = true WHERE id = $1`, userId);
    const limit = async (maxQueueDepth: number | null) => {
      const limits = { maxQueueDepth, spawnsPerMinute: null };
      const { status } = await scene.workspace.api.put(`/workspaces/${scene.id}/limits`, limits);
      expect(status).toBe(200);
    };
    await limit(1);
    expect(await scene.recover()).toMatchObject({ agentReviews: 0 });
    const obstacle = expect.stringContaining('queue');
    const waiting = { state: 'IN_REVIEW', reviewTaskId: null, obstacle };
    expect(await change(held.id)).toMatchObject(waiting);
    await limit(null);
    expect(await scene.recover()).toMatchObject({ agentReviews: 0 });
    const later = `UPDATE changes SET updated_at = now() - interval '1 minute' WHERE task_id = $1`;
    await scene.sql(later, held.id);
    expect(await scene.recover()).toMatchObject({ agentReviews: 1 });
    const asked = { reviewTaskId: expect.any(String), obstacle: null };
    expect(await change(held.id)).toMatchObject(asked);
  });
});
