import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltProcess } from '../support/processes.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { mayMount, SmallDisk } from './harness/small-disk.js';

const describeAsRoot = mayMount ? describe : describe.skip;

describeAsRoot('a worker whose disk is full', () => {
  let disk: SmallDisk;
  let fleet: TestFleet;
  let worker: BuiltProcess;

  beforeAll(async () => {
    disk = await SmallDisk.mount(1);
    fleet = await TestFleet.create();
    await fleet.startServer();
    worker = await fleet.startWorker('full', {
      DROVER_WORKER_DATA_DIR: disk.folder,
      DROVER_WORKER_CONCURRENCY: '2',
    });
  });

  afterAll(async () => {
    await fleet.stop();
    await disk.unmount();
  });

  const status = async (id: string) => (await fleet.task(id))['status'];

  it('a worker with a full disk fails new runs, ends begun runs and recovers when there is room', async () => {
    const go = join(fleet.folder, 'go');
    const script = `setInterval(() => require('fs').existsSync('${go}') && process.exit(0), 50)`;
    const begun = await fleet.submit(script);
    await waitFor('it to run', async () => (await status(begun)) === 'RUNNING');
    await disk.fill();
    const refused = await fleet.submit('0', { maxRetries: 0 });
    await waitFor('the other one to fail', async () => (await status(refused)) === 'FAILED');
    const { lastError } = await fleet.task(refused);
    expect(lastError).toMatch(/could not be (made|prepared)/);
    expect(await status(begun)).toBe('RUNNING');
    await writeFile(go, '');
    await waitFor('the first one to complete', async () => (await status(begun)) === 'COMPLETED');
    expect(worker.count('Stopped')).toBe(0);
    await disk.empty();
    const next = await fleet.submit('0', { priority: 10 });
    await waitFor('the next one to complete', async () => (await status(next)) === 'COMPLETED');
  });
});
