import {
  hasCode,
  type HostLog,
  isCurable,
  isTransient,
  type JsonObject,
  messageOf,
  retrying,
} from '#lib/agent-host';
import type { DroverApi } from '../api/drover-api.js';
import type { FinalReport, LiveTask } from '../api/types.js';
import type { StateFile } from '../state/state-file.js';
import type { Remains } from './executor.js';
import { sendOrReduce } from './refused-report.js';

export interface RecoveryOptions {
  api: DroverApi;
  state: StateFile;
  /** Undefined: runs leave nothing on disk. */
  remains?: Remains;
  log: HostLog;
  signal: AbortSignal;
}

/**
 * Settles the runs of an earlier process of this worker, after its sessions were killed. It reports
 * the end of each run that the server still counts as live, so that the task does not wait for its
 * lease. It then removes the folders.
 *
 * The end is in the state of the worker alone, and usage in its outbox: a session can write any file of
 * its folder.
 */
export async function recover(options: RecoveryOptions): Promise<void> {
  const { state, remains, log } = options;
  const live = await liveTasksOf(options);
  for (const task of live) {
    const { runId, taskId, started } = task;
    log.info('Run of an earlier process found; reporting its end', { runId, taskId });
    const record = state.runs.find(runId);
    if (started) await remains?.keepFiles(runId, record);
    const lost = async () => reportWithoutProcess(task, await remains?.checkpoint(runId));
    await settle(options, runId, record?.report ?? (await lost()));
  }
  for (const record of state.runs.all()) {
    await remains?.remove(record.id);
    state.runs.forget(record);
  }
}

// Before the first heartbeat, this call alone decides about a refused token.
async function liveTasksOf({ api, log, signal }: RecoveryOptions): Promise<LiveTask[]> {
  const options = { log, signal, giveUpUnauthenticated: true };
  try {
    return await retrying('live runs', () => api.liveTasks(), options);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error(`The server refuses this agent: ${messageOf(error)}.`, { cause: error });
  }
}

const INTERVAL_MS = 30_000;
/** The time from a loss to the first look. */
const FIRST_LOOK_MS = 1_000;
/** The time to the next look, after one that found a run or failed. */
const NEXT_LOOK_MS = 3_000;

/**
 * Finds runs that the server counts as ours and that we do not know: the answer that assigned them
 * was lost. Two looks must agree, because an answer can be under way.
 */
export class Reconciler {
  private readonly stopped = new AbortController();
  private suspects = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private interval: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: Pick<RecoveryOptions, 'api' | 'log'> & {
      bootId: string;
      /** Another process works as this agent and owns the unknown runs. */
      onReplaced: () => void;
    },
    private readonly holds: (runId: string) => boolean,
  ) {}

  start(): void {
    this.interval = setInterval(() => void this.compare(), INTERVAL_MS);
  }

  /** An answer was lost just now: looks before the next interval. */
  compareSoon(): void {
    this.compareIn(FIRST_LOOK_MS);
  }

  stop(): void {
    this.stopped.abort();
    clearInterval(this.interval);
    clearTimeout(this.timer);
  }

  private async isReplaced(): Promise<boolean> {
    const { api, bootId } = this.options;
    const last = await api.bootId();
    return typeof last === 'string' && last !== bootId;
  }

  private compareIn(ms: number): void {
    if (this.timer !== undefined || this.stopped.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.compare();
    }, ms);
  }

  private async compare(): Promise<void> {
    const { api, log } = this.options;
    try {
      const unknown = (await api.liveTasks()).filter(({ runId }) => !this.holds(runId));
      if (unknown.length > 0 && (await this.isReplaced())) return this.options.onReplaced();
      const confirmed = unknown.filter(({ runId }) => this.suspects.has(runId));
      this.suspects = new Set(unknown.map(({ runId }) => runId));
      if (confirmed.length < unknown.length) this.compareIn(NEXT_LOOK_MS);
      for (const task of confirmed) {
        log.warn('Run that never reached this worker found; returning it', { runId: task.runId });
        await settle(
          { ...this.options, signal: this.stopped.signal },
          task.runId,
          reportWithoutProcess(task),
        );
      }
    } catch (error) {
      log.debug('Comparison of runs with the server failed', { error: messageOf(error) });
      // A network failure that loses a claim's answer often loses the next look, too.
      if (isTransient(error)) this.compareIn(NEXT_LOOK_MS);
    }
  }
}

/**
 * Without a process there is no progress to lose: an unstarted run is released, a started one has
 * failed.
 */
function reportWithoutProcess(task: LiveTask, checkpointData?: JsonObject): FinalReport {
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

/** The server expects no end of the run any more. */
const SETTLED = ['stale_run', 'run_not_found', 'agent_terminated'] as const;

async function settle(
  { api, log, signal }: Pick<RecoveryOptions, 'api' | 'log' | 'signal'>,
  runId: string,
  report: FinalReport,
): Promise<void> {
  const send = (final: FinalReport) =>
    retrying('run end', () => api.end(runId, final), { log, signal });
  try {
    await sendOrReduce(report, send, log);
  } catch (error) {
    if (isCurable(error)) throw error;
    const fields = { runId, error: messageOf(error) };
    // Another process has settled it meanwhile, which is as good.
    if (hasCode(error, ...SETTLED)) log.info('Run already settled by the server', fields);
    else log.error('Run end refused by the server', fields);
  }
}
