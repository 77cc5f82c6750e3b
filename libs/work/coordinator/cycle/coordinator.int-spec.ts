import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Memberships } from '#lib/identity';
import {
  type ApiClient,
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { LivenessObserver } from '../liveness/liveness-observer.js';
import { Housekeeping } from '../upkeep/housekeeping.js';

/** The schedule is never due, so no cycle here starts because of it. */
const NEVER = { COORDINATOR_CRON: '0 0 0 29 2 *' };

interface Claim {
  id: string;
  run: { id: string };
}

let server: TestApp;

/** A workspace's view of its tasks. */
class Work {
  constructor(
    readonly workspace: TestWorkspace,
    readonly app: TestApp,
  ) {}

  async task(values: Record<string, unknown> = {}): Promise<string> {
    const body = { title: 'A task', taskType: 'test', retryBackoffSeconds: 0, ...values };
    const { status, body: task } = await this.workspace.api.post<{ id: string }>(
      '/agent-tasks',
      body,
    );
    expect(status).toBe(201);
    return task.id;
  }

  async claim(agent: TestAgent, body: Record<string, unknown> = {}): Promise<Claim> {
    const { body: answer } = await agent.api.post<{
      tasks: { run: { id: string }; task: { id: string } }[];
    }>(`/agents/${agent.id}/claim`, { maxTasks: 1, ...body });
    const [claimed] = answer.tasks;
    if (!claimed) throw new Error('nothing to claim');
    return { id: claimed.task.id, run: claimed.run };
  }

  async statusOf(id: string): Promise<string> {
    const { body } = await this.workspace.api.get(`/agent-tasks/${id}`);
    return body['status'] as string;
  }

  /** An agent with this heartbeat interval and threshold, heard once. */
  async agent(seconds: { interval: number; threshold: number }): Promise<TestAgent> {
    const agent = await this.workspace.newAgent({ maxConcurrentTasks: 10 });
    await this.app.db.owner.query(
      `UPDATE agents SET heartbeat_interval_seconds = $2, stale_threshold_seconds = $3
        WHERE id = $1`,
      [agent.id, seconds.interval, seconds.threshold],
    );
    await this.heartbeat(agent);
    await waitFor('the heartbeat in Postgres', async () => {
      const { rows } = await this.app.db.owner.query(
        'SELECT FROM agent_heartbeats WHERE agent_id = $1',
        [agent.id],
      );
      return rows.length > 0;
    });
    return agent;
  }

  async heartbeat(agent: TestAgent): Promise<void> {
    const { status } = await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy' });
    expect(status).toBe(200);
  }
}

async function aWork(app: TestApp = server): Promise<Work> {
  return new Work(await app.newWorkspace(), app);
}

interface Log {
  id: string;
  event: string;
  level: string;
  workspaceId: string | null;
  details: Record<string, unknown>;
}

async function logsOf(api: ApiClient, query = ''): Promise<Log[]> {
  const { status, body } = await api.get<{ items: Log[] }>(`/coordinator/logs?limit=200${query}`);
  expect(status).toBe(200);
  return body.items;
}

describe('the coordinator', () => {
  beforeAll(async () => {
    server = await startTestApp(NEVER);
  });

  afterAll(() => server.stop());

  it("a dead agent's task goes to another agent", async () => {
    const work = await aWork();
    const dying = await work.agent({ interval: 1, threshold: 2 });
    const id = await work.task();
    const { run } = await work.claim(dying);
    await dying.api.post(`/runs/${run.id}/start`);
    const heir = await work.workspace.newAgent();

    await waitFor('the task to be ready again', async () => {
      return (await work.statusOf(id)) === 'PENDING';
    });
    expect(await work.claim(heir)).toMatchObject({ id });
    const { body: agent } = await work.workspace.api.get(`/agents/${dying.id}`);
    expect(agent).toMatchObject({ status: 'ERROR', liveRuns: 0 });
    expect((await dying.api.post(`/runs/${run.id}/complete`)).body).toMatchObject({
      code: 'stale_run',
    });
    const lines = await waitFor('the log', async () => {
      const logs = await logsOf(work.workspace.api, '&level=WARN');
      return logs.length >= 3 && logs;
    });
    const events = lines.map((line) => line.event).sort();
    expect(events).toEqual(['agent_stale', 'recover_lost_runs', 'split_brain_conflict']);
    expect(lines.find((line) => line.event === 'agent_stale')?.details).toMatchObject({
      agentId: dying.id,
      liveRuns: 1,
    });
  });

  it('the coordinator leaves live agents alone', async () => {
    const work = await aWork();
    const agent = await work.agent({ interval: 1, threshold: 2 });
    const id = await work.task();
    const { run } = await work.claim(agent);
    await agent.api.post(`/runs/${run.id}/start`);
    const until = performance.now() + 4_000;
    await waitFor('twice its threshold', async () => {
      await work.heartbeat(agent);
      return performance.now() > until;
    });
    expect(await work.statusOf(id)).toBe('RUNNING');
  });

  it('the coordinator promotes a due retry without a wake-up', async () => {
    const work = await aWork();
    const agent = await work.workspace.newAgent();
    const id = await work.task({ retryBackoffSeconds: 1 });
    const { run } = await work.claim(agent);
    await agent.api.post(`/runs/${run.id}/start`);
    await agent.api.post(`/runs/${run.id}/fail`, {
      error: { message: 'no luck', class: 'signal' },
    });
    await waitFor('the retry', async () => (await work.statusOf(id)) === 'PENDING');
  });

  it('a retry is promoted while housekeeping takes its time', async () => {
    const housekeeping = server.app.get(Housekeeping, { strict: false });
    let end = () => undefined as void;
    const promise = new Promise<void>((resolve) => (end = resolve));
    const round = jest.spyOn(housekeeping, 'runIfDue').mockReturnValue(promise);
    try {
      await waitFor('housekeeping to begin', () => round.mock.calls.length > 0);
      const work = await aWork();
      const agent = await work.workspace.newAgent();
      const id = await work.task({ retryBackoffSeconds: 1 });
      const { run } = await work.claim(agent);
      await agent.api.post(`/runs/${run.id}/start`);
      const error = { message: 'no luck', class: 'signal' };
      await agent.api.post(`/runs/${run.id}/fail`, { error });
      await waitFor('the retry', async () => (await work.statusOf(id)) === 'PENDING');
      expect(round).toHaveBeenCalledTimes(1);
    } finally {
      round.mockRestore();
      end();
    }
  });

  it('the coordinator ends an expired lease that was claimed by hand', async () => {
    const work = await aWork();
    const agent = await work.workspace.newAgent();
    const id = await work.task();
    await work.claim(agent, { leaseSeconds: 1 });
    await waitFor('the task to be ready again', async () => {
      return (await work.statusOf(id)) === 'PENDING';
    });
  });

  it('the coordinator releases dependents', async () => {
    const work = await aWork();
    const agent = await work.workspace.newAgent();
    const first = await work.task();
    const second = await work.task({ dependsOn: [first] });
    const { run } = await work.claim(agent);
    await agent.api.post(`/runs/${run.id}/start`);
    await agent.api.post(`/runs/${run.id}/complete`);
    const claimed = await waitFor('the dependent to be ready', () =>
      work.claim(agent, { waitMs: 2_000 }),
    );
    expect(claimed.id).toBe(second);
  });

  it('admins of a workspace can read the status of the coordinator', async () => {
    const work = await aWork();
    const ready = await work.task();
    await work.task({ dependsOn: [ready] });
    await work.agent({ interval: 30, threshold: 180 });
    const { status, body } = await work.workspace.api.get('/coordinator/status');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      active: true,
      instanceId: expect.stringMatching(/^coord-/),
      workspaces: [work.workspace.id],
      lastHeartbeat: expect.any(String),
      stats: { pendingTasks: 2, runningTasks: 0, healthyAgents: 1, staleAgents: 0 },
      queue: { ready: 1, blocked: 1, retrying: 0 },
      epoch: expect.stringMatching(/^\d+$/),
      cycleCount: expect.any(Number),
    });
    expect(body['lastCycle']).toMatchObject({ durationMs: expect.any(Number) });
  });

  it('the coordinator answers the health check', async () => {
    const health = await waitFor('a cycle', async () => {
      const answer = await fetch(`${server.url}/health/coordinator`);
      const body = (await answer.json()) as { coordinator: { lastCycle: string | null } };
      return body.coordinator.lastCycle !== null && body;
    });
    expect(health).toMatchObject({
      status: 'healthy',
      coordinator: { active: true, lastCycle: expect.any(String), cycleCount: expect.any(Number) },
      database: 'connected',
      valkey: 'connected',
    });
  });

  it.each(['VIEWER', 'MEMBER'])('a %s cannot read or command the coordinator', async (role) => {
    const { api } = await server.newWorkspace(role);
    expect((await api.get('/coordinator/status')).status).toBe(403);
    expect((await api.get('/coordinator/logs')).status).toBe(403);
    expect((await api.post('/coordinator/recover')).status).toBe(403);
  });

  it('an agent cannot read or command the coordinator', async () => {
    const { workspace } = await aWork();
    const { api } = await workspace.newAgent();
    expect((await api.get('/coordinator/status')).status).toBe(401);
  });
});

describe('a server without the role', () => {
  let quiet: TestApp;

  beforeAll(async () => {
    quiet = await startTestApp({ ...NEVER, ROLES: 'api' });
  });

  afterAll(() => quiet.stop());

  async function aLostLease(): Promise<{ work: Work; id: string }> {
    const work = await aWork(quiet);
    const id = await work.task();
    await work.claim(await work.workspace.newAgent(), { leaseSeconds: 60 });
    await quiet.db.owner.query(
      `UPDATE task_runs SET lease_expires_at = now() WHERE workspace_id = $1`,
      [work.workspace.id],
    );
    return { work, id };
  }

  async function makeOperator({ userId }: TestWorkspace): Promise<void> {
    await quiet.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
    quiet.app.get(Memberships, { strict: false }).forgetUser(userId);
  }

  it('a tenant can recover its own rows on a server without the role', async () => {
    const [one, other] = [await aLostLease(), await aLostLease()];
    expect(await one.work.statusOf(one.id)).toBe('ASSIGNED');
    const { status, body } = await one.work.workspace.api.post('/coordinator/recover', {});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      workspaceId: one.work.workspace.id,
      recovered: 2,
      counts: { expiredClaimsReleased: 1, retriesPromoted: 1, lostRunsRecovered: 0 },
      failedSteps: [],
    });
    expect(await one.work.statusOf(one.id)).toBe('PENDING');
    expect(await other.work.statusOf(other.id)).toBe('ASSIGNED');
    const theirs = await other.work.workspace.api.post('/coordinator/recover', {});
    expect(theirs.body).toMatchObject({ recovered: 2 });
    expect(await other.work.statusOf(other.id)).toBe('PENDING');
    const [own] = await logsOf(one.work.workspace.api);
    expect(own).toMatchObject({ event: 'recovery_forced', workspaceId: one.work.workspace.id });
  });

  it('the other steps run when one fails', async () => {
    const { work, id } = await aLostLease();
    const { owner } = quiet.db;
    await owner.query('REVOKE UPDATE ON agents FROM drover_service');
    // The end of a run also writes its agent's row, so this lock makes another step do the work.
    await owner.query(
      `UPDATE agent_tasks SET queue_expires_at = now() WHERE workspace_id = $1 AND id = $2`,
      [work.workspace.id, await work.task()],
    );
    try {
      const { body } = await work.workspace.api.post('/coordinator/recover', {});
      expect(body['failedSteps']).toContain('terminate_drained');
      expect(body).toMatchObject({ counts: { queuedExpired: 1 } });
    } finally {
      await owner.query('GRANT UPDATE ON agents TO drover_service');
    }
    const { body } = await work.workspace.api.post('/coordinator/recover', {});
    expect(body).toMatchObject({ failedSteps: [], counts: { expiredClaimsReleased: 1 } });
    expect(await work.statusOf(id)).toBe('PENDING');
  });

  it('an operator sees the status of all workspaces, or of the named one', async () => {
    const [one, other] = [await aLostLease(), await aLostLease()];
    await makeOperator(one.work.workspace);
    const { api } = one.work.workspace;
    const all = await api.post('/coordinator/recover', { allWorkspaces: true });
    expect(all.body).toMatchObject({ workspaceId: null, counts: { expiredClaimsReleased: 2 } });
    const workspaceId = other.work.workspace.id;
    const named = await api.post('/coordinator/recover', { workspaceId });
    expect(named.body).toMatchObject({ workspaceId, recovered: 0 });
    const { body } = await api.get<{ workspaces: string[] }>('/coordinator/status');
    expect(body.workspaces).toEqual(expect.arrayContaining([one.work.workspace.id, workspaceId]));
  });

  it('only operators can recover all workspaces', async () => {
    const { work, id } = await aLostLease();
    const { api } = work.workspace;
    const refused = await api.post('/coordinator/recover', { allWorkspaces: true });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await work.statusOf(id)).toBe('ASSIGNED');
    await makeOperator(work.workspace);
    const both = { allWorkspaces: true, workspaceId: work.workspace.id };
    expect((await api.post('/coordinator/recover', both)).status).toBe(400);
    const { status, body } = await api.post('/coordinator/recover', { allWorkspaces: true });
    expect([status, body['workspaceId']]).toEqual([200, null]);
    expect(await work.statusOf(id)).toBe('PENDING');
  });

  it('a caller sees no workspace of others', async () => {
    const [one, other] = [await aWork(quiet), await aWork(quiet)];
    const foreign = other.workspace.id;
    const { api } = one.workspace;
    const asked = await api.post('/coordinator/recover', { workspaceId: foreign });
    expect(asked).toMatchObject({ status: 404, body: { code: 'workspace_not_found' } });
    const read = await api.get(`/coordinator/logs?workspace=${foreign}`);
    expect(read).toMatchObject({ status: 404, body: { code: 'workspace_not_found' } });
    await makeOperator(one.workspace);
    const unknown = '0198c5a0-0000-7000-8000-00000000dead';
    expect((await api.get(`/coordinator/logs?workspace=${foreign}`)).status).toBe(200);
    expect((await api.get(`/coordinator/logs?workspace=${unknown}`)).status).toBe(404);
  });

  it('the log is read in pages, by level', async () => {
    const { workspace } = await aWork(quiet);
    await quiet.db.owner.query(
      `INSERT INTO coordinator_logs (workspace_id, instance_id, level, event)
       SELECT CASE n % 4 WHEN 0 THEN NULL ELSE $1::uuid END, 'coord-test',
         (ARRAY['ERROR', 'INFO', 'WARN', 'CRITICAL'])[1 + n % 4], 'event_' || n
       FROM generate_series(1, 12) n`,
      [workspace.id],
    );
    const events: string[] = [];
    let cursor = '';
    do {
      const { body } = await workspace.api.get<{ items: Log[]; nextCursor: string | null }>(
        `/coordinator/logs?level=WARN&limit=2${cursor}`,
      );
      events.push(...body.items.map((line) => line.event));
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    } while (cursor !== '');
    expect(events).toEqual(['event_11', 'event_10', 'event_7', 'event_6', 'event_3', 'event_2']);

    const { status } = await workspace.api.get('/coordinator/logs?cursor=nonsense');
    expect(status).toBe(400);
    expect((await workspace.api.get('/coordinator/logs?level=LOUD')).status).toBe(400);
    await makeOperator(workspace);
    const all = await logsOf(workspace.api, '&level=ERROR');
    expect(all.map((line) => line.event)).toEqual(
      expect.arrayContaining(['event_12', 'event_8', 'event_4']),
    );
  });

  it('a whole silent fleet is spared until another agent is heard', async () => {
    const work = await aWork(quiet);
    const { api } = work.workspace;
    await makeOperator(work.workspace);
    const fleet = [];
    for (let n = 0; n < 4; n++) fleet.push(await work.agent({ interval: 1, threshold: 2 }));
    const [heard, ...silent] = fleet as [TestAgent, ...TestAgent[]];
    const observer = quiet.app.get(LivenessObserver, { strict: false });
    await waitFor('nobody to be heard of for long enough', async () => {
      const { rows } = await quiet.db.owner.query(
        `SELECT FROM agent_heartbeats WHERE last_seen_at > now() - interval '2100 ms'`,
      );
      return rows.length === 0 && observer.observedMs() > 2_000;
    });
    const recover = async () => {
      const { body } = await api.post<{ counts: { deadWorkersFound: number } }>(
        '/coordinator/recover',
      );
      return body.counts.deadWorkersFound;
    };
    expect(await recover()).toBe(0);
    const [doubt] = (await logsOf(api)).filter((line) => line.event === 'silence_doubted');
    expect(doubt).toMatchObject({ workspaceId: null, details: { why: 'whole_fleet_silent' } });

    await waitFor('the unresponsive ones to be taken for dead', async () => {
      await work.heartbeat(heard);
      return (await recover()) > 0;
    });
    const { rows } = await quiet.db.owner.query(
      `SELECT id FROM agents WHERE workspace_id = $1 AND lifecycle = 'ERROR' ORDER BY id`,
      [work.workspace.id],
    );
    expect(rows.map((row) => row.id)).toEqual(silent.map((agent) => agent.id).sort());
  });

  it('a server without the role does not lead', async () => {
    const { workspace } = await aWork(quiet);
    const { body } = await workspace.api.get('/coordinator/status');
    expect(body).toMatchObject({ active: false, cycleCount: 0, lastCycle: null });
  });
});
