import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HeartbeatFlusher } from '#lib/agent-manager';
import { newId } from '#lib/kernel';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';

/** One id, and an agent with this id in each of two workspaces: neither may notice the other. */

interface Namesake {
  workspace: TestWorkspace;
  /** Requests of the agent, with its token. */
  api: ApiClient;
}

interface Claimed {
  task: { id: string };
  run: { id: string; token: string };
}

let server: TestApp;
let id: string;
let one: Namesake;
let other: Namesake;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api', HEARTBEAT_FLUSH_MS: '10000' });
});

beforeEach(async () => {
  id = newId();
  one = await aNamesake();
  other = await aNamesake();
});

afterAll(() => server.stop());

async function aNamesake(): Promise<Namesake> {
  const workspace = await server.newWorkspace();
  expect((await workspace.api.put(`/agents/${id}`, { name: 'Agent' })).status).toBe(201);
  return { workspace, api: await withToken(workspace) };
}

async function withToken(workspace: TestWorkspace): Promise<ApiClient> {
  const issued = await workspace.api.post<{ token: string }>(`/agents/${id}/token`, {});
  expect(issued.status).toBe(201);
  return apiClient(server.url, { authorization: `Bearer ${issued.body.token}` });
}

async function statusOf({ api }: Namesake): Promise<number> {
  return (await api.get(`/agents/${id}`)).status;
}

async function beat({ api }: Namesake, body: Record<string, unknown> = {}): Promise<number> {
  return (await api.post(`/agents/${id}/heartbeat`, { status: 'healthy', ...body })).status;
}

async function healthOf({ workspace }: Namesake) {
  await server.app.get(HeartbeatFlusher, { strict: false }).flush();
  return (await workspace.api.get(`/agents/${id}/health`)).body;
}

async function aTaskOf({ workspace }: Namesake, values: object = {}): Promise<string> {
  const body = { title: 'A task', taskType: 'test', ...values };
  return (await workspace.api.post<{ id: string }>('/agent-tasks', body)).body.id;
}

async function claimOf({ api }: Namesake, body: object = {}): Promise<Claimed[]> {
  return (await api.post<{ tasks: Claimed[] }>(`/agents/${id}/claim`, body)).body.tasks;
}

describe('an agent id that another workspace uses', () => {
  it('an id of another workspace registers as a new agent', async () => {
    const unused = newId();
    const [there, nowhere] = [await server.newWorkspace(), await server.newWorkspace()];
    const shownTo = async ({ api, id: workspaceId, userId }: TestWorkspace, agentId: string) => {
      const { status, body } = await api.put(`/agents/${agentId}`, { name: 'Mine' });
      expect(body).toMatchObject({ id: agentId, workspaceId, createdBy: userId });
      return { status, fields: Object.keys(body).sort(), version: body['version'] };
    };
    expect(await shownTo(there, id)).toEqual(await shownTo(nowhere, unused));
    expect((await there.api.put(`/agents/${id}`, { name: 'Renamed' })).status).toBe(200);
    expect((await one.workspace.api.get(`/agents/${id}`)).body).toMatchObject({ name: 'Agent' });
  });
});

describe('agents with the same id', () => {
  it('agents with the same id have their own heartbeats within one flush', async () => {
    expect(await beat(one, { memoryMb: 1, currentStep: 'one' })).toBe(200);
    expect(await beat(other, { memoryMb: 2, status: 'degraded' })).toBe(200);
    expect(await healthOf(one)).toMatchObject({ status: 'healthy', memoryMb: 1 });
    expect(await healthOf(other)).toMatchObject({ status: 'degraded', currentStep: null });
    // Compares with the memory's present state.
    expect(await beat(one, { memoryMb: 3 })).toBe(200);
    expect(await healthOf(one)).toMatchObject({ memoryMb: 3 });
    expect(await healthOf(other)).toMatchObject({ memoryMb: 2 });
  });

  it('agents with the same id are terminated one by one', async () => {
    for (const agent of [one, other]) expect(await beat(agent)).toBe(200);
    const terminated = await one.workspace.api.post(`/agents/${id}/terminate`, { graceful: false });
    expect(terminated).toMatchObject({ status: 200, body: { status: 'TERMINATED' } });
    expect([await beat(one), await beat(other)]).toEqual([409, 200]);
    expect(await healthOf(other)).toMatchObject({ agentStatus: 'IDLE' });
    await aTaskOf(other);
    expect(await claimOf(other)).toHaveLength(1);
  });

  it("agents with the same id lose their tokens and their runs' tokens one by one", async () => {
    await aTaskOf(one);
    const [claimed] = (await claimOf(one)) as [Claimed];
    const run = apiClient(server.url, { authorization: `Bearer ${claimed.run.token}` });
    expect((await one.workspace.api.delete(`/agents/${id}/token`)).status).toBe(204);
    expect([await statusOf(one), await statusOf(other)]).toEqual([401, 200]);
    expect((await run.post(`/runs/${claimed.run.id}/start`)).status).toBe(401);
    await other.workspace.api.post(`/agents/${id}/token`, { rotate: true });
    expect(await statusOf(other)).toBe(401);
    expect(await statusOf({ ...one, api: await withToken(one.workspace) })).toBe(200);
  });

  it('agents with the same id get tasks of their own workspaces, also concurrently', async () => {
    const ids = [await aTaskOf(one), await aTaskOf(other)];
    const claims = await Promise.all([claimOf(one), claimOf(other)]);
    expect(claims.flat().map(({ task }) => task.id)).toEqual(ids);
    expect(await Promise.all([claimOf(one), claimOf(other)])).toEqual([[], []]);
  });

  it('agents with the same id hear the signals of their own runs, each of them once', async () => {
    const readSignals = async ({ api }: Namesake, waitMs: number) => {
      const signals = { path: `/agents/${id}/signals`, body: { waitMs } };
      const since = performance.now();
      const { body } = await api.post<{ runs: { runId: string }[] }>(signals.path, signals.body);
      return { runs: body.runs.map(({ runId }) => runId), ms: performance.now() - since };
    };
    const cancelled = async (agent: Namesake) => {
      const taskId = await aTaskOf(agent);
      const [claimed] = await claimOf(agent);
      await agent.workspace.api.post(`/agent-tasks/${taskId}/cancel`, {});
      return claimed?.run.id;
    };
    const [ofOne, ofOther] = [await cancelled(one), await cancelled(other)];
    expect((await readSignals(one, 10_000)).runs).toEqual([ofOne]);
    expect((await readSignals(other, 10_000)).runs).toEqual([ofOther]);
    // The agent has heard of it. Signals for the other agent do not make it new.
    const again = await readSignals(one, 300);
    expect(again.runs).toEqual([ofOne]);
    expect(again.ms).toBeGreaterThan(290);
  });

  it('a heartbeat reveals no secret of an agent with the same id', async () => {
    const [password, currentStep] = ['correct-horse-battery', 'Using correct-horse-battery'];
    await aTaskOf(one, { secrets: { PASSWORD: password } });
    expect(await claimOf(one)).toHaveLength(1);
    for (const agent of [one, other]) expect(await beat(agent, { currentStep })).toBe(200);
    expect((await healthOf(one)).currentStep).not.toContain(password);
    expect((await healthOf(other)).currentStep).toBe(currentStep);
  });
});
