import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WakeUps } from '#lib/valkey';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { type Held, Scene } from '../testing/scene.js';

interface Signals {
  runs: { runId: string; action: string; reason: string }[];
}

let server: TestApp;
let scene: Scene;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  scene = await Scene.of(server);
});

afterAll(() => server.stop());

/** Moves the start, the last progress and the estimate of the run into the past. */
async function elapse({ id, runId }: Held, minutes: number): Promise<void> {
  const ago = `- make_interval(mins => ${minutes})`;
  await scene.sql(
    `UPDATE task_runs SET started_at = started_at ${ago},
      last_progress_at = last_progress_at ${ago},
       hung_warned_at = hung_warned_at ${ago} WHERE id = $1`,
    runId,
  );
  await scene.sql(
    `UPDATE agent_tasks SET estimated_completion_at = estimated_completion_at ${ago} WHERE id = $1`,
    id,
  );
}

async function warnRun(values: Record<string, unknown> = {}): Promise<Held> {
  const held = await scene.held({ estimatedDurationMinutes: 10, ...values });
  await elapse(held, 41);
  expect((await scene.recover())['hungWarned']).toBe(1);
  return held;
}

async function runOf({ id, runId }: Held): Promise<Record<string, unknown>> {
  const { body } = await scene.workspace.api.get<{ items: Record<string, unknown>[] }>(
    `/agent-tasks/${id}/runs`,
  );
  return body.items.find((run) => run['id'] === runId) ?? {};
}

function signals({ agent, runId }: Held, waitMs = 0) {
  const body = { runIds: [runId], waitMs };
  return agent.api.post<Signals>(`/agents/${agent.id}/signals`, body);
}

/**
 * The agents whose polls end early during the work. Without a wake-up, a poll looks again only
 * after seconds.
 */
async function collectWakeUps(work: () => Promise<void>): Promise<string[]> {
  const rung: string[] = [];
  const stop = server.app.get(WakeUps, { strict: false }).onSignals((id) => rung.push(id));
  await work().finally(stop);
  return rung;
}

const progress = ({ agent, runId }: Held, body: object = { progressPercent: 50 }) =>
  agent.api.patch(`/runs/${runId}/progress`, body);

describe('a task that begins', () => {
  it('a started task gets its estimated completion time from its estimate', async () => {
    const { id } = await scene.held({ estimatedDurationMinutes: 10 });
    const { startedAt, estimatedCompletionAt } = await scene.read(id);
    const minutes =
      (Date.parse(String(estimatedCompletionAt)) - Date.parse(String(startedAt))) / 60_000;
    expect(minutes).toBe(10);
  });

  it('a task without an estimate has no completion time until its agent reports one', async () => {
    const held = await scene.held();
    expect((await scene.read(held.id))['estimatedCompletionAt']).toBeNull();
    await progress(held, { estimatedCompletionAt: '2100-01-01T00:00:00Z' });
    expect((await scene.read(held.id))['estimatedCompletionAt']).toBe('2100-01-01T00:00:00.000Z');
  });

  it('a paused task loses no time of its estimate', async () => {
    const held = await scene.held({ estimatedDurationMinutes: 10 });
    const before = Date.parse(String((await scene.read(held.id))['estimatedCompletionAt']));
    await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`, {});
    await scene.sql(
      `UPDATE agent_tasks SET paused_at = paused_at - interval '1 hour' WHERE id = $1`,
      held.id,
    );
    await scene.workspace.api.post(`/agent-tasks/${held.id}/resume`, {});
    const after = Date.parse(String((await scene.read(held.id))['estimatedCompletionAt']));
    expect((after - before) / 60_000).toBeGreaterThanOrEqual(60);
  });
});

describe('a run half an hour past its estimate without progress', () => {
  it('a hung run is warned in its signals, its log, its events and its row', async () => {
    const held = await scene.held({ estimatedDurationMinutes: 10 });
    await elapse(held, 39);
    expect((await scene.recover())['hungWarned']).toBe(0);
    await elapse(held, 2);
    const waiting = signals(held, 20_000);
    const rung = await collectWakeUps(async () => {
      expect((await scene.recover())['hungWarned']).toBe(1);
    });
    expect(rung).toEqual([held.agent.id]);
    expect((await waiting).body.runs).toMatchObject([
      { runId: held.runId, action: 'warn', reason: 'hung' },
    ]);
    expect(await scene.logs(held.id, 'hung_warning')).toMatchObject([
      { level: 'WARN', runId: held.runId, details: { abortsAfterSeconds: 600 } },
    ]);
    const events = await scene.events('run.hung_warning');
    expect(events).toMatchObject([{ runId: held.runId, taskId: held.id, agentId: held.agent.id }]);
    expect((await runOf(held))['hungWarnedAt']).not.toBeNull();
    expect((await scene.recover())['hungWarned']).toBe(0);
  });

  it('the warning is repeated in later polls, but not at once each time', async () => {
    const held = await warnRun();
    expect((await signals(held)).body.runs).toMatchObject([{ action: 'warn' }]);
    const start = performance.now();
    expect((await signals(held, 600)).body.runs).toMatchObject([{ action: 'warn' }]);
    expect(performance.now() - start).toBeGreaterThan(550);
  });

  it('a warned run still gets other signals at once', async () => {
    const held = await warnRun();
    const waiting = signals(held, 20_000);
    await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`, {});
    expect((await waiting).body.runs).toMatchObject([{ action: 'stop', reason: 'cancelled' }]);
  });

  it('a run with recent progress is not warned, whatever its estimate says', async () => {
    const held = await scene.held({ estimatedDurationMinutes: 10 });
    await elapse(held, 120);
    await progress(held);
    expect((await scene.recover())['hungWarned']).toBe(0);
    await elapse(held, 31);
    expect((await scene.recover())['hungWarned']).toBe(1);
  });

  it.each(['progress', 'checkpoint'])('a warning is cleared with %s', async (what) => {
    const held = await warnRun();
    await elapse(held, 11);
    const answer =
      what === 'progress'
        ? await progress(held)
        : await held.agent.api.put(`/runs/${held.runId}/checkpoint`, { checkpointData: { at: 1 } });
    expect(answer.status).toBe(200);
    expect((await scene.recover())['hungAborted']).toBe(0);
    expect((await signals(held)).body.runs).toEqual([]);
    expect(await runOf(held)).toMatchObject({ state: 'WORKING', hungWarnedAt: null });
  });

  it('a warned run is aborted ten minutes later, and its task retried', async () => {
    const held = await warnRun({ priority: 4 });
    await elapse(held, 9);
    expect((await scene.recover())['hungAborted']).toBe(0);
    const waiting = signals(held, 20_000);
    await elapse(held, 2);
    const rung = await collectWakeUps(async () => {
      expect(await scene.recover()).toMatchObject({ hungAborted: 1 });
    });
    expect(rung).toEqual([held.agent.id]);
    // The agent knew the warning already; the end is new.
    expect((await waiting).body.runs).toMatchObject([{ action: 'stop', reason: 'timeout' }]);
    expect(await runOf(held)).toMatchObject({ state: 'FAILED', endReason: 'timeout' });
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PENDING',
      priority: 4,
      retryCount: 1,
      estimatedCompletionAt: null,
    });
    const errors = (await scene.logs(held.id)).filter(({ level }) => level === 'ERROR');
    expect(errors).toMatchObject([{ details: { reason: 'timeout' } }]);
    await scene.holdsEverything();
  });

  it('a pause of its task restarts the time of a hung run', async () => {
    const held = await warnRun();
    await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`, {});
    await elapse(held, 60);
    expect((await scene.recover())['hungAborted']).toBe(0);
    await scene.workspace.api.post(`/agent-tasks/${held.id}/resume`, {});
    expect((await scene.recover())['hungAborted']).toBe(0);
    expect((await scene.read(held.id))['status']).toBe('RUNNING');
  });
});

describe('a run that waits for an answer of a person', () => {
  const CODEX = { agent: { kind: 'codex' }, estimatedDurationMinutes: 10 };

  async function ask({ agent, runId }: Held): Promise<string> {
    const { status, body } = await agent.api.post<{ id: string }>(`/runs/${runId}/questions`, {
      prompt: 'May I push?',
      deadlineSeconds: 86_400,
      onDeadline: 'default',
      default: 'deny',
      runWaits: true,
    });
    expect(status).toBe(201);
    return body.id;
  }

  async function answer(id: string): Promise<void> {
    const { status } = await scene.workspace.api.post(`/questions/${id}/answer`, { answer: 'yes' });
    expect(status).toBe(200);
  }

  const elapseSinceAnswer = (id: string, minutes: number) =>
    scene.sql(
      `UPDATE questions SET closed_at = closed_at - make_interval(mins => $2) WHERE id = $1`,
      id,
      minutes,
    );

  it('a waiting run is not warned, and its time begins again with the answer', async () => {
    const held = await scene.held(CODEX);
    const id = await ask(held);
    await elapse(held, 600);
    expect((await scene.recover())['hungWarned']).toBe(0);
    await answer(id);
    expect((await scene.recover())['hungWarned']).toBe(0);
    await elapseSinceAnswer(id, 31);
    expect((await scene.recover())['hungWarned']).toBe(1);
  });

  it('a warned run that waits is not aborted, and its time begins again with the answer', async () => {
    const held = await warnRun(CODEX);
    const id = await ask(held);
    await elapse(held, 600);
    expect((await scene.recover())['hungAborted']).toBe(0);
    await answer(id);
    expect((await scene.recover())['hungAborted']).toBe(0);
    await elapseSinceAnswer(id, 11);
    expect((await scene.recover())['hungAborted']).toBe(1);
  });
});

describe('a run that never reported its start', () => {
  const REPORTS: Record<string, (held: Held) => Promise<{ status: number }>> = {
    progress: (held) => progress(held),
    checkpoint: ({ agent, runId }) =>
      agent.api.put(`/runs/${runId}/checkpoint`, { checkpointData: { at: 1 } }),
    'log entry': ({ agent, runId }) =>
      agent.api.post(`/runs/${runId}/logs`, { entries: [{ message: 'a line' }] }),
  };

  it.each(Object.entries(REPORTS))(
    'a run is started by its first %s, and warned when it hangs',
    async (_, report) => {
      const held = await scene.held({ estimatedDurationMinutes: 10 }, { start: false });
      expect((await report(held)).status).toBeLessThan(300);
      const { status, startedAt, estimatedCompletionAt, version } = await scene.read(held.id);
      expect(status).toBe('RUNNING');
      expect(Date.parse(String(estimatedCompletionAt)) - Date.parse(String(startedAt))).toBe(
        600_000,
      );
      expect(await runOf(held)).toMatchObject({ state: 'WORKING', startedAt });
      expect((await report(held)).status).toBeLessThan(300);
      expect((await scene.read(held.id))['version']).toBe(version);
      expect(await scene.logs(held.id, 'state_transition')).toHaveLength(2);
      await elapse(held, 41);
      expect((await scene.recover())['hungWarned']).toBe(1);
      await scene.holdsEverything();
    },
  );

  it('a report of another agent starts nothing', async () => {
    const held = await scene.held({}, { start: false });
    const { agent } = await scene.held();
    expect((await progress({ ...held, agent })).status).toBe(404);
    expect((await scene.read(held.id))['status']).toBe('ASSIGNED');
  });

  it('a release with a checkpoint does not start its run', async () => {
    const held = await scene.held({}, { start: false });
    const body = { reason: 'drain', checkpointData: { at: 1 } };
    expect((await held.agent.api.post(`/runs/${held.runId}/release`, body)).status).toBe(200);
    const task = await scene.read(held.id);
    expect(task).toMatchObject({ status: 'PENDING', checkpointData: { at: 1 } });
    expect(await runOf(held)).toMatchObject({ state: 'RELEASED', startedAt: null });
  });
});

it('the coordinator warns and aborts hung runs by itself', async () => {
  const led = await startTestApp({
    COORDINATOR_CRON: '* * * * * *',
    HUNG_AFTER_SECONDS: '1',
    HUNG_ABORT_AFTER_SECONDS: '1',
  });
  try {
    const own = await Scene.of(led);
    const { id } = await own.held();
    await own.sql(`UPDATE agent_tasks SET estimated_completion_at = now() WHERE id = $1`, id);
    await waitFor('the task to be retried', async () => (await own.read(id))['retryCount'] === 1);
    expect(await own.logs(id, 'hung_warning')).toHaveLength(1);
  } finally {
    await led.stop();
  }
});
