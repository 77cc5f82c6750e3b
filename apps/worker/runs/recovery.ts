import { isDeepStrictEqual } from 'node:util';
import {
  type HostLog,
  isCurable,
  isTransient,
  type JsonObject,
  messageOf,
  retrying,
} from '#lib/agent-host';
import { type Drivers, readRegularFile } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import type { FinalReport, LiveTask } from '../api/types.js';
import { parseObject } from '../execution/line-protocol.js';
import { readUsage, type UsageLine } from '../execution/usage-line.js';
import { removeRun } from '../state/leftovers.js';
import type { StateFile } from '../state/state-file.js';
import { MAX_OWN_FILE_BYTES, readJsonFile, RunFolder } from './run-folder.js';
import type { UsageOutbox } from './usage-outbox.js';

export interface RecoveryOptions {
  api: DroverApi;
  state: StateFile;
  usage: UsageOutbox;
  drivers: Drivers;
  workDir: string;
  keepFolders: boolean;
  log: HostLog;
  signal: AbortSignal;
}

/**
 * Settles what an earlier life of this worker left, after its processes have been killed: tells the
 * server the end of each run that it still takes for live, so that the task need not wait for its
 * lease, and removes the folders.
 */
export async function recover(options: RecoveryOptions): Promise<void> {
  const { state, usage, drivers, workDir, keepFolders, log } = options;
  const live = await liveTasksOf(options);
  for (const task of live) {
    log.info('Ending a run of an earlier life', { runId: task.runId, taskId: task.taskId });
    const undelivered = state.runs.find(task.runId)?.report;
    const folder = new RunFolder(workDir, task.runId);
    await settle(options, task.runId, undelivered ?? (await reportOfEarlierLife(folder, task)));
  }
  for (const record of state.runs.all()) {
    const runId = record.id;
    usage.add(runId, await readEarlierUsage(new RunFolder(workDir, runId).usageFile));
    if (!keepFolders) await removeRun(runId, drivers, log);
    state.runs.forget(record);
  }
}

/** What a run has used by the file of its folder in which earlier versions kept it. */
async function readEarlierUsage(path: string): Promise<UsageLine[]> {
  const file = await readRegularFile(path, MAX_OWN_FILE_BYTES);
  if (file.kind !== 'text') return [];
  return file.text.split('\n').flatMap((line) => readUsage(parseObject(line)) ?? []);
}

// Before the first heartbeat nobody else gives up on a token that is refused.
async function liveTasksOf({ api, log, signal }: RecoveryOptions): Promise<LiveTask[]> {
  const options = { log, signal, giveUpUnauthenticated: true };
  try {
    return await retrying('Asking for live runs', () => api.liveTasks(), options);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error(`The server refuses this agent: ${messageOf(error)}.`, { cause: error });
  }
}

/** From a loss to the first look, and from a look that found something, or got no answer, to the next. */
const FIRST_LOOK_MS = 1_000;
const NEXT_LOOK_MS = 3_000;

/**
 * Finds runs that the server takes for ours and that we do not know: the answer that gave them to us
 * was lost. Two looks must agree, because an answer may be under way.
 */
export class Reconciler {
  private readonly stopped = new AbortController();
  private suspects = new Set<string>();
  private soonTimer: NodeJS.Timeout | undefined;
  private interval: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: Pick<RecoveryOptions, 'api' | 'log'> & {
      bootId: string;
      /** Another process works as this agent: what is unknown here is its. */
      onReplaced: () => void;
    },
    private readonly holds: (runId: string) => boolean,
  ) {}

  start(everyMs = 30_000): void {
    this.interval = setInterval(() => void this.look(), everyMs);
  }

  /** Something was lost just now: looks without waiting for the turn. */
  soon(): void {
    this.lookIn(FIRST_LOOK_MS);
  }

  stop(): void {
    this.stopped.abort();
    clearInterval(this.interval);
    clearTimeout(this.soonTimer);
  }

  private async isReplaced(): Promise<boolean> {
    const { api, bootId } = this.options;
    const last = await api.bootId();
    return typeof last === 'string' && last !== bootId;
  }

  private lookIn(ms: number): void {
    if (this.soonTimer !== undefined || this.stopped.signal.aborted) return;
    this.soonTimer = setTimeout(() => {
      this.soonTimer = undefined;
      void this.look();
    }, ms);
  }

  private async look(): Promise<void> {
    const { api, log } = this.options;
    try {
      const unknown = (await api.liveTasks()).filter(({ runId }) => !this.holds(runId));
      if (unknown.length > 0 && (await this.isReplaced())) return this.options.onReplaced();
      const confirmed = unknown.filter(({ runId }) => this.suspects.has(runId));
      this.suspects = new Set(unknown.map(({ runId }) => runId));
      if (confirmed.length < unknown.length) this.lookIn(NEXT_LOOK_MS);
      for (const task of confirmed) {
        log.warn('Handing back a run that never reached this worker', { runId: task.runId });
        await settle({ ...this.options, signal: this.stopped.signal }, task.runId, handBack(task));
      }
    } catch (error) {
      log.debug('Could not compare the runs held with the server', { error: messageOf(error) });
      // What took the answer to a claim often takes that of the look after it.
      if (isTransient(error)) this.lookIn(NEXT_LOOK_MS);
    }
  }
}

/** Without a process there is no progress to lose: unstarted it goes back, started it has failed. */
function handBack(task: LiveTask, checkpointData?: JsonObject): FinalReport {
  if (!task.started) return { kind: 'release', reason: 'unstarted' };
  return {
    kind: 'fail',
    error: {
      message: 'The worker ended while the run was under way',
      class: 'infrastructure',
      retryable: true,
    },
    checkpointData,
  };
}

async function reportOfEarlierLife(folder: RunFolder, task: LiveTask): Promise<FinalReport> {
  return (await folder.readReport()) ?? handBack(task, await ownCheckpoint(folder));
}

/** The checkpoint file, if the process wrote it: what stood in it before is not news. */
async function ownCheckpoint(folder: RunFolder): Promise<JsonObject | undefined> {
  const input = await readJsonFile(folder.inputFile, MAX_OWN_FILE_BYTES);
  if (input.kind !== 'object') return undefined;
  const task = input.value['task'] as { checkpointData?: JsonObject } | undefined;
  const checkpoint = await folder.readCheckpoint();
  return isDeepStrictEqual(checkpoint, task?.checkpointData ?? {}) ? undefined : checkpoint;
}

async function settle(
  { api, log, signal }: Pick<RecoveryOptions, 'api' | 'log' | 'signal'>,
  runId: string,
  report: FinalReport,
): Promise<void> {
  try {
    const end = (): Promise<unknown> => api.end(runId, report);
    await retrying('Ending a run', end, { log, signal });
  } catch (error) {
    if (isCurable(error)) throw error;
    // Somebody else has settled it meanwhile, which is as good.
    log.info('The server has settled a run already', { runId, error: messageOf(error) });
  }
}
