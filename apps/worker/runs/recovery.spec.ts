import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { Drivers } from '#lib/session-runtime';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import type { DroverApi } from '../api/drover-api.js';
import type { FinalReport } from '../api/types.js';
import { FolderRemains } from '../execution/folder-remains.js';
import { recordOf, StateFile } from '../state/state-file.js';
import { recover } from './recovery.js';
import { RunFolder } from './run-folder.js';

let logged: string[] = [];
const log = new Log((text) => void logged.push(text));
let top: string;

beforeEach(() => {
  logged = [];
  top = mkdtempSync(join(tmpdir(), 'drover-recovery-'));
});
afterEach(() => rmSync(top, { recursive: true }));

/** Lets a worker restart after a run whose session wrote files, and the end of its run itself. */
async function restartAfter({
  hasUsage = false,
  answer,
  ...facts
}: {
  hasUsage?: boolean;
  /** The answer of the server to the first report. */
  answer?: Error;
  isCode?: boolean;
  report?: FinalReport;
}) {
  const [agentId, runId] = [newId(), newId()];
  const [dataDir, workDir] = [join(top, 'data'), join(top, 'runs')];
  const { runs } = StateFile.open(dataDir, agentId, log);
  runs.add({ ...recordOf(runId, newId(), facts), report: facts.report });
  const { root, artifacts, work } = new RunFolder(workDir, runId);
  for (const folder of [artifacts, work]) mkdirSync(folder, { recursive: true });
  const forged = { kind: 'submit', change: { headCommit: 'f'.repeat(40) } };
  writeFileSync(join(root, 'final-report.json'), JSON.stringify(forged));
  if (hasUsage) writeFileSync(join(root, 'usage.jsonl'), '{}');
  writeFileSync(join(artifacts, 'change.diff'), 'forged');
  writeFileSync(join(work, 'notes.md'), 'notes');
  const refusals = answer === undefined ? [] : [answer];
  const ends: FinalReport[] = [];
  const kept: string[] = [];
  const api = {
    liveTasks: () => Promise.resolve([{ runId, taskId: 'task', started: true }]),
    saveArtifact: (_: string, { name }: { name: string }) => Promise.resolve(void kept.push(name)),
    end: (_: string, report: FinalReport) => {
      const refused = refusals.shift();
      return refused ? Promise.reject(refused) : Promise.resolve(void ends.push(report));
    },
  };
  const { signal } = new AbortController();
  const drivers = new Drivers({ dir: workDir }, { process: { searchPath: '' } });
  const options = { api: api as unknown as DroverApi, log, signal };
  await recover({
    ...options,
    state: StateFile.open(dataDir, agentId, log),
    remains: new FolderRemains({ ...options, drivers, workDir, keepFolders: false }),
  });
  return { ends, kept, runId };
}

test('the end of a killed run that its session wrote is ignored', async () => {
  const { ends, kept } = await restartAfter({ isCode: true });
  expect(ends).toMatchObject([{ kind: 'fail', error: { class: 'infrastructure' } }]);
  expect(kept).toEqual([]);
});

test('the end in the state of the worker is delivered with the files of the run', async () => {
  const report: FinalReport = { kind: 'complete', outputResult: { pages: 8 } };
  const { ends, kept } = await restartAfter({ isCode: false, report });
  expect(ends).toEqual([report]);
  expect(kept).toEqual(['change.diff', 'notes.md']);
});

test('an end whose details the server refuses is delivered without them', async () => {
  const report: FinalReport = { kind: 'complete', outputResult: { pages: 8 } };
  const { ends } = await restartAfter({ report, answer: refusal(413, 'body_too_large') });
  expect(ends).toEqual([
    {
      kind: 'fail',
      error: expect.objectContaining({ class: 'exit_code', retryable: false }),
    },
  ]);
});

test('a record that names no kind of run keeps no working folder', async () => {
  expect((await restartAfter({})).kept).toEqual([]);
});

test('usage that a worker of an earlier version left in a folder is named, and not read', async () => {
  const warnings = (id: string) =>
    logged.filter((text) => /warn.*Usage of a run/i.test(text) && text.includes(id));
  const { runId } = await restartAfter({ hasUsage: true });
  expect(warnings(runId)).toHaveLength(1);
  expect(warnings((await restartAfter({})).runId)).toEqual([]);
});
