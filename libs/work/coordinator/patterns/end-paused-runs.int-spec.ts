import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkInvariants } from '#lib/invariants';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Scene } from '../testing/scene.js';

let server: TestApp;

beforeAll(async () => {
  server = await startTestApp();
});
afterAll(async () => {
  const broken = (await checkInvariants(server.db.ownerUrl)).filter(({ holds }) => !holds);
  expect(broken).toEqual([]);
  await server.stop();
});

it('a kill switch ends live runs, and their tasks continue from their checkpoints after it', async () => {
  const scene = await Scene.of(server);
  const bystander = await Scene.of(server);
  const other = await bystander.held();
  const held = await scene.held();
  const { agent, id, runId } = held;
  const checkpoint = { checkpointData: { step: 7 } };
  expect((await agent.api.patch(`/runs/${runId}/progress`, checkpoint)).status).toBeLessThan(300);
  const reason = 'agents delete files';
  const pause = await scene.workspace.api.post<{ id: string }>('/pauses', {
    scope: 'workspace',
    reason,
    endRuns: true,
  });
  expect(pause).toMatchObject({ status: 201, body: { endRuns: true, reason } });
  await waitFor('the task to be requeued', async () => {
    return (await scene.read(id))['status'] === 'PENDING';
  });
  expect(await scene.read(id)).toMatchObject({ retryCount: 0, ...checkpoint });
  expect(await agent.api.post(`/runs/${runId}/complete`, {})).toMatchObject({
    status: 409,
    body: { code: 'stale_run', endReason: 'kill_switch' },
  });
  const claim = () => agent.api.post<{ tasks: object[] }>(`/agents/${agent.id}/claim`, {});
  expect((await claim()).body.tasks).toEqual([]);
  expect(await bystander.read(other.id)).toMatchObject({ status: 'RUNNING', runId: other.runId });

  const ended = await scene.workspace.api.delete(`/pauses/${pause.body.id}`);
  expect(ended).toMatchObject({ status: 200, body: { endRuns: true } });
  expect((await claim()).body.tasks).toEqual([
    expect.objectContaining({ task: expect.objectContaining({ id, ...checkpoint }) }),
  ]);
});

it('a pause of a type with endRuns ends the runs of that type alone', async () => {
  const scene = await Scene.of(server);
  const [hit, missed] = [await scene.held({ taskType: 'deploy' }), await scene.held()];
  const body = { scope: 'task_type', taskType: 'deploy', reason: 'no', endRuns: true };
  await scene.workspace.api.post('/pauses', body);
  await waitFor('the run to be ended', async () => (await scene.read(hit.id))['runId'] === null);
  expect(await scene.read(missed.id)).toMatchObject({ status: 'RUNNING', runId: missed.runId });
});

it('an agent that names no runs hears that the kill switch ended its paused run', async () => {
  const scene = await Scene.of(server);
  const { agent, id, runId } = await scene.held({ agent: { kind: 'codex' } });
  const pausing = { afterTurn: true, reason: 'lunch' };
  expect((await scene.workspace.api.post(`/agent-tasks/${id}/pause`, pausing)).status).toBe(200);
  await scene.workspace.api.post('/pauses', { scope: 'workspace', reason: 'no', endRuns: true });
  await waitFor('the run to be ended', async () => (await scene.read(id))['runId'] === null);
  const signals = await agent.api.post(`/agents/${agent.id}/signals`, { waitMs: 0 });
  expect(signals.body['runs']).toMatchObject([{ runId, action: 'stop', reason: 'kill_switch' }]);
});
