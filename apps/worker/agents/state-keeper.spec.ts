import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import pLimit from 'p-limit';
import { Log } from '#lib/agent-host';
import { type AgentState, unpackState } from '#lib/agent-sessions';
import { waitFor } from '../../../test/support/wait-for.js';
import { StateKeeper } from './state-keeper.js';

let folder: string;
let saved: AgentState[];
let calls: number;
let warnings: string[];
/** Replaces the upload of a state. */
let upload: ((signal: AbortSignal) => Promise<void>) | undefined;
let keeper: StateKeeper;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-keeper-'));
  for (const name of ['state', 'work']) mkdirSync(join(folder, name));
  [saved, calls, warnings, upload] = [[], 0, [], undefined];
  keeper = new StateKeeper({
    api: {
      saveAgentState: async (_, packed, signal) => {
        await upload?.(signal);
        saved.push(await unpackState(packed));
      },
    },
    runId: 'run',
    taskId: 'task',
    kind: { name: 'acp', stateFiles: () => ['talk.jsonl'] },
    folder,
    workDir: '/work',
    upTo: () => ({ runId: 'run', calls }),
    limit: pLimit(1),
    log: new Log(() => undefined),
    warn: (message) => void warnings.push(message),
  });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const write = (line: string) => writeFileSync(join(folder, 'state/talk.jsonl'), `${line}\n`);

test('nothing of a refused conversation replaces its kept state', async () => {
  write('first');
  keeper.begin('talk');
  await waitFor('the first state', () => saved.length === 1);
  keeper.forget();
  write('another');
  await keeper.close();
  expect(saved).toHaveLength(1);
});

test('a small state is kept at once after a tool call, with the calls that it has', async () => {
  // Its rest never ends by itself, and no work takes time.
  jest.useFakeTimers({ doNotFake: ['performance', 'nextTick', 'queueMicrotask', 'setImmediate'] });
  jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  write('first');
  keeper.begin('talk');
  await waitFor('the first state', () => saved.length === 1);
  calls = 7;
  write('first\nsecond');
  keeper.finished();
  await waitFor('the second state', () => saved.length === 2);
  expect(saved.map(({ upTo }) => upTo?.calls)).toEqual([0, 7]);
  await keeper.close();
});

test('the end breaks off an upload without a warning, and keeps the last state', async () => {
  let isUnderWay = false;
  upload = async (signal) => {
    isUnderWay = true;
    await once(signal, 'abort');
    upload = undefined;
    signal.throwIfAborted();
  };
  write('first');
  keeper.begin('talk');
  await waitFor('an upload', () => isUnderWay);
  await keeper.close();
  expect([saved.length, warnings]).toEqual([1, []]);
});
