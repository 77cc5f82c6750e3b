import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp } from '../../../../test/support/app.js';
import {
  soundServer,
  type TestAgent,
  type TestServer,
} from '../../../../test/support/sound-server.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { type Held, Scene } from '../testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});

afterAll(() => server.stop());

/** The first agent was taken for dead while it worked. Now the second one holds its task. */
async function startConflict(): Promise<{ first: Held; second: Held }> {
  const first = await scene.held();
  await scene.sql(
    `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
    first.agent.id,
  );
  expect((await scene.recover())['lostRunsRecovered']).toBe(1);
  await scene.recover();
  const second = await scene.claim(await scene.heirOf(first));
  expect(second.id).toBe(first.id);
  expect((await second.agent.api.post(`/runs/${second.runId}/start`, {})).status).toBe(200);
  return { first, second };
}

async function heartbeat(agent: TestAgent, currentTaskId: string): Promise<void> {
  const body = { status: 'healthy', currentTaskId };
  expect((await agent.api.post(`/agents/${agent.id}/heartbeat`, body)).status).toBe(200);
  await waitFor('the heartbeat in Postgres', async () => {
    const { rows } = await scene.sql(
      'SELECT FROM agent_heartbeats WHERE agent_id = $1 AND current_task_id = $2',
      agent.id,
      currentTaskId,
    );
    return rows.length > 0;
  });
}

const conflicts = async () => (await scene.recover())['conflictsFound'];

describe('an agent that was taken for dead and comes back', () => {
  beforeAll(async () => {
    scene = await Scene.of(server);
  });

  it('a returning agent is refused, and the conflict is logged once', async () => {
    const { first, second } = await startConflict();
    const { api } = first.agent;
    const late = () => api.post(`/runs/${first.runId}/complete`, {});
    for (const answer of [await late(), await late()]) {
      expect([answer.status, answer.body['code']]).toEqual([409, 'stale_run']);
    }
    expect(await conflicts()).toBe(1);
    expect((await late()).status).toBe(409);
    expect(await conflicts()).toBe(0);

    const both = {
      runId: first.runId,
      generation: 1,
      newerRunId: second.runId,
      newerGeneration: 2,
      agentId: first.agent.id,
      newerAgentId: second.agent.id,
      endReason: 'agent_stale',
    };
    expect(await scene.logs(first.id, 'split_brain_conflict')).toMatchObject([
      { level: 'WARN', runId: first.runId, details: both },
    ]);
    expect(await scene.coordinatorLogs('split_brain_conflict')).toMatchObject([
      { level: 'WARN', details: both },
    ]);
    expect(await scene.events('run.split_brain_conflict')).toMatchObject([both]);
    const { body } = await api.post(`/agents/${first.agent.id}/signals`, { runIds: [first.runId] });
    expect(body).toMatchObject({
      runs: [{ runId: first.runId, action: 'stop', reason: 'agent_stale' }],
    });
    expect((await second.agent.api.post(`/runs/${second.runId}/complete`, {})).status).toBe(200);
    await scene.holdsEverything();
  });

  it('a returning agent is found by the runs that it names', async () => {
    const { first } = await startConflict();
    const path = `/agents/${first.agent.id}/signals`;
    await first.agent.api.post(path, { runIds: [first.runId] });
    expect(await conflicts()).toBe(1);
    await first.agent.api.post(path, { runIds: [first.runId] });
    expect(await conflicts()).toBe(0);
  });

  it('a returning agent is found by two heartbeats after the other run has begun', async () => {
    const { first } = await startConflict();
    await heartbeat(first.agent, first.id);
    expect(await conflicts()).toBe(0);
    await scene.sql(
      `UPDATE agent_tasks SET assigned_at = assigned_at - interval '61 seconds' WHERE id = $1`,
      first.id,
    );
    expect(await conflicts()).toBe(1);
    expect(await conflicts()).toBe(0);
    expect(await scene.logs(first.id, 'split_brain_conflict')).toHaveLength(1);
  });

  it('a returning agent is woken from its long poll and told to stop', async () => {
    const { first } = await startConflict();
    const { agent, runId } = first;
    // The poll began while the run was current, as it would be after a network partition.
    await scene.sql(`UPDATE agent_tasks SET run_id = $2 WHERE id = $1`, first.id, runId);
    const { rows: before } = await scene.sql('SELECT clock_timestamp() AS at');
    const waiting = agent.api.post(`/agents/${agent.id}/signals`, {
      runIds: [runId],
      waitMs: 20_000,
    });
    await waitFor('the poll', async () => {
      const { rows } = await scene.sql(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle'
           AND query LIKE '%SELECT a.lifecycle, held.run_id%' AND query_start > $1`,
        before[0]?.['at'],
      );
      return rows.length > 0;
    });
    await scene.sql(
      `UPDATE agent_tasks SET run_id = (SELECT id FROM task_runs
        WHERE task_id = $1 AND generation = 2) WHERE id = $1`,
      first.id,
    );
    await scene.sql(`UPDATE task_runs SET conflict_seen_at = now() WHERE id = $1`, runId);
    const start = performance.now();
    await scene.recover();
    expect((await waiting).body).toMatchObject({ runs: [{ action: 'stop' }] });
    // Without a wake-up, the poll looks again only after 5 s.
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});

describe('an agent that goes on with a task that was cancelled', () => {
  beforeAll(async () => {
    scene = await Scene.of(server);
  });

  it('a cancelled agent at a task that another holds is one conflict', async () => {
    const first = await scene.held();
    const { api } = scene.workspace;
    expect((await api.post(`/agent-tasks/${first.id}/cancel`, {})).status).toBe(200);
    expect((await api.post(`/agent-tasks/${first.id}/retry`, {})).status).toBe(200);
    const second = await scene.claim(await scene.heirOf(first));
    expect(second.id).toBe(first.id);
    const late = () => first.agent.api.post(`/runs/${first.runId}/complete`, {});
    expect((await late()).status).toBe(409);
    expect(await conflicts()).toBe(1);
    expect((await late()).status).toBe(409);
    expect(await conflicts()).toBe(0);
    expect(await scene.logs(first.id, 'split_brain_conflict')).toMatchObject([
      { runId: first.runId, details: { newerRunId: second.runId, endReason: 'cancelled' } },
    ]);
    await second.agent.api.post(`/runs/${second.runId}/start`, {});
    expect((await second.agent.api.post(`/runs/${second.runId}/complete`, {})).status).toBe(200);
    await scene.holdsEverything();
  });
});

describe('no conflict', () => {
  beforeAll(async () => {
    scene = await Scene.of(server);
  });

  it('a late report of a run that its agent ended itself is no conflict', async () => {
    const first = await scene.held();
    await first.agent.api.post(`/runs/${first.runId}/release`, { reason: 'drain' });
    await scene.recover();
    await scene.claim(await scene.heirOf(first));
    const late = await first.agent.api.patch(`/runs/${first.runId}/progress`, {
      progressPercent: 9,
    });
    expect(late.status).toBe(409);
    expect(await conflicts()).toBe(0);
  });

  it('a failure repeated after a lost answer is no conflict', async () => {
    const first = await scene.held();
    const error = { message: 'x', class: 'exit_code' };
    const fail = () => first.agent.api.post(`/runs/${first.runId}/fail`, { error });
    expect((await fail()).status).toBe(200);
    await scene.recover();
    await scene.claim(await scene.heirOf(first));
    expect((await fail()).status).toBe(200);
    expect(await conflicts()).toBe(0);
  });

  it('a failure of a paused run that is repeated after a lost answer is no conflict', async () => {
    const first = await scene.held();
    const command = (name: string) =>
      scene.workspace.api.post(`/agent-tasks/${first.id}/${name}`, {});
    const error = { message: 'x', class: 'exit_code' };
    const fail = () => first.agent.api.post(`/runs/${first.runId}/fail`, { error });
    await command('pause');
    expect((await fail()).status).toBe(200);
    await command('resume');
    await scene.claim(await scene.heirOf(first));
    expect((await fail()).status).toBe(200);
    expect(await conflicts()).toBe(0);
  });

  it('a report after a cancellation is no conflict', async () => {
    const { id, agent, runId } = await scene.held();
    await scene.workspace.api.post(`/agent-tasks/${id}/cancel`, {});
    expect((await agent.api.post(`/runs/${runId}/complete`, {})).status).toBe(409);
    expect(await conflicts()).toBe(0);
  });
});

describe('for real', () => {
  it('an agent that continues after its threshold is a conflict', async () => {
    const led = await startTestApp({ COORDINATOR_CRON: '0 0 0 29 2 *' });
    try {
      scene = await Scene.of(led);
      const first = await scene.held();
      await scene.sql(
        `UPDATE agents SET heartbeat_interval_seconds = 1, stale_threshold_seconds = 2
          WHERE id = $1`,
        first.agent.id,
      );
      await heartbeat(first.agent, first.id);
      const heir = await scene.heirOf(first);
      const second = await waitFor('the task to be given to another', () =>
        scene.claim(heir).catch(() => undefined),
      );
      expect((await first.agent.api.post(`/runs/${first.runId}/complete`, {})).status).toBe(409);
      const [log] = await waitFor('the conflict to be told', async () => {
        const logs = await scene.logs(first.id, 'split_brain_conflict');
        return logs.length > 0 && logs;
      });
      expect(log?.details).toMatchObject({ runId: first.runId, newerRunId: second.runId });
      await second.agent.api.post(`/runs/${second.runId}/start`, {});
      expect((await second.agent.api.post(`/runs/${second.runId}/complete`, {})).status).toBe(200);
      await scene.holdsEverything();
    } finally {
      await led.stop();
    }
  });
});
