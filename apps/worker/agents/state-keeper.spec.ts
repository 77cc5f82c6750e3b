import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { Log } from '#lib/agent-host';
import { waitFor } from '../../../test/support/wait-for.js';
import { StateKeeper } from './state-keeper.js';

let folder: string;
let saved: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-keeper-'));
  for (const name of ['state', 'work']) mkdirSync(join(folder, name));
  saved = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

test('nothing of a refused conversation replaces its kept state', async () => {
  const write = (line: string) => writeFileSync(join(folder, 'state/talk.jsonl'), `${line}\n`);
  write('first');
  const saveAgentState = () => Promise.resolve(void (saved += 1));
  const keeper = new StateKeeper({
    api: { saveAgentState },
    runId: 'run',
    taskId: 'task',
    kind: { name: 'acp', stateFiles: () => ['talk.jsonl'] },
    folder,
    workDir: '/work',
    limit: pLimit(1),
    log: new Log(() => undefined),
    warn: () => undefined,
  });
  keeper.begin('talk');
  await waitFor('the first state', () => saved === 1);
  keeper.forget();
  write('another');
  await keeper.close();
  expect(saved).toBe(1);
});
