import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import type { ProcessRef } from '#lib/runtime';
import type { EntryLevel, JsonObject, ProgressReport } from '../api/types.js';
import type { Job } from '../executor/executor.js';
import { RunFolder } from '../runs/run-folder.js';

export interface TestJob {
  job: Job;
  entries: { level: EntryLevel; message: string; event: string }[];
  progress: ProgressReport[];
  leader: () => ProcessRef | undefined;
  remove: () => void;
}

export const RUN_TOKEN = 'run-token-that-nobody-may-read';

/** A job as the worker would make it, whose reports are kept in lists. */
export async function makeJob(
  inputContext: JsonObject,
  checkpointData: JsonObject = {},
): Promise<TestJob> {
  const workDir = mkdtempSync(join(tmpdir(), 'drover-job-test-'));
  const runId = newId();
  const folder = new RunFolder(workDir, runId);
  const task = {
    id: newId(),
    title: 'a test',
    taskType: 'test',
    priority: 5,
    inputContext,
    checkpointData,
    retryCount: 2,
    maxRetries: 3,
  };
  await folder.create({ inputContext, task }, checkpointData);
  const made: Pick<TestJob, 'entries' | 'progress'> = { entries: [], progress: [] };
  let leader: ProcessRef | undefined;
  const report: Job['report'] = {
    log: (level, line, event) => {
      const message = typeof line === 'string' ? line : line.show();
      made.entries.push({ level, message, event });
    },
    progress: (said) => made.progress.push(said),
    started: (ref) => (leader = ref),
  };
  const rest = { runToken: RUN_TOKEN, generation: 3, apiUrl: 'http://127.0.0.1:1/api/v1' };
  return {
    ...made,
    job: { runId, task, folder, report, ...rest },
    leader: () => leader,
    remove: () => rmSync(workDir, { recursive: true, force: true }),
  };
}
