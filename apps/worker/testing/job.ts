import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import type { EntryLevel, ProgressReport } from '../api/types.js';
import type { Job } from '../execution/job.js';
import type { UsageLine } from '../execution/usage-line.js';
import { RunFolder } from '../runs/run-folder.js';

export interface TestJob {
  job: Job;
  /** The folder in which the job's driver keeps its sessions. */
  workDir: string;
  entries: { level: EntryLevel; message: string; event: string; details?: JsonObject }[];
  progress: ProgressReport[];
  usage: UsageLine[];
  remove: () => void;
}

export const RUN_TOKEN = 'run-token-that-nobody-may-read';

/** A job as the worker creates it. Its reports are kept in lists. */
export function makeJob(inputContext: JsonObject, checkpointData: JsonObject = {}): TestJob {
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
    secrets: { TASK_SECRET: 'secret-of-the-task' },
    retryCount: 2,
    maxRetries: 3,
  };
  const recorded: Pick<TestJob, 'entries' | 'progress' | 'usage'> = {
    entries: [],
    progress: [],
    usage: [],
  };
  const report: Job['report'] = {
    log: (level, line, event, details) => {
      const message = typeof line === 'string' ? line : line.show();
      recorded.entries.push({ level, message, event, ...(details && { details }) });
    },
    progress: (report) => recorded.progress.push(report),
    saveProgress: (report) => Promise.resolve(void recorded.progress.push(report)),
    usage: (reports) => recorded.usage.push(...reports),
    endEarly: () => undefined,
    delivered: () => undefined,
    ask: () => Promise.reject(new Error('nobody answers here')),
    cancelQuestion: () => Promise.resolve(),
    prompt: () => Promise.resolve({ prompt: task.title }),
    credentials: () => Promise.resolve([]),
  };
  const run = {
    id: runId,
    token: RUN_TOKEN,
    generation: 3,
    model: 'a-model',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  } as Job['run'];
  return {
    ...recorded,
    workDir,
    job: { run, task, folder, report, apiUrl: 'http://127.0.0.1:1/api/v1' },
    remove: () => rmSync(workDir, { recursive: true, force: true }),
  };
}
