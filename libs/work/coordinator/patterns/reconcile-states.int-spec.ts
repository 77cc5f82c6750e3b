import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  scene = await Scene.of(server);
});

/** Whatever was broken, all invariants hold in the end, and a second pass finds nothing. */
afterEach(async () => {
  expect(await scene.recover()).toMatchObject({ orphanedTasksRecovered: 0, staleStatesFixed: 0 });
  await scene.holdsEverything();
});

async function repairsOf(id: string) {
  return scene.logs(id, 'state_repaired');
}

async function agentOf({ agent }: Held): Promise<Record<string, unknown>> {
  const { rows } = await scene.sql('SELECT live_runs, status FROM agents WHERE id = $1', agent.id);
  return rows[0] ?? {};
}

async function runState(runId: string): Promise<unknown> {
  const { rows } = await scene.sql('SELECT state, end_reason FROM task_runs WHERE id = $1', runId);
  return [rows[0]?.['state'], rows[0]?.['end_reason']];
}

/** Ends the run alone, as if a backup had restored an older row. */
async function endRun({ runId, agent }: Held): Promise<void> {
  await scene.sql(
    `UPDATE task_runs SET state = 'FAILED', ended_at = now(), end_reason = 'by hand' WHERE id = $1`,
    runId,
  );
  await scene.sql(`UPDATE agents SET live_runs = live_runs - 1 WHERE id = $1`, agent.id);
  // The run's history is written by hand too, so that the invariants hold for it.
  await scene.sql(
    `WITH run AS (UPDATE task_runs SET version = version + 1 WHERE id = $1 RETURNING *)
     INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, run_version, new_state,
       agent_id, actor_kind)
     SELECT workspace_id, 'run.state_changed', '', task_id, id, version, state, agent_id, 'system'
       FROM run`,
    runId,
  );
}

describe('orphans', () => {
  it.each([
    ['ASSIGNED', false],
    ['RUNNING', true],
  ])('a task that is %s while its run has ended is retried', async (status, start) => {
    const held = await scene.held({}, { start });
    await endRun(held);
    expect(await scene.read(held.id)).toMatchObject({ status });
    expect(await scene.recover()).toMatchObject({ orphanedTasksRecovered: 1, retriesPromoted: 1 });
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PENDING',
      runId: null,
      retryCount: 1,
    });
    const [error] = (await scene.logs(held.id)).filter(({ level }) => level === 'ERROR');
    expect(error?.message).toBe(`It was ${status}, but no live run held it`);
    const again = await scene.claim(await scene.heirOf(held));
    expect(again.id).toBe(held.id);
  });

  it('a task with a run that never existed is retried, and its real run ends', async () => {
    const held = await scene.held();
    await scene.sql(`UPDATE agent_tasks SET run_id = $2 WHERE id = $1`, held.id, newId());
    expect(await scene.recover()).toMatchObject({ orphanedTasksRecovered: 2 });
    expect(await scene.read(held.id)).toMatchObject({ status: 'PENDING' });
    expect(await runState(held.runId)).toEqual(['RELEASED', 'orphaned']);
    expect(await agentOf(held)).toEqual({ live_runs: 0, status: 'IDLE' });
    expect(await repairsOf(held.id)).toMatchObject([{ level: 'WARN', runId: held.runId }]);
  });

  it("a task that names another task's run leaves that run alone", async () => {
    const [held, other] = [await scene.held(), await scene.held()];
    await scene.sql(`UPDATE agent_tasks SET run_id = $2 WHERE id = $1`, held.id, other.runId);
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({ status: 'PENDING' });
    expect(await runState(other.runId)).toEqual(['WORKING', null]);
    expect((await other.agent.api.post(`/runs/${other.runId}/complete`, {})).status).toBe(200);
  });

  it('an orphaned task without attempts left fails', async () => {
    const held = await scene.held({ maxRetries: 0 });
    await endRun(held);
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'retries_exhausted',
    });
  });

  it('a paused task whose run has ended stays paused, without a run', async () => {
    const held = await scene.held();
    await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`, {});
    await endRun(held);
    expect(await scene.recover()).toMatchObject({ orphanedTasksRecovered: 1 });
    expect(await scene.read(held.id)).toMatchObject({ status: 'PAUSED', runId: null });
    expect(await repairsOf(held.id)).toHaveLength(1);
  });

  it('a live run of a terminated agent ends, and its task is retried', async () => {
    const held = await scene.held();
    await scene.sql(
      `UPDATE agents SET lifecycle = 'TERMINATED', terminated_at = now(), live_runs = 0
        WHERE id = $1`,
      held.agent.id,
    );
    expect(await scene.recover()).toMatchObject({ orphanedTasksRecovered: 1 });
    expect(await scene.read(held.id)).toMatchObject({ status: 'PENDING' });
    expect(await runState(held.runId)).toEqual(['FAILED', 'agent_terminated']);
  });

  it('a task that lags behind its run catches up, and so does a run behind its task', async () => {
    const [unstarted, started] = [await scene.held({}, { start: false }), await scene.held()];
    await scene.sql(
      `UPDATE task_runs SET state = 'WORKING', started_at = now() WHERE id = $1`,
      unstarted.runId,
    );
    await scene.sql(`UPDATE task_runs SET state = 'ASSIGNED' WHERE id = $1`, started.runId);
    expect(await scene.recover()).toMatchObject({ orphanedTasksRecovered: 2 });
    expect(await scene.read(unstarted.id)).toMatchObject({ status: 'RUNNING' });
    expect(await runState(started.runId)).toEqual(['WORKING', null]);
    for (const { agent, runId } of [unstarted, started]) {
      expect((await agent.api.post(`/runs/${runId}/complete`, {})).status).toBe(200);
    }
  });
});

describe("an agent's count of its live runs", () => {
  it.each([0, 7])('a wrong count of live runs (%d) is corrected', async (count) => {
    const held = await scene.held();
    await scene.sql(`UPDATE agents SET live_runs = $2 WHERE id = $1`, held.agent.id, count);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    expect(await agentOf(held)).toEqual({ live_runs: 1, status: 'WORKING' });
    const lines = await scene.coordinatorLogs('state_repaired');
    expect(lines).toMatchObject([
      { level: 'WARN', details: { kind: 'live_runs', count: 1, ids: [held.agent.id] } },
    ]);
  });

  it("too low a count of live runs does not fail the report of a run's end", async () => {
    const held = await scene.held();
    await scene.sql(`UPDATE agents SET live_runs = 0 WHERE id = $1`, held.agent.id);
    expect((await held.agent.api.post(`/runs/${held.runId}/complete`, {})).status).toBe(200);
    expect(await agentOf(held)).toEqual({ live_runs: 0, status: 'IDLE' });
  });
});

describe('the reserved tokens of a budget', () => {
  const ESTIMATE = 8970;

  async function budget(): Promise<string> {
    const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };
    const body = { scope: 'global', allocated: 2 * ESTIMATE, ...period };
    return (await scene.workspace.api.post<{ id: string }>('/budgets', body)).body.id;
  }

  const reservedOf = async (id: string) =>
    Number((await scene.workspace.api.get(`/budgets/${id}`)).body['reserved']);

  it.each([0, 7 * ESTIMATE])('a wrong sum of tokens (%d) is corrected', async (reserved) => {
    const id = await budget();
    await scene.held();
    await scene.sql(`UPDATE usage_budgets SET reserved = $2 WHERE id = $1`, id, reserved);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    expect(await reservedOf(id)).toBe(ESTIMATE);
    const lines = await scene.coordinatorLogs('state_repaired');
    expect(lines).toMatchObject([
      { level: 'WARN', details: { kind: 'reserved', count: 1, ids: [id] } },
    ]);
  });

  it('the hold of a run that ended without releasing it is released once', async () => {
    const id = await budget();
    const held = await scene.held();
    await endRun(held);
    const usage = [{ id: 'late', model: 'claude-sonnet-4', inputTokens: 100, outputTokens: 0 }];
    expect(await scene.recover()).toMatchObject({
      orphanedTasksRecovered: 1,
      staleStatesFixed: 1,
    });
    // The hold is gone: late usage takes nothing from the holds of others.
    const heir = await scene.claim(await scene.heirOf(held));
    const late = await held.agent.api.post(`/runs/${held.runId}/usage`, { reports: usage });
    expect(late).toMatchObject({ status: 200 });
    expect(heir.id).toBe(held.id);
    expect(await reservedOf(id)).toBe(ESTIMATE);
  });

  it('reserved tokens without a run go to a waiting claim', async () => {
    const id = await budget();
    const task = await scene.task();
    await scene.sql(`UPDATE usage_budgets SET reserved = allocated WHERE id = $1`, id);
    const agent = await scene.workspace.newAgent();
    const path = `/agents/${agent.id}/claim`;
    expect((await agent.api.post(path, {})).body).toMatchObject({ tasks: [], reason: 'budget' });
    const waiting = agent.api.post<{ tasks: { task: { id: string } }[] }>(path, { waitMs: 20_000 });
    await scene.recover();
    expect((await waiting).body.tasks).toMatchObject([{ task: { id: task } }]);
  });
});

describe('dependencies', () => {
  async function createPair(policy = 'block'): Promise<{ first: Held; second: string }> {
    const first = await scene.held();
    const second = await scene.task({ dependsOn: [{ taskId: first.id, policy }] });
    return { first, second };
  }

  it('a task whose dependencies are all met becomes ready', async () => {
    const capability = `only-${newId()}`;
    const id = await scene.task({ requiredCapabilities: [capability] });
    await scene.sql(
      `UPDATE agent_tasks SET unmet_dependencies = 2, ready_at = NULL WHERE id = $1`,
      id,
    );
    const agent = await scene.workspace.newAgent({ capabilities: [capability] });
    const waiting = agent.api.post<{ tasks: { task: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      { waitMs: 20_000 },
    );
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    expect((await waiting).body.tasks).toMatchObject([{ task: { id } }]);
    expect(await repairsOf(id)).toMatchObject([{ details: { counted: 2, actual: 0 } }]);
  });

  it('a task with too low a count of unmet dependencies keeps waiting', async () => {
    const { first, second } = await createPair();
    await scene.sql(
      `UPDATE agent_tasks SET unmet_dependencies = 0, ready_at = now() WHERE id = $1`,
      second,
    );
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    expect(await scene.read(second)).toMatchObject({ unmetDependencies: 1, readyAt: null });
    await first.agent.api.post(`/runs/${first.runId}/complete`, {});
    await scene.recover();
    expect(await scene.read(second)).toMatchObject({ unmetDependencies: 0 });
  });

  it('a completed task that has lost the mark of its dependents gets it back', async () => {
    const { first, second } = await createPair();
    await scene.sql(`UPDATE agent_tasks SET has_dependents = false WHERE id = $1`, first.id);
    await first.agent.api.post(`/runs/${first.runId}/complete`, {});
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1, prerequisitesSettled: 1 });
    expect(await scene.read(second)).toMatchObject({ unmetDependencies: 0 });
    expect(await repairsOf(first.id)).toHaveLength(1);
  });

  it.each([
    ['block', 'PENDING', 1, 0],
    ['fail', 'FAILED', 1, 1],
    ['ignore', 'PENDING', 0, 1],
  ])(
    'a failed task whose end was not propagated (%s) has it propagated',
    async (policy, status, unmet, fixed) => {
      const { first, second } = await createPair(policy);
      const error = { message: 'no', retryable: false };
      await first.agent.api.post(`/runs/${first.runId}/fail`, { error });
      await scene.sql(
        `UPDATE agent_tasks SET dependents_unsettled = false WHERE id = $1`,
        first.id,
      );
      expect(await scene.recover()).toMatchObject({ staleStatesFixed: fixed });
      expect(await scene.read(second)).toMatchObject({ status, unmetDependencies: unmet });
    },
  );

  it('a mark to propagate an end is removed while the task has not ended', async () => {
    const { first, second } = await createPair('fail');
    await scene.sql(`UPDATE agent_tasks SET dependents_unsettled = true WHERE id = $1`, first.id);
    expect(await scene.recover()).toMatchObject({ prerequisitesSettled: 1 });
    expect(await scene.read(second)).toMatchObject({ status: 'PENDING', unmetDependencies: 1 });
  });
});

describe('a task that nobody could claim', () => {
  it('a task in the queue of other capabilities is repaired', async () => {
    const capability = `only-${newId()}`;
    const id = await scene.task({ requiredCapabilities: [capability, 'b'] });
    await scene.sql(`UPDATE agent_tasks SET capability_key = 'nonsense' WHERE id = $1`, id);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    const agent = await scene.workspace.newAgent({ capabilities: ['b', capability] });
    expect((await scene.claim(agent)).id).toBe(id);
  });

  it('a task that is suspended because its type is paused is left alone', async () => {
    const pause = { scope: 'task_type', taskType: 'suspended', reason: 'the source changes' };
    const paused = await scene.workspace.api.post('/pauses', pause);
    expect(paused.status).toBe(201);
    const id = await scene.task({ taskType: 'suspended', requiredCapabilities: ['a'] });
    await scene.sql(`UPDATE agent_tasks SET capability_key = '!a' WHERE id = $1`, id);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 0 });
    await scene.sql(`DELETE FROM capability_sets WHERE key = 'a' AND workspace_id = $1`, scene.id);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    const { rows } = await scene.sql('SELECT capability_key FROM agent_tasks WHERE id = $1', id);
    expect(rows).toEqual([{ capability_key: '!a' }]);
  });

  it('a task in an unknown queue is repaired', async () => {
    const capability = `only-${newId()}`;
    const id = await scene.task({ requiredCapabilities: [capability] });
    await scene.sql(`DELETE FROM capability_sets WHERE key = $1`, capability);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    const agent = await scene.workspace.newAgent({ capabilities: [capability] });
    expect((await scene.claim(agent)).id).toBe(id);
  });

  it('a task whose next generation exists already is repaired', async () => {
    const held = await scene.held();
    await held.agent.api.post(`/runs/${held.runId}/release`, {});
    await scene.recover();
    await scene.sql(`UPDATE agent_tasks SET generation = 0 WHERE id = $1`, held.id);
    expect(await scene.recover()).toMatchObject({ staleStatesFixed: 1 });
    expect((await scene.claim(await scene.heirOf(held))).id).toBe(held.id);
  });
});

describe('consistent rows', () => {
  it('consistent rows are left alone, also during changes', async () => {
    const agent = await scene.workspace.newAgent({ maxConcurrentTasks: 20 });
    const lives = Array.from({ length: 20 }, async () => {
      const first = await scene.task();
      await scene.task({ dependsOn: [first] });
      const { runId } = await scene.claim(agent);
      await agent.api.post(`/runs/${runId}/start`, {});
      await agent.api.post(`/runs/${runId}/complete`, {});
    });
    const all = Promise.all(lives);
    for (let over = false; !over;) {
      over = await Promise.race([all.then(() => true), scene.recover().then(() => false)]);
    }
    const { rows } = await scene.sql(
      `SELECT DISTINCT event FROM agent_task_logs WHERE workspace_id = $1 AND level <> 'INFO'`,
      scene.id,
    );
    expect(rows).toEqual([]);
  });
});
