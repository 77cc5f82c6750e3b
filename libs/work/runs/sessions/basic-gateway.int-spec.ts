import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import jwt from 'jsonwebtoken';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { type ApiClient, apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { reign } from '../../../../test/faults/harness/coordinators.js';
import type { BasicSpawnRequest } from './gateway/basic-protocol.js';

const SECRET = 'a token that the operator gave to the gateway';

/** A gateway of the basic protocol: it knows only the spawn request. */
const http = createServer((request, response) => {
  void json(request).then((body) => {
    spawns.push({ ...(body as BasicSpawnRequest), by: request.headers.authorization });
    calls.push(`${request.method} ${request.url}`);
    answer(response);
  });
});
let spawns: (BasicSpawnRequest & { by: string | undefined })[] = [];
let calls: string[] = [];

const spawned = (response: ServerResponse) => {
  response.writeHead(201, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ session: { sessionKey: 'agent:main:subagent:1' } }));
};
const lost = () => undefined;
const busy = (response: ServerResponse) =>
  void response.writeHead(503, { 'retry-after': '15' }).end();
let answer: (response: ServerResponse) => void = spawned;

let server: TestApp;
let workspace: TestWorkspace;
let agentId: string;

beforeAll(async () => {
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  server = await startTestApp({
    GATEWAY_URL: `http://127.0.0.1:${(http.address() as AddressInfo).port}/behind/a-proxy/`,
    GATEWAY_SECRET: SECRET,
    GATEWAY_PROTOCOL: 'basic',
    GATEWAY_TIMEOUT_MS: '1000',
    COORDINATOR_CRON: '* * * * * *',
    HEARTBEAT_FLUSH_MS: '50',
  });
});
beforeEach(async () => {
  [spawns, calls, answer] = [[], [], spawned];
  workspace = await server.newWorkspace();
  agentId = newId();
  const agent = { name: 'Pushed', mode: 'push', command: ['its gateway knows'] };
  const limits = { maxConcurrentTasks: 2, heartbeatIntervalSeconds: 1, staleThresholdSeconds: 6 };
  await workspace.api.put(`/agents/${agentId}`, { ...agent, ...limits });
});
afterEach(async () => {
  const broken = (await checkInvariants(server.db.database.service)).filter(({ holds }) => !holds);
  expect(broken).toEqual([]);
  await server.db.owner.query(`UPDATE agents SET coordinator_enabled = false`);
});
afterAll(async () => {
  await server.stop();
  http.closeAllConnections();
  http.close();
});

interface Task {
  id: string;
  status: string;
  runId: string;
  sessionKey: string | null;
  abortReason: string | null;
  retryCount: number;
}

const aTask = async (values: object = {}) => {
  const task = { title: 'Read a book', taskType: 'reading', retryBackoffSeconds: 1, ...values };
  const { body } = await workspace.api.post<Task>('/agent-tasks', {
    ...task,
    inputContext: { book: 'a thick one' },
  });
  return body.id;
};

const taskIn = (id: string, status: string) =>
  waitFor(`the task to be ${status}`, async () => {
    const { body } = await workspace.api.get<Task>(`/agent-tasks/${id}`);
    return body.status === status ? body : undefined;
  });

const spawnOf = (taskId: string, nth = 0) =>
  waitFor(`spawn ${nth}`, () => spawns.filter((one) => one.taskId === taskId)[nth]);

interface Drover {
  runId: string;
  runToken: string;
  generation: number;
  apiUrl: string;
}

const droverOf = ({ context }: BasicSpawnRequest) => context.inputContext['drover'] as Drover;
const sessionOf = (spawn: BasicSpawnRequest): ApiClient =>
  apiClient(server.url, { authorization: `Bearer ${droverOf(spawn).runToken}` });

/** The answer to its spawn is lost: the run may have a session. */
async function anUnknownSession(values: object = {}) {
  answer = lost;
  const taskId = await aTask(values);
  const spawn = await spawnOf(taskId);
  await waitFor('the call to be given up', async () => {
    const { body } = await workspace.api.get<{ items: object[] }>(
      `/agent-tasks/${taskId}/logs?event=spawn_unknown`,
    );
    return body.items.length > 0;
  });
  answer = spawned;
  return { taskId, spawn, session: sessionOf(spawn) };
}

const leaseOf = async (runId: string) => {
  const { rows } = await server.db.owner.query<{ at: Date }>(
    `SELECT lease_expires_at AS at FROM task_runs WHERE id = $1`,
    [runId],
  );
  return rows[0]?.at.getTime() ?? 0;
};

const letLeasePass = (runId: string) =>
  server.db.owner.query(
    `UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`,
    [runId],
  );

describe('a gateway of the basic protocol', () => {
  it('a basic gateway gets five fields and its token, and its session can report', async () => {
    const taskId = await aTask();
    const { runId, sessionKey } = await taskIn(taskId, 'RUNNING');
    expect(sessionKey).toBe('agent:main:subagent:1');
    const [spawn] = spawns as [(typeof spawns)[number]];
    expect(calls).toEqual(['POST /behind/a-proxy/api/agents/spawn']);
    const drover = { runId, generation: 1, runToken: expect.any(String), timeoutSeconds: null };
    expect(spawn).toEqual({
      by: `Bearer ${SECRET}`,
      workspaceId: workspace.id,
      agentId,
      taskId,
      label: `task:${taskId}:Read a book`,
      context: {
        taskTitle: 'Read a book',
        taskDescription: null,
        checkpointData: {},
        inputContext: {
          book: 'a thick one',
          drover: { ...drover, apiUrl: expect.stringMatching(/\/api\/v1$/) },
        },
      },
    });
    const session = sessionOf(spawn);
    const path = `/agent-tasks/${taskId}`;
    expect((await session.patch(`${path}/progress`, { progressPercent: 50 })).status).toBe(200);
    expect((await session.post(`${path}/complete`, { summary: 'Read' })).status).toBe(200);
    await taskIn(taskId, 'COMPLETED');
    const health = await fetch(`${server.url}/health/coordinator`);
    expect(await health.json()).toMatchObject({ gateway: 'reachable' });
  });

  it('a basic gateway revives the agents of an earlier gateway', async () => {
    await server.db.owner.query(
      `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
      [agentId],
    );
    await taskIn(await aTask(), 'RUNNING');
  });

  it('a session names its branch after the answer to its spawn has started its run', async () => {
    const taskId = await aTask();
    const { runId } = await taskIn(taskId, 'RUNNING');
    const session = sessionOf(await spawnOf(taskId));
    const start = (values: object) => session.post(`/runs/${runId}/start`, values);
    expect((await start({ branch: 'fix-7', sessionKey: 'another' })).status).toBe(200);
    expect((await start({ branch: 'fix-8' })).status).toBe(200);
    const { body } = await workspace.api.get<{ items: object[] }>(`/agent-tasks/${taskId}/runs`);
    const first = { branch: 'fix-7', sessionKey: 'agent:main:subagent:1' };
    expect(body.items).toMatchObject([first]);
  });

  it('a basic gateway cannot report, even with a token of its own secret', async () => {
    const claims = { typ: 'gateway', jti: newId(), sub: 'basic' };
    const to = { issuer: 'drover-gateway', audience: 'drover:gateway', expiresIn: 60 };
    const authorization = `Bearer ${jwt.sign(claims, SECRET, to)}`;
    const body = { gatewayId: 'basic', runIds: [] };
    const { status } = await apiClient(server.url, { authorization }).post(
      '/gateway/signals',
      body,
    );
    expect(status).toBe(401);
  });
});

const startsOf = async (runId: string) => {
  const starts = `SELECT 1 FROM journal WHERE run_id = $1 AND new_status = 'RUNNING'`;
  return (await server.db.owner.query(starts, [runId])).rows.length;
};

describe('a session that may exist after a lost answer', () => {
  it('a run whose session may not exist begins with the first report of the session', async () => {
    const { taskId, spawn, session } = await anUnknownSession({ timeoutSeconds: 600 });
    const { runId } = droverOf(spawn);
    expect(await startsOf(runId)).toBe(0);
    await session.patch(`/runs/${runId}/progress`, { progressPercent: 1 });
    expect(await taskIn(taskId, 'RUNNING')).toMatchObject({ runId });
  });

  it('a session of a lost answer is not spawned again, and can complete its task', async () => {
    const { taskId, session } = await anUnknownSession();
    expect((await session.post(`/agent-tasks/${taskId}/start`)).status).toBe(200);
    expect((await session.post(`/agent-tasks/${taskId}/complete`, {})).status).toBe(200);
    await taskIn(taskId, 'COMPLETED');
    expect(spawns).toHaveLength(1);
  });

  it('a session of a lost answer ends with its lease and cannot report', async () => {
    const { taskId, spawn, session } = await anUnknownSession();
    await letLeasePass(droverOf(spawn).runId);
    const second = await spawnOf(taskId, 1);
    expect(droverOf(second)).toMatchObject({ generation: 2 });
    expect(droverOf(second).runId).not.toBe(droverOf(spawn).runId);
    const late = await session.post(`/agent-tasks/${taskId}/complete`, {});
    expect([401, 409]).toContain(late.status);
    const ofAgent = await asAgent();
    const unnamed = await ofAgent.patch(`/agent-tasks/${taskId}/progress`, { progressPercent: 9 });
    expect([unnamed.status, unnamed.body['code']]).toEqual([409, 'run_required']);
    await taskIn(taskId, 'RUNNING');
  });

  it('a server that died during the call leaves a session that may exist', async () => {
    answer = busy;
    const taskId = await aTask();
    await spawnOf(taskId);
    answer = spawned;
    const wait = `SELECT 1 FROM session_spawns WHERE task_id = $1 AND locked_until IS NULL`;
    await waitFor('the answer to be recorded', async () => {
      return (await server.db.owner.query(wait, [taskId])).rows.length > 0;
    });
    await server.db.owner.query(
      `UPDATE session_spawns SET locked_until = now(), next_attempt_at = now() WHERE task_id = $1`,
      [taskId],
    );
    const state = `SELECT 1 FROM session_spawns WHERE task_id = $1 AND state = 'FAILED'`;
    await waitFor('it to be given up', async () => {
      return (await server.db.owner.query(state, [taskId])).rows.length > 0;
    });
    const [spawn] = spawns as [(typeof spawns)[number]];
    expect(await startsOf(droverOf(spawn).runId)).toBe(0);
    expect((await taskIn(taskId, 'ASSIGNED')).abortReason).toBeNull();
  });
});

describe('a change of the protocol', () => {
  it('sessions of the other protocol continue', async () => {
    const taskId = await aTask();
    const { runId } = await taskIn(taskId, 'RUNNING');
    const { runToken } = droverOf(await spawnOf(taskId));
    const env = { ROLES: 'api', HEARTBEAT_FLUSH_MS: '50' };
    const other = await startTestApp(env, server.db);
    const session = apiClient(other.url, { authorization: `Bearer ${runToken}` });
    const before = await leaseOf(runId);
    await waitFor('its lease to be renewed', async () => {
      await session.patch(`/runs/${runId}/progress`, { progressPercent: 1 });
      return (await leaseOf(runId)) > before;
    });
    await other.app.close();
  });

  it('a run that waits for a session of the other protocol is released', async () => {
    answer = busy;
    const taskId = await aTask();
    await spawnOf(taskId);
    const { runId } = await taskIn(taskId, 'ASSIGNED');
    answer = spawned;
    await server.db.owner.query(`UPDATE task_runs SET lease_by_heartbeat = true WHERE id = $1`, [
      runId,
    ]);
    await server.db.owner.query(
      `UPDATE session_spawns SET next_attempt_at = now() WHERE run_id = $1`,
      [runId],
    );
    const again = await taskIn(taskId, 'RUNNING');
    expect(again.runId).not.toBe(runId);
    expect(again.retryCount).toBe(0);
  });
});

const asAgent = async () => {
  const { body } = await workspace.api.post<{ token: string }>(`/agents/${agentId}/token`, {});
  return apiClient(server.url, { authorization: `Bearer ${body.token}` });
};

describe('the lease of a basic session', () => {
  it.each(['agent', 'run'] as const)(
    "heartbeats with the %s's token renew the lease, and a silent one expires",
    async (kind) => {
      const silent = await aTask();
      const loud = await aTask();
      const { runId: silentRun } = await taskIn(silent, 'RUNNING');
      const { runId } = await taskIn(loud, 'RUNNING');
      const api = kind === 'agent' ? await asAgent() : sessionOf(await spawnOf(loud));
      await letLeasePass(silentRun);
      const heartbeat = { status: 'healthy', currentTaskId: loud, progressPercent: 45 };
      await waitFor('the silent one to be given up', async () => {
        expect((await api.post(`/agents/${agentId}/heartbeat`, heartbeat)).status).toBe(200);
        return spawns.filter(({ taskId }) => taskId === silent).length > 1;
      });
      const before = await leaseOf(runId);
      await waitFor('its lease to be renewed', async () => {
        await api.post(`/agents/${agentId}/heartbeat`, heartbeat);
        return (await leaseOf(runId)) > before;
      });
      expect((await taskIn(loud, 'RUNNING')).runId).toBe(runId);
    },
  );

  it('a session names its key after its run has begun without one', async () => {
    answer = lost;
    const taskId = await aTask();
    const session = sessionOf(await spawnOf(taskId));
    const { runId } = await taskIn(taskId, 'ASSIGNED');
    await session.patch(`/runs/${runId}/progress`, { progressPercent: 1 });
    expect((await taskIn(taskId, 'RUNNING')).sessionKey).toBeNull();
    await session.post(`/runs/${runId}/start`, { sessionKey: 'agent:main:7' });
    const task = await taskIn(taskId, 'RUNNING');
    const { body } = await workspace.api.get<{ items: object[] }>(`/agent-tasks/${taskId}/runs`);
    const named = { sessionKey: 'agent:main:7' };
    expect([task, ...body.items]).toMatchObject([named, named]);
  });

  it('a gateway that is busy until a time is asked again', async () => {
    const until = new Date(Date.now() + 2_000).toUTCString();
    answer = (response) => void response.writeHead(503, { 'retry-after': until }).end();
    const taskId = await aTask();
    const { runId } = await taskIn(taskId, 'ASSIGNED');
    await spawnOf(taskId);
    answer = spawned;
    await spawnOf(taskId, 1);
    expect((await taskIn(taskId, 'RUNNING')).runId).toBe(runId);
  });

  it('a lease does not expire before the session is spawned', async () => {
    answer = busy;
    const taskId = await aTask();
    const { runId } = await taskIn(taskId, 'ASSIGNED');
    await spawnOf(taskId);
    await letLeasePass(runId);
    const { cycles } = await reign(server.db);
    await waitFor('some cycles', async () => (await reign(server.db)).cycles > cycles + 2);
    expect((await taskIn(taskId, 'ASSIGNED')).runId).toBe(runId);
    answer = spawned;
  });

  it('a lease starts the timeout of a session that never reports its start', async () => {
    const { spawn, session } = await anUnknownSession({ timeoutSeconds: 600 });
    const { runId } = droverOf(spawn);
    await session.patch(`/runs/${runId}/progress`, { progressPercent: 1 });
    await waitFor('its deadline', async () => {
      const { rows } = await server.db.owner.query(
        `SELECT 1 FROM task_runs WHERE id = $1 AND deadline_at IS NOT NULL`,
        [runId],
      );
      return rows.length > 0;
    });
  });

  it('every report renews the lease', async () => {
    const taskId = await aTask();
    const { runId } = await taskIn(taskId, 'RUNNING');
    const session = sessionOf(await spawnOf(taskId));
    for (const report of [
      () => session.patch(`/runs/${runId}/progress`, { progressPercent: 1 }),
      () => session.put(`/runs/${runId}/checkpoint`, { checkpointData: { page: 1 } }),
      () => session.post(`/runs/${runId}/logs`, { entries: [{ message: 'a line' }] }),
    ]) {
      const before = await leaseOf(runId);
      expect((await report()).status).toBeLessThan(300);
      await waitFor('its lease to be renewed', async () => (await leaseOf(runId)) > before);
    }
  });
});
