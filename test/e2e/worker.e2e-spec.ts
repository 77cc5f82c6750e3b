import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkInvariants } from '#lib/invariants';
import { TestFleet } from '../support/fleet.js';
import { nextMark } from '../support/marks.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

let fleet: TestFleet;
let server: BuiltProcess;

beforeAll(async () => {
  // No collector listens at the address of the traces.
  fleet = await TestFleet.create({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
  server = await fleet.startServer();
});

afterAll(async () => {
  await fleet.stop();
});

const untilStatus = (id: string, status: string) =>
  waitFor(`${id} to be ${status}`, async () => {
    const task = await fleet.task(id);
    return task['status'] === status ? task : undefined;
  });

/** Writes its process id, then works until it is ended. Checkpoints count its work. */
const STEADY = (file: string) => `
  const fs = require('fs');
  const from = JSON.parse(fs.readFileSync(process.env.DROVER_CHECKPOINT_FILE, 'utf8') || '{}').n ?? 0;
  fs.writeFileSync(${JSON.stringify(file)}, process.pid + ' ' + from + '\\n');
  let n = from;
  setInterval(() => { n += 1; console.log('::drover ' + JSON.stringify({ checkpoint: { n }, progress: Math.min(n, 99) })); }, 50);`;

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);
const pidIn = async (file: string) => (await nextMark(file))[0] as number;

describe('a worker', () => {
  it('a worker executes a task and submits its result, output and progress', async () => {
    const worker = await fleet.startWorker('simple');
    const id = await fleet.submit(`
      console.log('hello from the task');
      console.log('::drover {"progress": 50, "step": "half"}');
      console.log('::drover {"result": {"answer": 42}}');`);
    expect(await untilStatus(id, 'COMPLETED')).toMatchObject({
      outputResult: { answer: 42 },
      progressPercent: 100,
    });
    const logs = await fleet.api.get<{ items: { message: string | null }[] }>(
      `/agent-tasks/${id}/logs?limit=100`,
    );
    expect(logs.body.items.map((entry) => entry.message)).toContain('hello from the task');
    expect(await worker.said('Run ended')).toMatchObject({
      runId: expect.any(String),
      taskId: id,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    await worker.stop();
  });

  it('a worker offers a coding agent as long as its program is installed', async () => {
    const bin = join(fleet.folder, 'bin-of-kinds');
    mkdirSync(bin);
    const path = `${bin}:${process.env['PATH']}`;
    const worker = await fleet.startWorker('kinds', { PATH: path });
    const offers = async () => {
      const { body } = await fleet.api.get<{ items: { capabilities: string[] }[] }>(
        '/agents?name=kinds',
      );
      return body.items[0]?.capabilities.includes('kind:qwen-code');
    };
    expect(await offers()).toBe(false);
    const program = join(bin, 'qwen');
    writeFileSync(program, '#!/bin/sh\necho 1.2.3\n', { mode: 0o755 });
    await waitFor('the kind', offers);
    rmSync(program);
    await waitFor('no kind', async () => !(await offers()));
    await worker.stop();
  });

  it('a worker reports the exit code of a failed task, and whether a retry makes sense', async () => {
    const worker = await fleet.startWorker('failing');
    const failed = await fleet.submit('process.exit(7)', { maxRetries: 0 });
    const unknown = await fleet.submit('', { inputContext: { command: ['/no/such/program'] } });
    expect(await untilStatus(failed, 'FAILED')).toMatchObject({
      failureReason: 'retries_exhausted',
    });
    expect(await untilStatus(unknown, 'FAILED')).toMatchObject({
      failureReason: 'setup',
      retryCount: 0,
    });
    await worker.stop();
  });

  it('a worker ends the process of a cancelled task', async () => {
    const worker = await fleet.startWorker('cancelled');
    const file = join(fleet.folder, 'cancelled.pid');
    const id = await fleet.submit(STEADY(file));
    const pid = await pidIn(file);
    await untilStatus(id, 'RUNNING');
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await waitFor('the process to end', () => !isAlive(pid));
    expect(await fleet.task(id)).toMatchObject({ status: 'ABORTED', abortReason: 'cancelled' });
    await worker.stop();
  });

  it("a cancelled task gets the grace period of the server, whatever the worker's own is", async () => {
    const worker = await fleet.startWorker('graceful', { DROVER_WORKER_GRACE_SECONDS: '0' });
    const file = join(fleet.folder, 'graceful.pid');
    const saved = join(fleet.folder, 'graceful.saved');
    // The server refuses each report of progress from then on.
    const savesSlowly = `process.on('SIGTERM', () => setTimeout(() => {
      fs.writeFileSync(process.env.DROVER_ARTIFACTS + '/half.txt', 'half of it');
      fs.writeFileSync(${JSON.stringify(saved)}, '');
      process.exit(0);
    }, 300));`;
    const id = await fleet.submit(STEADY(file) + savesSlowly);
    const pid = await pidIn(file);
    await untilStatus(id, 'RUNNING');
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await waitFor('the process to end', () => !isAlive(pid));
    expect(existsSync(saved)).toBe(true);
    await waitFor('its file to be kept', async () => {
      const { body } = await fleet.api.get<{ items: { name: string }[] }>(
        `/agent-tasks/${id}/artifacts`,
      );
      return body.items.some(({ name }) => name === 'half.txt');
    });
    await worker.stop();
  });

  it('a paused task stops, and continues from its checkpoint when it is resumed', async () => {
    const worker = await fleet.startWorker('paused');
    const file = join(fleet.folder, 'paused.pid');
    const told = join(fleet.folder, 'paused.told');
    const keepsWhatItIsTold = `process.on('SIGTERM', () => {
      fs.copyFileSync(process.env.DROVER_SIGNALS_FILE, ${JSON.stringify(told)});
      process.exit(0);
    });`;
    const id = await fleet.submit(STEADY(file) + keepsWhatItIsTold);
    const pid = await pidIn(file);
    await waitFor(
      'a checkpoint',
      async () => Number((await fleet.task(id))['progressPercent']) > 1,
    );
    await fleet.api.post(`/agent-tasks/${id}/pause`, { reason: 'the source changes' });
    await waitFor('the process to end', () => !isAlive(pid));
    expect(JSON.parse(readFileSync(told, 'utf8'))).toMatchObject({
      action: 'pause',
      reason: 'pause',
      message: 'the source changes',
    });
    await waitFor('the run to be released', async () => (await fleet.task(id))['runId'] === null);
    await fleet.api.post(`/agent-tasks/${id}/resume`, {});
    const [, from] = await nextMark(file, pid);
    expect(from).toBeGreaterThan(1);
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await worker.stop();
  });

  it('a killed worker leaves no process, and another continues its task from the checkpoint', async () => {
    const first = await fleet.startWorker('victim');
    const file = join(fleet.folder, 'victim.pid');
    const id = await fleet.submit(STEADY(file));
    const pid = await pidIn(file);
    await waitFor(
      'a checkpoint',
      async () => Number((await fleet.task(id))['progressPercent']) > 1,
    );
    first.kill('SIGKILL');
    await waitFor('its process to end', () => !isAlive(pid));
    const second = await fleet.startWorker('heir');
    const [, from] = await nextMark(file, pid);
    expect(from).toBeGreaterThan(1);
    expect(await fleet.task(id)).toMatchObject({ generation: 2, retryCount: 1 });
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await second.stop();
  });

  it('a worker continues during an outage of the server and submits the result afterwards', async () => {
    const worker = await fleet.startWorker('patient', { DROVER_WORKER_STALE_SECONDS: '60' });
    const file = join(fleet.folder, 'go');
    const id = await fleet.submit(`
      const fs = require('fs');
      const timer = setInterval(() => {
        if (!fs.existsSync(${JSON.stringify(file)})) return;
        clearInterval(timer);
        fs.writeFileSync(${JSON.stringify(`${file}.done`)}, '');
        console.log('::drover {"result": {"survived": true}}');
      }, 20);`);
    await untilStatus(id, 'RUNNING');
    server.kill('SIGKILL');
    await server.ended();
    writeFileSync(file, '');
    await waitFor('the task to finish alone', () => existsSync(`${file}.done`));
    server = await fleet.startServer();
    expect(await untilStatus(id, 'COMPLETED')).toMatchObject({
      outputResult: { survived: true },
      generation: 1,
    });
    await worker.stop();
  });

  it('a worker killed during an outage reports the usage of its run in its next process', async () => {
    const first = await fleet.startWorker('reckoning');
    const told = join(fleet.folder, 'used');
    const usage = { model: 'claude-sonnet-4', inputTokens: 40, outputTokens: 2 };
    const id = await fleet.submit(`
      setInterval(() => {
        if (!require('fs').existsSync(${JSON.stringify(told)})) return;
        console.log('::drover ' + JSON.stringify({ usage: { id: 'once', ...${JSON.stringify(usage)} } }));
      }, 20);`);
    const { runId } = await untilStatus(id, 'RUNNING');
    server.kill('SIGKILL');
    await server.ended();
    writeFileSync(told, '');
    const folder = join(fleet.folder, 'reckoning');
    await waitFor('the report to be kept', () => {
      const kept = readdirSync(folder).find((name) => name.startsWith('usage-'));
      return kept !== undefined && readFileSync(join(folder, kept), 'utf8').includes('once');
    });
    first.kill('SIGKILL');
    await first.ended();
    server = await fleet.startServer();
    const second = await fleet.startWorker('reckoning');
    await waitFor('the usage to be counted', async () => {
      const { body } = await fleet.api.get<{ items: { id: string; usedTokens: string }[] }>(
        `/agent-tasks/${id}/runs`,
      );
      return body.items.find((run) => run.id === runId)?.usedTokens === '42';
    });
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
    await second.stop();
  });

  it('a draining worker releases runs that it cannot finish and exits with 0', async () => {
    const worker = await fleet.startWorker('leaving', { DROVER_WORKER_DRAIN_SECONDS: '0' });
    const file = join(fleet.folder, 'leaving.pid');
    const id = await fleet.submit(STEADY(file));
    const pid = await pidIn(file);
    await untilStatus(id, 'RUNNING');
    worker.kill('SIGTERM');
    expect(await worker.ended()).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(await untilStatus(id, 'PENDING')).toMatchObject({ retryCount: 0 });
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
  });

  it('workers keep every invariant', async () => {
    const outcomes = await checkInvariants(fleet.db.ownerUrl);
    expect(outcomes.filter((outcome) => !outcome.holds)).toEqual([]);
  });
});
