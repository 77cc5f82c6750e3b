import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltProcess } from '../support/processes.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { mayMount, SmallDisk } from './harness/small-disk.js';

const describeAsRoot = mayMount ? describe : describe.skip;

/** The worker calls a disk full below 16 MiB. */
const DISK_MB = 32;
const ON_SMALL_DISK = { requiredCapabilities: ['small-disk'], maxRetries: 0 };

describeAsRoot('a worker whose disk is full', () => {
  let disk: SmallDisk;
  let fleet: TestFleet;
  let worker: BuiltProcess;

  beforeAll(async () => {
    disk = await SmallDisk.mount(DISK_MB);
    fleet = await TestFleet.create();
    await fleet.startServer();
    worker = await fleet.startWorker('full', {
      DROVER_WORKER_DATA_DIR: disk.folder,
      DROVER_WORKER_CONCURRENCY: '3',
      DROVER_WORKER_CAPABILITIES: 'small-disk',
    });
  });

  afterAll(async () => {
    await fleet.stop();
    await disk.unmount();
  });

  /** A process that waits for a file, and then runs the script in the folder of its run. */
  const begin = async (name: string, script: string): Promise<string> => {
    const path = JSON.stringify(join(fleet.folder, name));
    const id = await fleet.submit(
      `const fs = require('fs');
      const timer = setInterval(() => {
        if (!fs.existsSync(${path})) return;
        clearInterval(timer);
        ${script}
      }, 50);`,
      { maxRetries: 0 },
    );
    await waitFor(`${name} to run`, async () => (await status(id)) === 'RUNNING');
    return id;
  };
  const letGo = (name: string) => writeFile(join(fleet.folder, name), '');
  const status = async (id: string) => (await fleet.task(id))['status'];
  const untilStatus = (id: string, wanted: string) =>
    waitFor(`${id} to be ${wanted}`, async () => (await status(id)) === wanted);
  const endsOf = async (id: string) => {
    type Page = { items: { state: string; endReason: string }[] };
    const { body } = await fleet.api.get<Page>(`/agent-tasks/${id}/runs`);
    return body.items.map(({ state, endReason }) => `${state} ${endReason}`).sort();
  };

  it('tasks that meet the full disk of a worker move to another one at no attempt', async () => {
    const ends = await begin('ends', '');
    const writes = await begin('writes', `fs.writeFileSync('data', Buffer.alloc(1048576));`);
    await disk.fill();
    const unprepared = await fleet.submit('0', { maxRetries: 0 });
    await waitFor('its release', async () =>
      (await endsOf(unprepared)).includes('RELEASED disk_full'),
    );
    await worker.said('Claims paused: the disk is full');
    await letGo('writes');
    await waitFor('the other release', async () => (await status(writes)) === 'PENDING');
    await letGo('ends');
    await untilStatus(ends, 'COMPLETED');
    expect(await endsOf(ends)).toEqual(['COMPLETED completed']);
    // The only worker with a free slot claims neither of them, until another one comes.
    expect([await status(unprepared), await status(writes)]).toEqual(['PENDING', 'PENDING']);
    await fleet.startWorker('roomy');
    for (const id of [unprepared, writes]) {
      await untilStatus(id, 'COMPLETED');
      expect(await fleet.task(id)).toMatchObject({ generation: 2, retryCount: 0 });
      expect(await endsOf(id)).toEqual(['COMPLETED completed', 'RELEASED disk_full']);
    }
    const waiting = await fleet.submit('0', ON_SMALL_DISK);
    await disk.empty();
    await untilStatus(waiting, 'COMPLETED');
    expect(worker.count('The disk has space again')).toBe(1);
    expect(worker.count('Stopped')).toBe(0);
  });

  it('a task that fills the disk itself fails with the class disk', async () => {
    const chunk = 'Buffer.alloc(1048576)';
    const greedy = `for (let n = 0; ; n++) require('fs').writeFileSync('data' + n, ${chunk});`;
    const id = await fleet.submit(greedy, ON_SMALL_DISK);
    await untilStatus(id, 'FAILED');
    expect(await endsOf(id)).toEqual(['FAILED disk']);
    expect((await fleet.task(id))['lastError']).toMatch(/Its files filled the disk of the worker/);
    const next = await fleet.submit('0', ON_SMALL_DISK);
    await untilStatus(next, 'COMPLETED');
  });
});
