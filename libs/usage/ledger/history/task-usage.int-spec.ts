import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { Scene } from '../../../work/coordinator/testing/scene.js';

interface Reports {
  items: { id: string; runId: string }[];
  nextCursor: string | null;
}

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

it('each report of a task is listed once, the latest first, also by run', async () => {
  const held = await scene.held();
  const { id, runId, agent } = held;
  const tokens = { model: 'claude-haiku-4-5', inputTokens: 100, outputTokens: 40 };
  const detailed = { cacheReadTokens: 7, cacheWriteTokens: 3, reasoningTokens: 9 };
  const first = { ...tokens, ...detailed, id: 'first', timeToFirstTokenMs: 840, estimated: true };
  const more = ['b', 'c', 'd'].map((name) => ({ ...tokens, id: name }));
  const report = (reports: object[], run = runId) =>
    agent.api.post(`/runs/${run}/usage`, { reports });
  expect((await report([first])).status).toBe(200);
  // In one transaction, so at one time.
  expect((await report(more)).status).toBe(200);
  await scene.workspace.api.post(`/agent-tasks/${id}/pause`, {});
  await agent.api.post(`/runs/${runId}/release`, { reason: 'paused' });
  await scene.workspace.api.post(`/agent-tasks/${id}/resume`, {});
  const next = await scene.claim(agent, id);
  await report([{ ...tokens, id: 'of another run' }], next.runId);

  const list = async (query: string) => {
    const path = `/agent-tasks/${id}/usage?${query}`;
    return (await scene.workspace.api.get<Reports>(path)).body;
  };
  const seen: Reports['items'] = [];
  let page = await list('limit=2');
  for (; page.nextCursor !== null; page = await list(`limit=2&cursor=${page.nextCursor}`)) {
    seen.push(...page.items);
  }
  seen.push(...page.items);
  expect(seen.map((one) => one.id)).toEqual(['of another run', 'd', 'c', 'b', 'first']);
  expect(seen.at(-1)).toMatchObject({
    runId,
    agentId: agent.id,
    model: 'claude-haiku-4-5',
    inputTokens: '100',
    outputTokens: '40',
    cacheReadTokens: '7',
    cacheWriteTokens: '3',
    totalTokens: '150',
    reasoningTokens: '9',
    costUsd: expect.stringMatching(/^0\.000\d+$/),
    timeToFirstTokenMs: 840,
    estimated: true,
  });
  const ofRun = await list(`runId=${next.runId}`);
  expect(ofRun).toMatchObject({ items: [{ runId: next.runId }], nextCursor: null });
  expect(await list(`runId=${newId()}`)).toMatchObject({ code: 'run_not_found' });
  const unknown = await scene.workspace.api.get(`/agent-tasks/${newId()}/usage`);
  expect(unknown).toMatchObject({ status: 404, body: { code: 'task_not_found' } });
  expect(await list('cursor=WyIxIiwieCJd')).toMatchObject({ code: 'malformed_cursor' });
});
