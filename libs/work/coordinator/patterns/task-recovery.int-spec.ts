import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '#lib/database';
import { EVERYWHERE } from '#lib/transitions';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { ExpireLeases } from './expire-leases.js';
import { ExpireQueued } from './expire-queued.js';
import { PromoteRetries } from './promote-retries.js';
import { RecoverLostRuns } from './recover-lost-runs.js';
import { SettleDependents } from './settle-dependents.js';
import { TerminateDrained } from './terminate-drained.js';
import { TimeOutRuns } from './time-out-runs.js';
import { Pass } from '../cycle/pass.js';
import type { Reconciler } from '../cycle/reconciler.js';

let server: TestApp;
let workspace: TestWorkspace;

const noFence = () => Promise.resolve();
const LIMIT = 1000;

const sweep = (pattern: new (...dependencies: never[]) => Reconciler, scope = EVERYWHERE) =>
  server.app
    .get<Reconciler>(pattern, { strict: false })
    .sweep(new Pass(server.app.get(Database, { strict: false }), noFence, LIMIT, scope));

beforeAll(async () => {
  // A coordinator would run before the test, so the tests call the sweeps themselves.
  server = await startTestApp({ ROLES: 'api' });
  workspace = await server.newWorkspace();
});

afterAll(() => server.stop());

async function newTask(values: Record<string, unknown> = {}): Promise<string> {
  const body = { title: 'A task', taskType: 'test', retryBackoffSeconds: 0, ...values };
  const answer = await workspace.api.post<{ id: string }>('/agent-tasks', body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function claimed(
  values: Record<string, unknown> = {},
): Promise<{ id: string; agent: TestAgent; runId: string }> {
  const capability = `only-${Math.random().toString(36).slice(2)}`;
  // First in the queue, before tasks of other tests that any agent can claim.
  const id = await newTask({ requiredCapabilities: [capability], priority: 10, ...values });
  const agent = await workspace.newAgent({ capabilities: [capability] });
  const answer = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
    {},
  );
  const runId = answer.body.tasks[0]?.run.id as string;
  await agent.api.post(`/runs/${runId}/start`, {});
  return { id, agent, runId };
}

const read = async (id: string) => (await workspace.api.get(`/agent-tasks/${id}`)).body;
const statusOf = async (id: string) => (await read(id)).status;
const sql = (text: string, values: unknown[]) => server.db.owner.query(text, values);

describe('an expired lease', () => {
  it('an expired lease aborts the task, which is requeued when due', async () => {
    const { id, runId } = await claimed();
    await sql(`UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`, [
      runId,
    ]);
    expect((await sweep(ExpireLeases)).moved).toBe(1);
    expect(await read(id)).toMatchObject({
      status: 'ABORTED',
      abortReason: 'lease_expired',
      retryCount: 1,
    });
    expect((await sweep(PromoteRetries)).moved).toBeGreaterThanOrEqual(1);
    expect(await read(id)).toMatchObject({ status: 'PENDING', abortReason: null, retryAt: null });
  });

  it('an expired lease of the last attempt fails the task', async () => {
    const { id, runId } = await claimed({ maxRetries: 0 });
    await sql(`UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`, [
      runId,
    ]);
    await sweep(ExpireLeases);
    expect(await read(id)).toMatchObject({ status: 'FAILED', failureReason: 'retries_exhausted' });
  });

  it('an expired lease of a paused task leaves it paused, without the run', async () => {
    const { id, runId } = await claimed();
    await workspace.api.post(`/agent-tasks/${id}/pause`, {});
    await sql(`UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`, [
      runId,
    ]);
    await sweep(ExpireLeases);
    expect(await read(id)).toMatchObject({ status: 'PAUSED', runId: null });
  });

  it('a lease that has not expired is left alone', async () => {
    const { id } = await claimed();
    await sweep(ExpireLeases);
    expect(await statusOf(id)).toBe('RUNNING');
  });
});

describe('the lease of an agent that registered and never sent a heartbeat', () => {
  it('the lease of an agent without heartbeats ends at its own limit', async () => {
    const { id, agent, runId } = await claimed();
    await sql(
      `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, next_expected_at)
       VALUES ($1, $2, 'healthy', 'infinity')`,
      [workspace.id, agent.id],
    );
    await sql(
      `UPDATE task_runs SET lease_by_heartbeat = true,
        lease_expires_at = now() - interval '1 second' WHERE id = $1`,
      [runId],
    );
    await sweep(ExpireLeases);
    expect(await read(id)).toMatchObject({ status: 'ABORTED', abortReason: 'lease_expired' });
  });

  it('the lease of an agent whose heartbeat was deleted ends within a slow search', async () => {
    const { id, agent, runId } = await claimed();
    await sql(`DELETE FROM agent_heartbeats WHERE agent_id = $1`, [agent.id]);
    await sql(
      `UPDATE task_runs SET lease_by_heartbeat = true,
        lease_expires_at = now() - interval '1 second' WHERE id = $1`,
      [runId],
    );
    await sweep(ExpireLeases);
    expect(await statusOf(id)).toBe('RUNNING');
    await sweep(ExpireLeases, { ...EVERYWHERE, thorough: true });
    expect(await read(id)).toMatchObject({ status: 'ABORTED', abortReason: 'lease_expired' });
  });
});

describe('a lost agent', () => {
  it('a lost agent loses its runs, and has room again when it returns', async () => {
    const { id, agent } = await claimed();
    await sql(`UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`, [agent.id]);
    expect((await sweep(RecoverLostRuns)).moved).toBe(1);
    expect(await read(id)).toMatchObject({ status: 'ABORTED', abortReason: 'agent_stale' });
    const { rows } = await sql('SELECT live_runs FROM agents WHERE id = $1', [agent.id]);
    expect(rows[0]?.live_runs).toBe(0);
  });
});

describe('a task that ran longer than its timeout', () => {
  it('a task is ended a minute after its deadline', async () => {
    const { id, runId } = await claimed({ timeoutSeconds: 5 });
    await sweep(TimeOutRuns);
    expect(await statusOf(id)).toBe('RUNNING');
    await sql(`UPDATE task_runs SET deadline_at = now() - interval '61 seconds' WHERE id = $1`, [
      runId,
    ]);
    await sweep(TimeOutRuns);
    expect(await read(id)).toMatchObject({ status: 'ABORTED', abortReason: 'timeout' });
  });
});

describe('the retry of a coding agent', () => {
  it('it goes on within 2 s after progress, and only repeated deaths without progress back off', async () => {
    const id = await newTask({
      agent: { kind: 'codex' },
      maxRetries: 9,
      retryBackoffSeconds: 3600,
    });
    const agent = await workspace.newAgent({ capabilities: ['command', 'kind:codex'] });
    const claim = `/agents/${agent.id}/claim`;

    /** Loses a run that wrote a line of this event. @returns the delay of its retry in seconds */
    async function die(event: string): Promise<number> {
      const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(claim, {
        taskId: id,
      });
      const runId = body.tasks[0]?.run.id as string;
      await agent.api.post(`/runs/${runId}/start`, {});
      const entries = [{ message: 'x', event }];
      expect((await agent.api.post(`/runs/${runId}/logs`, { entries })).status).toBe(202);
      await sql(`UPDATE task_runs SET lease_expires_at = now() WHERE id = $1`, [runId]);
      await sweep(ExpireLeases);
      const { rows } = await sql(
        `WITH waits AS (SELECT id, extract(epoch FROM retry_at - aborted_at)::float8 AS seconds
           FROM agent_tasks WHERE id = $1)
         UPDATE agent_tasks t SET retry_at = now() FROM waits w WHERE t.id = w.id RETURNING w.seconds`,
        [id],
      );
      await sweep(PromoteRetries);
      return rows[0]?.['seconds'];
    }

    const after = async (...events: string[]) => {
      const delays: number[] = [];
      for (const event of events) delays.push(await die(event));
      return Math.max(...delays);
    };
    expect(await after('agent_message', 'agent_tool', 'model_usage')).toBeLessThanOrEqual(2);
    expect(await after('model_usage', 'agent_notice', 'model_usage')).toBeGreaterThan(2);
    expect(await after('agent_message')).toBeLessThanOrEqual(2);
  });
});

describe('a run that is released after its deadline', () => {
  const late = async (values: Record<string, unknown>) => {
    const held = await claimed({ timeoutSeconds: 5, ...values });
    const passed = `UPDATE task_runs SET deadline_at = now() - interval '1 ms' WHERE id = $1`;
    await sql(passed, [held.runId]);
    return held;
  };
  const endOf = async (runId: string) =>
    (await sql('SELECT state, end_reason, ended_at FROM task_runs WHERE id = $1', [runId])).rows[0];

  it('a release after the deadline is a timeout and spends an attempt', async () => {
    const { id, agent, runId } = await late({ maxRetries: 1, retryBackoffSeconds: 300 });
    const body = { reason: 'drain', checkpointData: { n: 7 } };
    const release = () => agent.api.post(`/runs/${runId}/release`, body);
    expect(await release()).toMatchObject({ status: 200, body: { status: 'ABORTED' } });
    const end = await endOf(runId);
    expect(end).toMatchObject({ state: 'FAILED', end_reason: 'timeout' });
    const expected = { abortReason: 'timeout', retryCount: 1, checkpointData: { n: 7 } };
    expect(await read(id)).toMatchObject(expected);
    expect((await release()).status).toBe(200);
    expect(await endOf(runId)).toEqual(end);
    expect(await read(id)).toMatchObject(expected);
  });

  it('a run released after its deadline fails its task when no attempt is left', async () => {
    const { id, agent, runId } = await late({ maxRetries: 0 });
    const { body } = await agent.api.post(`/runs/${runId}/release`, { reason: 'paused' });
    expect(body).toMatchObject({ status: 'FAILED' });
    expect(await read(id)).toMatchObject({ failureReason: 'retries_exhausted', retryCount: 0 });
  });

  it('a run of a leaving agent also times out after its deadline', async () => {
    const { id, agent, runId } = await late({ maxRetries: 0 });
    expect((await agent.api.post(`/agents/${agent.id}/deregister`, {})).status).toBe(200);
    expect(await endOf(runId)).toMatchObject({ state: 'FAILED', end_reason: 'timeout' });
    expect(await statusOf(id)).toBe('FAILED');
  });

  it('a run of a paused task is released after its deadline without an attempt', async () => {
    const { id, agent, runId } = await late({ maxRetries: 0 });
    await workspace.api.post(`/agent-tasks/${id}/pause`, {});
    await agent.api.post(`/runs/${runId}/release`, { reason: 'paused' });
    expect(await endOf(runId)).toMatchObject({ state: 'RELEASED', end_reason: 'paused' });
    expect(await statusOf(id)).toBe('PAUSED');
  });
});

describe('a task that waits too long in the queue', () => {
  it('a task that waits too long in the queue is aborted and not retried', async () => {
    const id = await newTask({ queueExpiresInSeconds: 3600 });
    await sql(
      `UPDATE agent_tasks SET queue_expires_at = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    await sweep(ExpireQueued);
    expect(await read(id)).toMatchObject({
      status: 'ABORTED',
      abortReason: 'queue_expired',
      retryAt: null,
    });
  });
});

describe('a claimed task', () => {
  it('a task that was claimed once no longer expires in the queue', async () => {
    const { id, agent, runId } = await claimed({ queueExpiresInSeconds: 1 });
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'no' } });
    expect(await read(id)).toMatchObject({ status: 'ABORTED', queueExpiresAt: null });
  });
});

describe('dependents', () => {
  async function settleAll(): Promise<void> {
    while ((await sweep(SettleDependents)).moved > 0);
  }

  it('dependents are released when all their prerequisites are complete', async () => {
    const [first, second] = [await claimed(), await claimed()];
    const id = await newTask({ dependsOn: [first.id, second.id] });
    await first.agent.api.post(`/runs/${first.runId}/complete`, {});
    await settleAll();
    expect(await read(id)).toMatchObject({ unmetDependencies: 1, readyAt: null });
    await second.agent.api.post(`/runs/${second.runId}/complete`, {});
    await settleAll();
    expect(await read(id)).toMatchObject({ status: 'PENDING', unmetDependencies: 0 });
    expect((await read(id)).readyAt).not.toBeNull();
  });

  it.each([
    ['block', 'PENDING', 1],
    ['ignore', 'PENDING', 0],
    ['fail', 'FAILED', 1],
  ])('dependents with policy %s are %s after a failure', async (policy, status, unmet) => {
    const { id: prerequisite, agent, runId } = await claimed();
    const id = await newTask({ dependsOn: [{ taskId: prerequisite, policy }] });
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'no', retryable: false } });
    await settleAll();
    expect(await read(id)).toMatchObject({ status, unmetDependencies: unmet });
  });

  it('dependents fail in a chain', async () => {
    const { id: first, agent, runId } = await claimed();
    const second = await newTask({ dependsOn: [{ taskId: first, policy: 'fail' }] });
    const third = await newTask({ dependsOn: [{ taskId: second, policy: 'fail' }] });
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'no', retryable: false } });
    await settleAll();
    expect(await read(third)).toMatchObject({
      status: 'FAILED',
      failureReason: 'dependency_failed',
    });
  });

  it('dependents of a task that had failed before follow the same policies', async () => {
    const { id: failed, agent, runId } = await claimed();
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'no', retryable: false } });
    await settleAll();
    const id = await newTask({ dependsOn: [{ taskId: failed, policy: 'fail' }] });
    await settleAll();
    expect(await statusOf(id)).toBe('FAILED');
  });

  it('retried dependents do not wait for tasks that completed meanwhile', async () => {
    const { id: first, agent, runId } = await claimed();
    const id = await newTask({ dependsOn: [first] });
    await workspace.api.post(`/agent-tasks/${id}/cancel`, {});
    await agent.api.post(`/runs/${runId}/complete`, {});
    await settleAll();
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    expect(await read(id)).toMatchObject({ status: 'PENDING', unmetDependencies: 0 });
  });

  it('failed dependents are ready after a retry and a completion', async () => {
    const { id: first, agent, runId } = await claimed();
    const id = await newTask({ dependsOn: [{ taskId: first, policy: 'fail' }] });
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'no', retryable: false } });
    await settleAll();
    await workspace.api.post(`/agent-tasks/${first}/retry`, {});
    const again = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      {},
    );
    await agent.api.post(`/runs/${again.body.tasks[0]?.run.id}/complete`, {});
    await settleAll();
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    await settleAll();
    expect(await read(id)).toMatchObject({ status: 'PENDING', unmetDependencies: 0 });
  });

  it('dependents retried while their prerequisite is failed fail again', async () => {
    const { id: first, agent, runId } = await claimed();
    const id = await newTask({ dependsOn: [{ taskId: first, policy: 'fail' }] });
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'no', retryable: false } });
    await settleAll();
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    await settleAll();
    expect(await read(id)).toMatchObject({ status: 'FAILED', failureReason: 'dependency_failed' });
  });

  it('dependents do not wait for a task that was complete before they were created', async () => {
    const { id: done, agent, runId } = await claimed();
    await agent.api.post(`/runs/${runId}/complete`, {});
    const id = await newTask({ dependsOn: [done] });
    expect(await read(id)).toMatchObject({ unmetDependencies: 0 });
  });

  it('dependents created at the moment of completion are never forgotten', async () => {
    const rounds = await Promise.all(Array.from({ length: 20 }, () => claimed()));
    const ids = await Promise.all(
      rounds.map(async ({ id, agent, runId }) => {
        const [dependent] = await Promise.all([
          newTask({ dependsOn: [id] }),
          agent.api.post(`/runs/${runId}/complete`, {}),
        ]);
        return dependent;
      }),
    );
    await settleAll();
    for (const id of ids) expect(await read(id)).toMatchObject({ unmetDependencies: 0 });
  });
});

describe('a leaving agent', () => {
  it('a draining agent finishes its runs, gets nothing more, and is then terminated', async () => {
    const { agent, runId } = await claimed();
    const waiting = agent.api.post<{ drain: boolean }>(`/agents/${agent.id}/signals`, {
      runIds: [runId],
      waitMs: 20_000,
    });
    await workspace.api.post(`/agents/${agent.id}/terminate`, {
      graceful: true,
      reason: 'Manual shutdown',
    });
    expect((await waiting).body.drain).toBe(true);
    expect((await agent.api.post(`/agents/${agent.id}/claim`, {})).body.code).toBe(
      'agent_draining',
    );
    expect((await agent.api.post(`/runs/${runId}/complete`, {})).status).toBe(200);
    await sweep(TerminateDrained);
    expect((await workspace.api.get(`/agents/${agent.id}`)).body.status).toBe('TERMINATED');
  });

  it('an agent terminated by force loses its runs at once', async () => {
    const { id, agent, runId } = await claimed();
    const answer = await workspace.api.post(`/agents/${agent.id}/terminate`, { graceful: false });
    expect(answer.body.status).toBe('TERMINATED');
    expect(await read(id)).toMatchObject({ status: 'ABORTED', abortReason: 'agent_terminated' });
    expect((await agent.api.post(`/runs/${runId}/complete`, {})).body.code).toBe('stale_run');
  });

  it('an agent that deregisters releases its runs without an attempt', async () => {
    const { id, agent } = await claimed();
    const held = await agent.api.get<{ items: unknown[] }>(`/agents/${agent.id}/tasks?live=true`);
    expect(held.body.items).toMatchObject([{ id, status: 'RUNNING' }]);
    expect((await agent.api.post(`/agents/${agent.id}/deregister`, {})).status).toBe(200);
    expect(await read(id)).toMatchObject({
      status: 'ABORTED',
      abortReason: 'released',
      retryCount: 0,
    });
  });
});

describe('many tasks at once', () => {
  it('any number of tasks can be cancelled by filter', async () => {
    const tasks = Array.from({ length: 700 }, (_, n) => ({
      title: `t ${n}`,
      taskType: 'bulk',
      tags: ['many'],
    }));
    await workspace.api.post('/agent-tasks/batch', { tasks });
    const answer = await workspace.api.post('/agent-tasks/bulk/cancel', {
      filter: { tags: ['many'] },
      reason: 'no more',
    });
    expect(answer.body).toEqual({ matched: 700, changed: 700, skipped: 0 });
    const again = await workspace.api.post('/agent-tasks/bulk/retry', {
      filter: { taskType: 'bulk', status: ['ABORTED'] },
    });
    expect(again.body).toEqual({ matched: 700, changed: 700, skipped: 0 });
  });

  it('a bulk request must name its tasks', async () => {
    const answer = await workspace.api.post('/agent-tasks/bulk/cancel', {});
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'filter' }] },
    });
  });
});
