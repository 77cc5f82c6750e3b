import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../../coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

interface Signals {
  runs: { action: string; reason: string; afterTurn: boolean }[];
}

const command = ({ id }: Held, name: string, body: object = {}) =>
  scene.workspace.api.post<{ status: string }>(`/agent-tasks/${id}/${name}`, body);

async function signals({ agent, runId }: Held, pausesAfterTurn = false, waitMs = 20_000) {
  const heard = [{ runId, position: 0, pausesAfterTurn }];
  const body = { runIds: [runId], heard, waitMs };
  return (await agent.api.post<Signals>(`/agents/${agent.id}/signals`, body)).body.runs;
}

describe('a pause after the turn', () => {
  it('the agent learns of the pause once, and of its withdrawal', async () => {
    const run = await scene.held({ agent: { kind: 'codex' } });
    const waiting = signals(run);
    const paused = await command(run, 'pause', { afterTurn: true, reason: 'lunch' });
    expect(paused.body.status).toBe('PAUSED');
    const signal = { action: 'pause', reason: 'lunch', afterTurn: true };
    expect(await waiting).toMatchObject([signal]);
    // It comes at once to an agent that does not know it yet, and waits for one that does.
    expect(await signals(run)).toMatchObject([signal]);
    const began = performance.now();
    expect(await signals(run, true, 300)).toMatchObject([signal]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(299);
    const known = signals(run, true);
    expect((await command(run, 'resume')).body.status).toBe('RUNNING');
    expect(await known).toEqual([]);
  });

  it('an agent that writes ids in capitals waits with a pause that it knows', async () => {
    const run = await scene.held({ agent: { kind: 'codex' } });
    await command(run, 'pause', { afterTurn: true });
    const began = performance.now();
    await signals({ ...run, runId: run.runId.toUpperCase() }, true, 300);
    expect(performance.now() - began).toBeGreaterThanOrEqual(299);
  });

  it('another pause does not wait for the turn', async () => {
    const run = await scene.held({ agent: { kind: 'codex' } });
    await command(run, 'pause', { afterTurn: true });
    await command(run, 'pause', { afterTurn: true });
    const known = signals(run, true);
    await command(run, 'pause');
    expect(await known).toMatchObject([{ action: 'pause', afterTurn: false }]);
    await command(run, 'pause', { afterTurn: true });
    expect(await signals(run)).toMatchObject([{ action: 'pause', afterTurn: false }]);
    const path = `/agent-tasks/${run.id}/runs`;
    const { body } = await scene.workspace.api.get<{ items: object[] }>(path);
    expect(body.items).toMatchObject([
      { pauseRequestedAt: expect.any(String), pauseAfterTurn: false },
    ]);
  });

  it('a start of a paused run is refused with the way to go on', async () => {
    const run = await scene.held({}, { start: false });
    await command(run, 'pause', { afterTurn: true });
    expect(await run.agent.api.post(`/runs/${run.runId}/start`, {})).toMatchObject({
      status: 409,
      body: { detail: 'The task is PAUSED. The run can start when the task is resumed.' },
    });
  });

  it('a run without turns pauses at once', async () => {
    const run = await scene.held();
    await command(run, 'pause', { afterTurn: true });
    expect(await signals(run)).toMatchObject([{ action: 'pause', afterTurn: false }]);
  });
});
