import { afterAll, beforeAll, expect } from '@jest/globals';
import { variables } from '#lib/config';
import { classOfExit, newId } from '#lib/kernel';
import { AGENT_STATUSES } from '#lib/transitions/domain';
import { SESSION_STATUSES } from '../../../apps/gateway/sessions/domain/session.js';
import { Flags } from '../../../apps/cli/flags.js';
import { readFinishSeconds } from '../../../apps/cli/graceful.js';
import { environment as workerSettings } from '../../../apps/worker/config.js';
import { type Held, Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { isRetryable } from '../../../libs/work/transitions/domain/failure.js';
import { readRequest } from '../../../tools/start/arguments.js';
import { sharedServer, type TestWorkspace } from '../../support/shared-server.js';
import { LIFECYCLE } from '../promises/worker-manager.js';
import {
  RECONCILIATION,
  WORKER_DEFAULTS,
  WORKER_PROTOCOL,
  WORKER_REQUIREMENTS,
  WORKER_SERVICES,
} from '../promises/worker-orchestration.js';
import { prove } from './prove.js';
import { hearChannel } from './valkey.js';

type Body = Record<string, unknown>;

let server: Awaited<ReturnType<typeof sharedServer>>;
let scene: Scene;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
  scene = await Scene.of(server);
  workspace = scene.workspace;
});
afterAll(() => server?.stop());

const REGISTRATION = {
  workerId: 'worker-a1b2c3d4',
  name: 'my-worker',
  hostname: 'build-7',
  pid: 4711,
  capabilities: ['tx-implementer', 'tx-tester'],
};

const heartbeatOf = (currentTaskId: string, status = 'busy') => ({
  workerId: 'worker-a1b2c3d4',
  timestamp: '2026-02-02T12:00:00.000Z',
  status,
  currentTaskId,
  metrics: { cpuPercent: 12.5, memoryMb: 80.2, tasksCompleted: 3 },
});

prove(WORKER_PROTOCOL, {
  registration: async () => {
    const { status, body } = await workspace.api.put(`/agents/${newId()}`, REGISTRATION);
    const { name, hostname: hostName, pid, capabilities } = REGISTRATION;
    expect([status, body]).toMatchObject([201, { name, hostName, pid, capabilities }]);
  },

  heartbeat: async () => {
    const { agent, id } = await scene.held();
    for (const status of ['idle', 'busy']) {
      const answer = await agent.api.post(`/agents/${agent.id}/heartbeat`, heartbeatOf(id, status));
      expect(answer.status).toBe(200);
    }
  },

  timestamp: async () => {
    const { agent, id } = await scene.held();
    const before = Date.now();
    const { body } = await agent.api.post(`/agents/${agent.id}/heartbeat`, heartbeatOf(id));
    expect(Date.parse(String(body['acknowledgedAt']))).toBeGreaterThan(before - 60_000);
  },

  workerId: async () => {
    const { status, body } = await workspace.api.put('/agents/worker-a1b2c3d4', REGISTRATION);
    expect([status, body['code']]).toEqual([400, 'validation_failed']);
    const named = { ...REGISTRATION, name: 'worker-a1b2c3d4' };
    expect((await workspace.api.put(`/agents/${newId()}`, named)).status).toBe(201);
  },

  statuses: () => {
    const words = ['STARTING', 'IDLE', 'WORKING', 'DRAINING', 'ERROR', 'TERMINATED'];
    expect([...AGENT_STATUSES].sort()).toEqual(words.sort());
  },

  claim: async () => {
    const agent = await workspace.newAgent();
    const taskId = await scene.task({ agentId: agent.id });
    const { body } = await agent.api.post<{ tasks: { run: Body; task: Body }[] }>(
      `/agents/${agent.id}/claim`,
      { taskId },
    );
    const [claimed] = body.tasks;
    expect(claimed).toMatchObject({
      run: { leaseExpiresAt: expect.any(String) },
      task: { id: taskId },
    });
    const task = await scene.read(taskId);
    expect(task).toMatchObject({ agentId: agent.id, assignedAt: expect.any(String) });
  },
});

/** A task claimed by its id, as `claim <task-id>` does. */
const aClaim = (): Promise<Held> => scene.held({}, { start: false });

async function leaseSeconds({ runId }: Held): Promise<number> {
  const { rows } = await scene.sql(
    'SELECT extract(epoch FROM lease_expires_at - now())::int AS seconds FROM task_runs WHERE id = $1',
    runId,
  );
  return Number(rows[0]?.['seconds']);
}

const codeOf = ({ status, body }: { status: number; body: Body }) => [status, body['code']];

prove(WORKER_SERVICES, {
  alreadyClaimed: async () => {
    const { id } = await scene.held();
    const other = await workspace.newAgent();
    const claim = await other.api.post(`/agents/${other.id}/claim`, { taskId: id });
    expect(codeOf(claim)).toEqual([404, 'task_not_found']);
  },

  unknownTask: async () => {
    const agent = await workspace.newAgent();
    const claim = await agent.api.post(`/agents/${agent.id}/claim`, { taskId: newId() });
    expect(codeOf(claim)).toEqual([404, 'task_not_found']);
  },

  releaseUnclaimed: async () => {
    const agent = await workspace.newAgent();
    const id = await scene.task({ agentId: agent.id });
    expect(codeOf(await agent.api.post(`/agent-tasks/${id}/release`))).toEqual([
      409,
      'run_required',
    ]);
  },

  renewUnclaimed: async () => {
    const held = await aClaim();
    await workspace.api.post(`/agent-tasks/${held.id}/cancel`);
    const renewal = await held.agent.api.post(`/agent-tasks/${held.id}/renew`);
    expect(codeOf(renewal)).toEqual([409, 'stale_run']);
  },

  deregister: async () => {
    const { agent, id } = await scene.held();
    expect((await agent.api.post(`/agents/${agent.id}/deregister`)).status).toBe(200);
    const { body } = await workspace.api.get(`/agents/${agent.id}`);
    expect(body['status']).toBe('TERMINATED');
    expect(await scene.read(id)).toMatchObject({ agentId: null, retryCount: 0 });
  },

  unknownWorker: async () => {
    const agent = await workspace.newAgent();
    const path = `/agents/${newId()}/heartbeat`;
    expect(codeOf(await agent.api.post(path, heartbeatOf(newId())))).toEqual([
      404,
      'agent_not_found',
    ]);
  },
});

/** The default of a setting of the server. */
const serverDefault = (name: keyof typeof variables.shape) =>
  variables.shape[name].parse(undefined);
const workerDefault = (name: keyof typeof workerSettings.shape) =>
  workerSettings.shape[name].parse(undefined);

prove(WORKER_DEFAULTS, {
  poolSize: () => {
    expect(readRequest([])).toMatchObject({ kind: 'start', workers: 2 });
    expect(readRequest(['--workers', '3', '--daemon'])).toMatchObject({ workers: 3, daemon: true });
  },

  heartbeatInterval: async () => {
    const { body } = await workspace.api.put(`/agents/${newId()}`, { ...REGISTRATION, name: 'a' });
    expect(body['heartbeatIntervalSeconds']).toBe(30);
  },

  shippedWorkers: () => {
    expect(workerDefault('DROVER_WORKER_HEARTBEAT_SECONDS')).toBe(10);
    expect(workerDefault('DROVER_WORKER_STALE_SECONDS')).toBe(45);
  },

  lease: async () => {
    expect(serverDefault('DEFAULT_LEASE_SECONDS')).toBe(30 * 60);
    const seconds = await leaseSeconds(await aClaim());
    expect(seconds).toBeGreaterThan(25 * 60);
    expect(seconds).toBeLessThanOrEqual(30 * 60);
  },

  renewals: async () => {
    const { agent, id } = await aClaim();
    const renew = () => agent.api.post(`/agent-tasks/${id}/renew`);
    for (let n = 1; n <= 10; n++) expect((await renew()).body).toMatchObject({ renewals: n });
    expect(codeOf(await renew())).toEqual([409, 'lease_renewals_exhausted']);
  },

  reconcileInterval: () => {
    expect(serverDefault('RECONCILE_INTERVAL_SECONDS')).toBe(60);
  },

  shutdownTimeout: () => {
    expect(readFinishSeconds(new Flags({ graceful: true }))).toBe(300);
  },

  workerName: () => {
    expect(workerDefault('DROVER_WORKER_NAME')).toMatch(/./);
    expect(workerDefault('DROVER_WORKER_NAME')).not.toMatch(/^worker-[a-z0-9]{8}$/);
  },

  capabilities: () => {
    expect(workerDefault('DROVER_WORKER_CAPABILITIES')).toEqual([]);
  },
});

prove(RECONCILIATION, {
  counts: async () => {
    const { body } = await workspace.api.post<{ counts: Body }>('/coordinator/recover', {
      workspaceId: workspace.id,
    });
    expect(body.counts).toMatchObject({
      deadWorkersFound: expect.any(Number),
      expiredClaimsReleased: expect.any(Number),
      orphanedTasksRecovered: expect.any(Number),
      staleStatesFixed: expect.any(Number),
    });
  },

  oneClaim: async () => {
    let held = await aClaim();
    const { agent, id } = held;
    for (let n = 0; n < 2; n++) {
      await agent.api.post(`/runs/${held.runId}/release`);
      held = await scene.claim(agent, id);
    }
    const { body } = await workspace.api.get<{ items: Body[] }>(`/agent-tasks/${id}/runs`);
    expect(body.items.map(({ state }) => state)).toEqual(['ASSIGNED', 'RELEASED', 'RELEASED']);
  },
});

prove(WORKER_REQUIREMENTS, {
  storage: async () => {
    const { rows } = await scene.sql('SELECT version() AS version');
    expect(rows[0]?.['version']).toMatch(/^PostgreSQL/);
  },

  detection: () => {
    const beats = Number(workerDefault('DROVER_WORKER_STALE_SECONDS'));
    // The coordinator knows when the next threshold passes; it does not wait for its schedule.
    expect(beats).toBeLessThan(60 - Number(serverDefault('COORDINATOR_LOCK_TTL_SECONDS')) + 1);
  },
});

/** A crash as a worker reports it. @returns the task afterwards */
async function crash(exitCode: number, reason: string): Promise<Body> {
  const { agent, id } = await scene.held({ retryBackoffSeconds: 86_400 });
  const error = { class: reason, message: `Worker crashed: ${reason}`, exitCode };
  expect((await agent.api.post(`/agent-tasks/${id}/fail`, { error })).status).toBe(200);
  return scene.read(id);
}

const classOf = (exitCode: number) =>
  classOfExit({
    lost: false,
    exitCode,
    signal: null,
    oomKilled: null,
    heapIsFull: false,
    quotaIsFull: false,
    asked: false,
  });

async function isRetried(exitCode: number, reason: 'oom' | 'timeout' | 'infrastructure') {
  expect(classOf(exitCode)).toBe(reason);
  expect(isRetryable(reason)).toBe(true);
  expect(await crash(exitCode, reason)).toMatchObject({
    status: 'ABORTED',
    abortReason: reason,
    retryAt: expect.any(String),
    retryCount: 1,
    lastError: `Worker crashed: ${reason}`,
  });
}

prove(LIFECYCLE, {
  states: () => {
    const words = ['STARTING', 'RUNNING', 'COMPLETED', 'FAILED', 'STOPPED'];
    expect(SESSION_STATUSES).toEqual(expect.arrayContaining(words));
  },

  crashForwarding: async () => {
    const heard = await hearChannel(server.valkey, `tasks:events:${workspace.id}`);
    const { id } = await crash(137, 'oom');
    await heard.message({ event: 'task_recovery', task_id: id });
    await heard.close();
  },

  exit137: () => isRetried(137, 'oom'),

  exit143: () => isRetried(143, 'timeout'),

  exit1: () => expect(classOf(1)).toBe('exit_code'),

  exitMinus1: () => isRetried(-1, 'infrastructure'),
});
