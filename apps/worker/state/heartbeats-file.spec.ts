import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log } from '#lib/agent-host';
import { projectVersion } from '#lib/kernel';
import { HeartbeatsFile, type SlotWork } from './heartbeats-file.js';

type Slot = Record<string, unknown>;

const START = Date.parse('2026-02-12T00:00:00Z');
let home: string;
let works: Record<string, SlotWork | undefined>;
const lines: string[] = [];
const files: HeartbeatsFile[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-heartbeats-'));
  works = {};
  lines.length = 0;
  jest.useFakeTimers({ now: START, doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(async () => {
  await Promise.all(files.splice(0).map((file) => file.stop('end-of-test')));
  jest.useRealTimers();
  rmSync(home, { recursive: true, force: true });
});

function worker(name: string, restartCount = 0): HeartbeatsFile {
  const log = new Log((line) => lines.push(line));
  const file = new HeartbeatsFile({ home, name, restartCount, log, work: () => works[name] });
  files.push(file);
  return file;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

const readAll = () =>
  (
    JSON.parse(readFileSync(join(home, 'worker-heartbeats.json'), 'utf8')) as {
      workers: Record<string, Slot>;
    }
  ).workers;

const WORK = {
  taskId: 'task-abc123-1770865000000',
  taskTitle: 'Review code changes for PR #42',
  runId: 'run-1',
  startedAt: START - 1_000,
};

test('the file has the fields of each worker that shares it', async () => {
  works['slot-2'] = WORK;
  worker('slot-1').start();
  await settle();
  worker('slot-2', 1).start();
  await settle();
  const workerVersion = projectVersion();
  const times = { lastUpdate: START, startedAt: START };
  expect(readAll()).toEqual({
    'slot-1': {
      slot: 'slot-1',
      status: 'idle',
      task: null,
      taskTitle: null,
      sessionId: null,
      ...times,
      metadata: { workerPid: process.pid, workerVersion, restartCount: 0 },
    },
    'slot-2': {
      slot: 'slot-2',
      status: 'working',
      task: WORK.taskId,
      taskTitle: WORK.taskTitle,
      sessionId: WORK.runId,
      ...times,
      metadata: {
        workerPid: process.pid,
        workerVersion,
        restartCount: 1,
        taskStartedAt: WORK.startedAt,
      },
    },
  });
  expect(readdirSync(home).sort()).toEqual(['worker-heartbeats', 'worker-heartbeats.json']);
});

test('a working worker writes every 15 s, an idle one every 30 s, and a change is written at once', async () => {
  const file = worker('slot-1');
  file.start();
  await jest.advanceTimersByTimeAsync(0);
  const updates = new Set<unknown>();
  const watch = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) {
      await jest.advanceTimersByTimeAsync(1_000);
      updates.add((Number(readAll()['slot-1']?.['lastUpdate']) - START) / 1_000);
    }
  };
  await watch(61);
  works['slot-1'] = WORK;
  file.update();
  await watch(31);
  expect([...updates]).toEqual([0, 30, 60, 61, 76, 91]);
});

test('a stopped worker is offline, and a restarted one keeps the time of its first start', async () => {
  const first = worker('slot-3');
  first.start();
  await settle();
  await first.stop('graceful-shutdown');
  expect(readAll()['slot-3']).toMatchObject({
    status: 'offline',
    metadata: { workerPid: null, offlineReason: 'graceful-shutdown' },
  });
  jest.setSystemTime(START + 5_000);
  worker('slot-3', 1).start();
  await settle();
  expect(readAll()['slot-3']).toMatchObject({
    status: 'idle',
    startedAt: START,
    lastUpdate: START + 5_000,
    metadata: { restartCount: 1 },
  });
});

test('a worker without updates is offline after 90 s, and gone after a day', async () => {
  works['killed'] = WORK;
  worker('killed').start();
  await settle();
  const slots = join(home, 'worker-heartbeats', 'killed.json');
  const killed = readFileSync(slots, 'utf8');
  await files.pop()?.stop('never-written-by-a-killed-worker');
  writeFileSync(slots, killed);
  const seenBy = async (name: string, at: number) => {
    jest.setSystemTime(at);
    worker(name).start();
    await settle();
    return readAll()['killed'];
  };
  expect(await seenBy('other', START + 90_000)).toMatchObject({ status: 'working' });
  expect(await seenBy('another', START + 90_001)).toMatchObject({
    status: 'offline',
    task: null,
    metadata: { offlineReason: 'stale-heartbeat', detectedAt: START + 90_000 },
  });
  expect(await seenBy('later', START + 86_400_001)).toBeUndefined();
});

test('a folder that cannot be written is logged once', async () => {
  rmSync(home, { recursive: true });
  writeFileSync(home, 'a file is in the way');
  const file = worker('slot-1');
  file.start();
  await settle();
  file.update();
  await settle();
  await file.stop('graceful-shutdown');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('The file of heartbeats cannot be written');
});
