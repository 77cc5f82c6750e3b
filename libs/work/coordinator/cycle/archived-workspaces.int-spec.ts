import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { AgentWork } from '../../runs/claims/agent-work.js';
import { RunReports } from '../../runs/reports/run-reports.js';
import { SessionAssigner } from '../../runs/sessions/spawning/session-assigner.js';
import { StandInGateway } from '../../runs/sessions/testing/stand-in-gateway.js';
import { ForcedRecovery } from '../recovery/forced-recovery.js';
import { Scene } from '../testing/scene.js';

let gateway: StandInGateway;
/** This server spawns nothing, and only the tests call its sweeps. */
let server: TestApp;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({ ...gateway.env, ROLES: 'api' });
  await heartbeat(server);
});
afterAll(async () => {
  const broken = (await checkInvariants(server.db.ownerUrl)).filter(({ holds }) => !holds);
  expect(broken).toEqual([]);
  await server.stop();
  await gateway.stop();
});

const asGateway = ({ url }: TestApp) =>
  apiClient(url, { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` });

const heartbeat = (app: TestApp) =>
  asGateway(app).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 9,
    running: 0,
    queued: 0,
    sessions: [],
  });

const archive = async ({ id, api }: TestWorkspace) =>
  expect((await api.post(`/workspaces/${id}/archive`)).status).toBe(200);

/** Archives the workspace in the database alone, so the server has not heard of it yet. */
const archiveUnheard = ({ db }: TestApp, id: string) =>
  db.owner.query('UPDATE workspaces SET archived_at = now() WHERE id = $1', [id]);

const sweepNow = ({ app }: TestApp, workspaceId: string) =>
  app.get(ForcedRecovery, { strict: false }).run(workspaceId);

const assignNow = ({ app }: TestApp) =>
  app.get(SessionAssigner, { strict: false }).sweep(() => Promise.resolve(), 10);

async function runsOf({ db }: TestApp, workspaceId: string) {
  const { rows } = await db.owner.query<Record<string, unknown>>(
    `SELECT r.state, r.end_reason, t.status, t.retry_count FROM task_runs r
     JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
     WHERE r.workspace_id = $1 ORDER BY r.id`,
    [workspaceId],
  );
  return rows;
}

async function aPushAgent({ api }: TestWorkspace): Promise<void> {
  const agent = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'] };
  expect((await api.put(`/agents/${newId()}`, agent)).status).toBe(201);
}

const claimOf = ({ app }: TestApp, workspaceId: string, { id: agentId }: TestAgent) =>
  app
    .get(AgentWork, { strict: false })
    .claim({ kind: 'agent', workspaceId, agentId }, agentId, {}, new AbortController().signal);

it('no server hands out tasks of an archived workspace', async () => {
  const workspace = await server.newWorkspace();
  const agent = await workspace.newAgent();
  await aPushAgent(workspace);
  await workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
  await archiveUnheard(server, workspace.id);
  expect(await claimOf(server, workspace.id, agent)).toEqual({
    tasks: [],
    reason: 'workspace_archived',
  });
  expect((await assignNow(server)).moved).toBe(0);
  expect(await runsOf(server, workspace.id)).toEqual([]);
});

it('no server accepts reports about runs of an archived workspace', async () => {
  const scene = await Scene.of(server);
  const { runId, agent } = await scene.held();
  await archiveUnheard(server, scene.id);
  const reports = server.app.get(RunReports, { strict: false });
  const by = {
    workspaceId: scene.id,
    agentId: agent.id,
    runId,
    actor: { kind: 'agent', id: agent.id },
  } as const;
  const all = [
    () => reports.start(by, {}),
    () => reports.progress(by, { progressPercent: 5 }),
    () => reports.logs(by, [{ message: 'x' }]),
    () => reports.renew(by),
    () => reports.complete(by, {}),
    () => reports.fail(by, { error: { message: 'x' } }),
    () => reports.release(by, {}),
  ];
  for (const report of all) {
    await expect(report()).rejects.toMatchObject({
      code: 'stale_run',
      extras: {
        detail: 'The run is WORKING and its task RUNNING. Its workspace is archived.',
        members: { endReason: 'workspace_archived' },
      },
    });
  }
  expect(await runsOf(server, scene.id)).toMatchObject([{ state: 'WORKING', status: 'RUNNING' }]);
  await sweepNow(server, scene.id);
});

it('agents of an archived workspace learn why their tokens are refused', async () => {
  const scene = await Scene.of(server);
  const { runId, agent } = await scene.held();
  await archive(scene.workspace);
  const refused = await agent.api.post(`/runs/${runId}/complete`, {});
  expect(refused).toMatchObject({
    status: 401,
    body: { code: 'token_revoked', detail: 'The workspace is archived.' },
  });
  await sweepNow(server, scene.id);
});

it('all runs of an archived workspace end, and spend no attempt', async () => {
  const scene = await Scene.of(server);
  await scene.held();
  await scene.held({}, { start: false });
  const paused = await scene.held();
  expect((await scene.workspace.api.post(`/agent-tasks/${paused.id}/pause`)).status).toBe(200);
  await archive(scene.workspace);
  await sweepNow(server, scene.id);
  const ended = { state: 'RELEASED', end_reason: 'workspace_archived', retry_count: 0 };
  expect(await runsOf(server, scene.id)).toEqual([
    { ...ended, status: 'PENDING' },
    { ...ended, status: 'PENDING' },
    { ...ended, status: 'PAUSED' },
  ]);
});

it('the gateway is told to stop the sessions of an archived workspace', async () => {
  const workspace = await server.newWorkspace();
  await aPushAgent(workspace);
  await workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
  expect((await assignNow(server)).moved).toBe(1);
  const { rows } = await server.db.owner.query<{ run_id: string }>(
    `UPDATE session_spawns SET state = 'SPAWNED', gateway_id = $2, gateway_boot_id = $3,
       session_key = 'a session', settled_at = now()
     WHERE workspace_id = $1 RETURNING run_id`,
    [workspace.id, gateway.id, gateway.bootId],
  );
  const runIds = rows.map((row) => row.run_id);
  const asked = { gatewayId: gateway.id, runIds, waitMs: 20_000 };
  const told = asGateway(server).post('/gateway/signals', asked);
  await archive(workspace);
  await sweepNow(server, workspace.id);
  expect((await told).body).toMatchObject({
    runs: [{ runId: runIds[0], action: 'stop', reason: 'workspace_archived' }],
  });
});

it('a server that starts after the archiving ends all runs and spawns none', async () => {
  const workspace = await server.newWorkspace();
  const agent = await workspace.newAgent();
  await workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
  expect((await claimOf(server, workspace.id, agent)).tasks).toHaveLength(1);
  await aPushAgent(workspace);
  await workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
  expect((await assignNow(server)).moved).toBe(1);
  await archiveUnheard(server, workspace.id);
  const drop = () => Promise.resolve();
  const next = await startTestApp(gateway.env, { ...server.db, drop });
  try {
    await waitFor('the runs to end', async () =>
      (await runsOf(server, workspace.id)).every(({ state }) => state === 'RELEASED'),
    );
    await waitFor('the intent to be dropped', async () => {
      const { rows } = await server.db.owner.query<{ state: string }>(
        'SELECT state FROM session_spawns WHERE workspace_id = $1',
        [workspace.id],
      );
      return rows[0]?.state === 'CANCELLED';
    });
  } finally {
    await next.stop();
  }
  expect(gateway.spawns).toEqual([]);
});

it('archiving a workspace wakes the coordinator', async () => {
  // The schedule is never due.
  const app = await startTestApp({ COORDINATOR_CRON: '0 0 1 1 *' });
  try {
    const scene = await Scene.of(app);
    await scene.held();
    await archive(scene.workspace);
    await waitFor('the run to end', async () => {
      const [run] = await runsOf(app, scene.id);
      return run?.['end_reason'] === 'workspace_archived';
    });
  } finally {
    await app.stop();
  }
});
