import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

/** Two workers that are one agent. */

let fleet: TestFleet;
let first: BuiltProcess;
let folder: string;
let begun: string;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
});

afterAll(() => fleet.stop());

const status = async (id: string) => (await fleet.task(id))['status'];
const go = () => join(folder, 'go');
/** The first worker must not count as dead while others start on a busy machine. */
const env = (more: Record<string, string> = {}) => ({
  DROVER_WORKER_DATA_DIR: folder,
  DROVER_WORKER_STALE_SECONDS: '60',
  ...more,
});

const runsFolder = () => readdirSync(folder).find((name) => name.startsWith('runs-of-')) as string;

async function begin(more: Record<string, string> = {}): Promise<void> {
  first = await fleet.startWorker('twice', env(more));
  begun = await fleet.submit(
    `setInterval(() => require('fs').existsSync('${go()}') && process.exit(0), 50)`,
  );
  await waitFor('it to run', async () => (await status(begun)) === 'RUNNING');
}

async function expectUndisturbed(): Promise<void> {
  expect(await fleet.task(begun)).toMatchObject({ status: 'RUNNING', retryCount: 0 });
  writeFileSync(go(), '');
  await waitFor('it to complete', async () => (await status(begun)) === 'COMPLETED');
  await first.stop();
}

beforeEach(() => {
  folder = join(fleet.folder, newId());
});

describe('a second worker', () => {
  it('a second worker with the same agent ID is refused, and the first continues', async () => {
    const id = { DROVER_AGENT_ID: newId() };
    await begin(id);
    const second = fleet.startWorker('again', { ...id, DROVER_WORKER_DATA_DIR: `${folder}-2` });
    await expect(second).rejects.toThrow(
      /Another worker runs as this agent: Process \d+ on .* another DROVER_AGENT_ID/,
    );
    await expectUndisturbed();
  });

  it('a worker on a copied folder of another machine is refused', async () => {
    await begin();
    cpSync(folder, `${folder}-2`, { recursive: true });
    // On another machine, the processes of the first worker's runs do not exist.
    rmSync(join(`${folder}-2`, runsFolder()), { recursive: true });
    const name = readdirSync(`${folder}-2`).find((one) => one.startsWith('agent-')) as string;
    const file = join(`${folder}-2`, name);
    const state = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>;
    const owner = { ...state['owner'], startTicks: 1 };
    const life = { ...state['life'], machine: 'another one' };
    writeFileSync(file, JSON.stringify({ ...state, owner, life }));
    const second = fleet.startWorker('twice', { DROVER_WORKER_DATA_DIR: `${folder}-2` });
    await expect(second).rejects.toThrow(/Another worker runs as this agent/);
    await expectUndisturbed();
  });

  it('the next process of a killed worker is accepted at once', async () => {
    await begin({ DROVER_WORKER_HEARTBEAT_SECONDS: '20' });
    first.kill('SIGKILL');
    await first.ended();
    const next = await fleet.startWorker('twice', env());
    expect(next.count('Agent in use by another process; waiting until that one is gone')).toBe(0);
    await next.stop();
  });
});
