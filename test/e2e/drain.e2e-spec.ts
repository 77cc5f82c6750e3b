import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkInvariants } from '#lib/invariants';
import { TestFleet } from '../support/fleet.js';
import { nextMark } from '../support/marks.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

let fleet: TestFleet;
const workers: BuiltProcess[] = [];

beforeAll(async () => {
  fleet = await TestFleet.create();
  await fleet.startServer();
});

afterEach(() => {
  // A process that has not ended by itself would drain for an hour.
  for (const worker of workers.splice(0)) worker.kill('SIGKILL');
});

afterAll(() => fleet.stop());

interface Job {
  id: string;
  /** The file with the process id and the latest run's starting point. */
  mark: string;
  /** The file with the signals that the process had received when it was asked to end. */
  signals: string;
  /** Releases the process, so that it finishes. */
  go: string;
}

/**
 * Works until it is released or asked to end. Then it saves its progress, unless it ignores the
 * request.
 */
async function aJob(name: string, { ignores = false } = {}): Promise<Job> {
  const mark = join(fleet.folder, name);
  const [signals, go] = [`${mark}.signals`, `${mark}.go`];
  const id = await fleet.submit(`
    const fs = require('fs');
    const { DROVER_CHECKPOINT_FILE: checkpoint, DROVER_SIGNALS_FILE: signals } = process.env;
    let { n = 0 } = JSON.parse(fs.readFileSync(checkpoint, 'utf8'));
    const save = () => fs.writeFileSync(checkpoint, JSON.stringify({ n }));
    process.on('SIGTERM', () => {
      fs.copyFileSync(signals, ${JSON.stringify(signals)});
      if (${ignores}) return;
      save();
      process.exit(0);
    });
    fs.writeFileSync(${JSON.stringify(mark)}, process.pid + ' ' + n + '\\n');
    n += 1000;
    if (${ignores}) save();
    setInterval(() => { if (fs.existsSync(${JSON.stringify(go)})) process.exit(0); }, 20);`);
  return { id, mark, signals, go };
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);
const letGo = ({ go }: Job) => writeFileSync(go, '');

async function untilStatus({ id }: Job, status: string): Promise<Record<string, unknown>> {
  return waitFor(`${id} to be ${status}`, async () => {
    const task = await fleet.task(id);
    return task['status'] === status && task;
  });
}

async function held(job: Job): Promise<number> {
  const [pid] = await nextMark(job.mark);
  await untilStatus(job, 'RUNNING');
  return pid as number;
}

async function runsOf({ id }: Job): Promise<Record<string, unknown>[]> {
  const { body } = await fleet.api.get<{ items: Record<string, unknown>[] }>(
    `/agent-tasks/${id}/runs`,
  );
  return body.items;
}

/** Another worker resumes the task at its checkpoint. */
async function expectToGoOn(job: Job, pid: number): Promise<void> {
  const heir = await aWorker(`heir-of-${job.id}`);
  expect((await nextMark(job.mark, pid))[1]).toBe(1000);
  letGo(job);
  expect(await untilStatus(job, 'COMPLETED')).toMatchObject({ generation: 2, retryCount: 0 });
  await stopped(heir);
}

async function aWorker(name: string, env: Record<string, string> = {}): Promise<BuiltProcess> {
  const worker = await fleet.startWorker(name, env);
  workers.push(worker);
  return worker;
}

async function stopped(worker: BuiltProcess): Promise<void> {
  worker.kill('SIGTERM');
  expect(await worker.ended()).toBe(0);
}

describe('a worker that is asked to end', () => {
  it('a draining worker finishes short runs, and longer runs continue elsewhere from a checkpoint', async () => {
    const worker = await aWorker('leaving', {
      DROVER_WORKER_CONCURRENCY: '2',
      DROVER_WORKER_DRAIN_SECONDS: '2',
    });
    const [finishes, outlasts] = [await aJob('finishes'), await aJob('outlasts')];
    const pids = [await held(finishes), await held(outlasts)] as const;
    const waiting = await aJob('waiting');
    worker.kill('SIGTERM');
    await worker.said('Stopping');
    letGo(finishes);
    expect(await untilStatus(finishes, 'COMPLETED')).toMatchObject({ generation: 1 });
    expect(await worker.ended()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(JSON.parse(readFileSync(outlasts.signals, 'utf8'))).toMatchObject({
      action: 'stop',
      reason: 'drain',
      graceSeconds: 2,
    });
    expect(await untilStatus(outlasts, 'PENDING')).toMatchObject({ retryCount: 0 });
    expect(await runsOf(outlasts)).toMatchObject([{ state: 'RELEASED', endReason: 'drain' }]);
    expect(await fleet.task(waiting.id)).toMatchObject({ status: 'PENDING', generation: 0 });
    letGo(waiting);
    await expectToGoOn(outlasts, pids[1]);
    await untilStatus(waiting, 'COMPLETED');
  });

  it('a worker that is asked to finish claims nothing more and sets its run no deadline', async () => {
    const env = { DROVER_WORKER_DRAIN_SECONDS: '0', DROVER_WORKER_GRACE_SECONDS: '0' };
    const worker = await aWorker('finishing', env);
    const job = await aJob('under-way');
    const pid = await held(job);
    const waiting = await aJob('unclaimed');
    worker.kill('SIGUSR2');
    await worker.said('Stopping');
    letGo(job);
    expect(await worker.ended()).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(await untilStatus(job, 'COMPLETED')).toMatchObject({ generation: 1 });
    expect(await fleet.task(waiting.id)).toMatchObject({ status: 'PENDING', generation: 0 });
    await fleet.api.post(`/agent-tasks/${waiting.id}/cancel`, {});
  });

  it('a second signal to a worker ends its runs at once and releases them', async () => {
    const worker = await aWorker('hurried', { DROVER_WORKER_DRAIN_SECONDS: '3600' });
    const job = await aJob('stubborn', { ignores: true });
    const pid = await held(job);
    await waitFor('the checkpoint', async () => {
      const { n } = (await fleet.task(job.id))['checkpointData'] as { n?: number };
      return n === 1000;
    });
    worker.kill('SIGTERM');
    await worker.said('Stopping');
    worker.kill('SIGTERM');
    expect(await worker.ended()).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(await untilStatus(job, 'PENDING')).toMatchObject({ retryCount: 0 });
    await expectToGoOn(job, pid);
  });

  it('a third signal ends a worker and its processes, and its next start reports their ends', async () => {
    const env = { DROVER_WORKER_DRAIN_SECONDS: '3600', DROVER_WORKER_GRACE_SECONDS: '3600' };
    const worker = await aWorker('furious', env);
    const job = await aJob('abandoned', { ignores: true });
    const pid = await held(job);
    await waitFor('the checkpoint', async () => {
      const { n } = (await fleet.task(job.id))['checkpointData'] as { n?: number };
      return n === 1000;
    });
    for (let signals = 0; signals < 3; signals++) {
      worker.kill('SIGTERM');
      await worker.said('Stopping');
      // Signals of one kind that arrive together reach a process once.
      await waitFor('the signal', () => worker.count('Stop requested') > signals);
    }
    expect(await worker.ended()).toBe(1);
    await waitFor('its process to end', () => !isAlive(pid));
    const next = await aWorker('furious', env);
    expect((await nextMark(job.mark, pid))[1]).toBe(1000);
    letGo(job);
    expect(await untilStatus(job, 'COMPLETED')).toMatchObject({ generation: 2 });
    await stopped(next);
  });

  it('draining workers keep every invariant', async () => {
    const outcomes = await checkInvariants(fleet.db.ownerUrl);
    expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
  });
});
