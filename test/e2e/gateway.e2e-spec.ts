import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { SECRET, TestGateway } from '../../apps/gateway/testing/gateway-process.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

let fleet: TestFleet;
let server: BuiltProcess;
let gateway: TestGateway;
let gatewayUrl: string;

const startServer = () =>
  fleet.startServer({
    GATEWAY_URL: gatewayUrl,
    GATEWAY_SECRET: SECRET,
    GATEWAY_TIMEOUT_MS: '3000',
  });

/**
 * The program of a push agent. It notes its process id and its starting point, works until it is
 * released, and counts its work in checkpoints. `script` in the input replaces the work.
 */
const SESSION = `
const fs = require('fs');
const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token, DROVER_TASK_FILE: file } = process.env;
const { task, run } = JSON.parse(fs.readFileSync(file, 'utf8'));
const call = (method, path, body) =>
  fetch(url + '/runs/' + run.id + '/' + path, {
    method,
    headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then((answer) => answer.ok || console.error(path, answer.status));
const { notes, script } = task.inputContext;
let n = task.checkpointData.n ?? 0;
fs.appendFileSync(notes, process.pid + ' ' + n + '\\n');
async function work() {
  if (fs.existsSync(notes + '.go')) {
    await call('POST', 'complete', { outputResult: { n } });
    process.exit(0);
  }
  n += 1;
  await call('PATCH', 'progress', { progressPercent: Math.min(n, 99), checkpointData: { n } });
}
if (script) eval(script);
else (async () => {
  for (;;) {
    await work().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})();`;

beforeAll(async () => {
  fleet = await TestFleet.create();
  const port = await freePort();
  gatewayUrl = `http://127.0.0.1:${port}`;
  [server, gateway] = await Promise.all([startServer(), startGateway(port)]);
  const agentId = newId();
  const { status } = await fleet.api.put(`/agents/${agentId}`, {
    name: 'Pushed',
    mode: 'push',
    command: [process.execPath, '-e', SESSION],
    capabilities: ['work'],
    maxConcurrentTasks: 10,
  });
  expect(status).toBe(201);
});

afterAll(async () => {
  await gateway.dispose();
  await fleet.stop();
});

function startGateway(port: number): Promise<TestGateway> {
  return new TestGateway({
    DROVER_API_URL: `http://127.0.0.1:${fleet.port}`,
    PORT: String(port),
    GATEWAY_GRACE_SECONDS: '1',
    SHUTDOWN_DEADLINE_SECONDS: '10',
  }).start();
}

interface Job {
  id: string;
  notes: string;
}

async function submit(values: { script?: string } & Record<string, unknown> = {}): Promise<Job> {
  const { script, ...rest } = values;
  const notes = join(fleet.folder, `notes-${newId()}`);
  const id = await fleet.submit('', {
    inputContext: { notes, script },
    requiredCapabilities: ['work'],
    maxRetries: 3,
    ...rest,
  });
  return { id, notes };
}

/** Returns the processes of a job's sessions, and the checkpoints that they began with. */
function livesOf({ notes }: Job): { pid: number; from: number }[] {
  if (!existsSync(notes)) return [];
  const lines = readFileSync(notes, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [pid = 0, from = 0] = line.split(' ').map(Number);
    return { pid, from };
  });
}

const life = (job: Job, count: number) =>
  waitFor(`life ${count} of ${job.id}`, () => livesOf(job)[count - 1]);

const untilStatus = (job: Job, status: string) =>
  waitFor(`${job.id} to be ${status}`, async () => {
    const task = await fleet.task(job.id);
    return task['status'] === status ? task : undefined;
  });

/** Returns the progress of a job's sessions, by the checkpoint. */
async function workOf({ id }: Job): Promise<number> {
  const { checkpointData } = await fleet.task(id);
  return (checkpointData as { n?: number }).n ?? 0;
}

const untilProgress = (job: Job, above: number) =>
  waitFor('progress', async () => (await workOf(job)) > above);

const finish = (job: Job) => {
  writeFileSync(`${job.notes}.go`, '');
  return untilStatus(job, 'COMPLETED');
};

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);
const untilDead = (pid: number) => waitFor(`${pid} to end`, () => !isAlive(pid));

describe('server and gateway', () => {
  it('a session completes the task of a push agent', async () => {
    const job = await submit();
    await untilProgress(job, 2);
    const { runId, sessionKey } = await fleet.task(job.id);
    expect(sessionKey).toMatch(new RegExp(`^gateway:${gateway.gatewayId}:`));
    const done = await finish(job);
    expect(done).toMatchObject({ runId: null, generation: 1, retryCount: 0 });
    await waitFor(
      'the session to end',
      async () => (await gateway.session(String(runId))).status === 'COMPLETED',
    );
    await waitFor(
      'the folder to go',
      () => readdirSync(join(gateway.dataDir, 'sessions')).length === 0,
    );
  });

  it('a task is retried at once, with a reason, when its session exits', async () => {
    const job = await submit({
      script: `if (run.generation === 1) { console.error('no such table'); process.exit(3); }
        else call('POST', 'complete', {}).then(() => process.exit(0));`,
      retryBackoffSeconds: 0,
    });
    expect(await untilStatus(job, 'COMPLETED')).toMatchObject({ generation: 2, retryCount: 1 });
    const { body } = await fleet.api.get<{ items: Record<string, unknown>[] }>(
      `/agent-tasks/${job.id}/logs?limit=100`,
    );
    expect(JSON.stringify(body.items)).toContain('no such table');
  });

  it('a session that cannot start is not retried', async () => {
    const agentId = newId();
    await fleet.api.put(`/agents/${agentId}`, {
      name: 'Broken',
      mode: 'push',
      command: ['no-such-program-anywhere'],
      capabilities: ['broken'],
    });
    const job = await submit({ requiredCapabilities: ['broken'] });
    expect(await untilStatus(job, 'FAILED')).toMatchObject({
      failureReason: 'setup',
      lastError: expect.stringContaining('no-such-program-anywhere'),
      retryCount: 0,
    });
  });

  it('the session of a cancelled task ends', async () => {
    const job = await submit();
    const { pid } = await life(job, 1);
    await untilProgress(job, 1);
    await fleet.api.post(`/agent-tasks/${job.id}/cancel`, {});
    await untilDead(pid);
    expect(await fleet.task(job.id)).toMatchObject({ status: 'ABORTED', abortReason: 'cancelled' });
  });

  it('a paused task stops, and the resumed task continues from its checkpoint', async () => {
    const job = await submit();
    const { pid } = await life(job, 1);
    await untilProgress(job, 2);
    await fleet.api.post(`/agent-tasks/${job.id}/pause`, {});
    await untilDead(pid);
    await waitFor('the run to end', async () => (await fleet.task(job.id))['runId'] === null);
    expect((await fleet.task(job.id))['status']).toBe('PAUSED');
    const { rows } = await fleet.db.owner.query(
      'SELECT state, end_reason FROM task_runs WHERE task_id = $1',
      [job.id],
    );
    expect(rows).toEqual([{ state: 'RELEASED', end_reason: 'paused' }]);
    await fleet.api.post(`/agent-tasks/${job.id}/resume`, {});
    expect((await life(job, 2)).from).toBeGreaterThan(2);
    await finish(job);
  });

  it('a task ends if its session answers the end of its time with a release', async () => {
    const script = `
      process.on('SIGTERM', () => call('POST', 'release', {}).then(() => process.exit(0)));
      setInterval(() => {}, 1000);`;
    const job = await submit({ script, timeoutSeconds: 1, maxRetries: 0 });
    expect(await untilStatus(job, 'FAILED')).toMatchObject({
      failureReason: 'retries_exhausted',
      lastError: expect.stringContaining('timeout'),
      generation: 1,
    });
  });

  it('a session that seems to hang is warned, and the warning ends when it reports', async () => {
    const script = `
      let step = async () => {
        const heard = fs.readFileSync(process.env.DROVER_SIGNALS_FILE, 'utf8');
        if (!heard.endsWith('\\n')) return;
        await call('PUT', 'checkpoint', { checkpointData: { n: 7 } });
        step = work;
      };
      call('POST', 'start', {});
      setInterval(() => step().catch(() => {}), 50);`;
    const job = await submit({ script });
    await untilStatus(job, 'RUNNING');
    await fleet.db.owner.query(
      `UPDATE agent_tasks SET estimated_completion_at = now() - interval '1 hour' WHERE id = $1`,
      [job.id],
    );
    await fleet.db.owner.query(
      `UPDATE task_runs SET started_at = now() - interval '1 hour', last_progress_at = NULL WHERE task_id = $1`,
      [job.id],
    );
    const { body } = await fleet.api.post('/coordinator/recover', {});
    expect(body).toMatchObject({ counts: { hungWarned: 1 } });
    await finish(job);
  });

  it('a session hears above 90 % of its budget that the budget is nearly used up', async () => {
    const project = await fleet.api.post<{ id: string }>('/projects', { name: 'Of few tokens' });
    const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2999-01-01T00:00:00Z' };
    const budget = { scope: 'project', scopeId: project.body.id, allocated: 100, ...period };
    expect((await fleet.api.post('/budgets', budget)).status).toBe(201);
    const script = `
      const used = { id: 'one', model: 'claude-sonnet-4', inputTokens: 91, outputTokens: 0 };
      const step = async () => {
        const heard = fs.readFileSync(process.env.DROVER_SIGNALS_FILE, 'utf8');
        if (!heard.endsWith('\\n')) return;
        const { action, reason } = JSON.parse(heard.split('\\n')[0]);
        await call('POST', 'complete', { outputResult: { action, reason } });
        process.exit(0);
      };
      call('POST', 'start', {}).then(() => call('POST', 'usage', { reports: [used] }));
      setInterval(() => step().catch(() => {}), 50);`;
    const job = await submit({ script, projectId: project.body.id, estimatedTokens: 10 });
    expect(await untilStatus(job, 'COMPLETED')).toMatchObject({
      outputResult: { action: 'warn', reason: 'budget' },
    });
  });

  it('a session survives a crash of the gateway', async () => {
    const job = await submit();
    const { pid } = await life(job, 1);
    await untilProgress(job, 1);
    await gateway.crash();
    await gateway.start();
    await untilProgress(job, await workOf(job));
    expect(isAlive(pid)).toBe(true);
    expect(await finish(job)).toMatchObject({ generation: 1, retryCount: 0 });
    expect(livesOf(job)).toHaveLength(1);
  });

  it('the runs of a gateway that was killed with all its sessions recover at once', async () => {
    const jobs = [await submit(), await submit()] as const;
    for (const job of jobs) await untilProgress(job, 1);
    const killed = jobs.map((job) => livesOf(job)[0]?.pid ?? 0);
    await gateway.crash();
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await Promise.all(killed.map(untilDead));
    await gateway.start();
    for (const job of jobs) {
      expect((await life(job, 2)).from).toBeGreaterThan(1);
      expect(await finish(job)).toMatchObject({ generation: 2, retryCount: 1 });
    }
  });

  it('a gateway resumes after an outage of the server, and no report of an end is lost', async () => {
    const [completes, fails] = [await submit(), await submit()];
    for (const job of [completes, fails]) await untilProgress(job, 1);
    server.kill('SIGKILL');
    await server.ended();
    process.kill(livesOf(fails)[0]?.pid ?? 0, 'SIGKILL');
    writeFileSync(`${completes.notes}.go`, '');
    server = await startServer();
    expect(await untilStatus(completes, 'COMPLETED')).toMatchObject({ generation: 1 });
    expect((await life(fails, 2)).from).toBeGreaterThan(1);
    await finish(fails);
    const { body } = await fleet.api.get<{ items: object[] }>(`/agent-tasks/${fails.id}/runs`);
    const ends = body.items.map((run) => (run as { endReason: string }).endReason).sort();
    expect(ends).toEqual(['completed', expect.stringMatching(/^(oom|signal)$/)]);
  });

  it('sessions given up during an outage of the server cost their tasks no retry', async () => {
    const jobs = [await submit({ maxRetries: 0 }), await submit({ maxRetries: 0 })];
    for (const job of jobs) await untilProgress(job, 2);
    server.kill('SIGKILL');
    await server.ended();
    gateway.kill('SIGTERM');
    expect(await gateway.ended()).toBe(0);
    await gateway.start();
    server = await startServer();
    for (const job of jobs) {
      expect((await life(job, 2)).from).toBeGreaterThan(2);
      expect(await finish(job)).toMatchObject({ generation: 2, retryCount: 0 });
    }
  });

  it('the next process of a draining gateway continues its work from the checkpoint', async () => {
    const jobs = [await submit(), await submit({ maxRetries: 0 })];
    for (const job of jobs) await untilProgress(job, 2);
    gateway.kill('SIGTERM');
    expect(await gateway.ended()).toBe(0);
    for (const job of jobs) expect(isAlive(livesOf(job)[0]?.pid ?? 0)).toBe(false);
    await gateway.start();
    for (const job of jobs) {
      expect((await life(job, 2)).from).toBeGreaterThan(2);
      expect(await finish(job)).toMatchObject({ generation: 2, retryCount: 0 });
    }
  });

  it('server and gateway keep every invariant', async () => {
    const outcomes = await checkInvariants(fleet.db.ownerUrl);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
  });
});
