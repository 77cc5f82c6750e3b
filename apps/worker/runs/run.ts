import { isCurable, type Log, LongTimer, messageOf } from '#lib/agent-host';
import type { ClaimedTask, FinalReport, ProgressReport, RunFailure } from '../api/types.js';
import { SpawnError } from '#lib/session-runtime';
import type { Execution, Job, JobReports, Outcome } from '../execution/job.js';
import { OutputBudget } from './output-budget.js';
import type { StateFile } from '../state/state-file.js';
import { decideFinalReport, type StopCause } from './final-report.js';
import { type NextClaims, type Reporter, RunLostError } from './reporter.js';
import type { RunFolder } from './run-folder.js';
import type { UsageOutbox } from './usage-outbox.js';

export interface RunParts {
  reporter: Reporter;
  usage: UsageOutbox;
  folder: RunFolder;
  state: StateFile;
  log: Log;
  apiUrl: string;
  graceMs: number;
  logBytes: number;
  /** @throws SpawnError */
  start: (job: Job) => Promise<Execution>;
  /** Aborted when nothing may be waited for any more. */
  giveUp: AbortSignal;
  claims: NextClaims;
}

export interface RunResult {
  /**
   * How it ended; `lost` when it was not ours any more, `undelivered` when the server
   * could not be told, `refused` when it did not want to know.
   */
  end: FinalReport | 'lost' | 'undelivered' | 'refused';
  claimed: ClaimedTask[];
}

/** One run, from the claim until the server knows its end and nothing of it is left here. */
export class Run {
  readonly id: string;
  readonly taskId: string;
  readonly startedAt = Date.now();
  /** The latest that the process said, for the heartbeat. */
  readonly latest: ProgressReport = {};
  private readonly budget: OutputBudget;
  private readonly timer = new LongTimer();
  private execution: Execution | undefined;
  private cause: StopCause | undefined;
  private causeInWords: string | undefined;
  private lost = false;
  private warned = false;
  private forceAt = Infinity;
  private over = false;

  constructor(
    private readonly claimed: ClaimedTask,
    private readonly parts: RunParts,
  ) {
    this.id = claimed.run.id;
    this.taskId = claimed.task.id;
    this.budget = new OutputBudget(parts.logBytes);
    parts.usage.open(this.id, (message) => parts.reporter.warn(message));
    parts.reporter.onLost.addEventListener('abort', () => this.onLost(parts.graceMs), {
      once: true,
    });
  }

  /** Nothing of it runs any more; only its end is still being reported. */
  get isOver(): boolean {
    return this.over;
  }

  /** Never rejects. */
  async execute(): Promise<RunResult> {
    const result = await this.attempt().catch((error: unknown) => this.unreported(error));
    if (result.end !== 'undelivered') this.forget();
    return result;
  }

  /**
   * Ends the run early, for a reason of the worker's. The first reason counts.
   *
   * @param message the same in words, for the process
   */
  stop(cause: StopCause, graceMs: number, message?: string): void {
    if (this.cause === undefined) [this.cause, this.causeInWords] = [cause, message];
    this.end(graceMs, this.cause ?? cause);
  }

  /**
   * The run seems to hang: nothing of it was heard for long after it should have ended. The process is told
   * again and again, as the server does, and the log once, for the processes that do not listen.
   */
  warn(reason: string): void {
    if (this.over) return;
    this.execution?.notify({ action: 'warn', reason });
    if (this.warned) return;
    this.warned = true;
    this.parts.log.warn('A run seems to hang', { runId: this.id });
    this.reports().log(
      'WARN',
      'It seems to hang: report progress or a checkpoint',
      'hung_warning_heard',
    );
  }

  /** The task is not ours any more: ends the run, and reports nothing. */
  lose(graceMs: number): void {
    this.onLost(graceMs);
    this.parts.reporter.lose();
  }

  /** What cannot be written down now is with the next run. */
  private forget(): void {
    const { state, log } = this.parts;
    try {
      state.removeRun(this.id);
    } catch (error) {
      log.warn('The end of a run could not be written down', { error: messageOf(error) });
    }
  }

  private async attempt(): Promise<RunResult> {
    const report = (await this.refusedToStart()) ?? (await this.performAndDecide());
    const { reporter, usage, claims, giveUp, log } = this.parts;
    this.over = true;
    try {
      await usage.close(this.id, giveUp);
      const claimed = await reporter.end(report, claims, giveUp);
      log.info('Run ended', { end: report.kind, ...endFields(report) });
      return { end: report, claimed };
    } catch (error) {
      if (isCurable(error)) await this.keep(report);
      throw error;
    }
  }

  private async keep(report: FinalReport): Promise<void> {
    const { folder, log } = this.parts;
    await folder.keepReport(report).catch((error: unknown) => {
      log.error('The report of a run could not be kept', { error: messageOf(error) });
    });
  }

  /** A task that was paused meanwhile, for one, does not start: then it is handed back. */
  private async refusedToStart(): Promise<FinalReport | undefined> {
    const { reporter, giveUp, log } = this.parts;
    const unstarted = (): FinalReport => {
      return { kind: 'release', reason: this.cause === 'pause' ? 'paused' : 'unstarted' };
    };
    if (this.cause !== undefined) return unstarted();
    try {
      await reporter.start(giveUp);
      return undefined;
    } catch (error) {
      if (error instanceof RunLostError || isCurable(error)) throw error;
      log.warn('The server refused the start', { error: messageOf(error) });
      return unstarted();
    }
  }

  private async performAndDecide(): Promise<FinalReport> {
    const { reporter } = this.parts;
    const outcome = await this.perform();
    this.timer.stop();
    reporter.write(this.budget.finish());
    return decideFinalReport({
      outcome,
      cause: this.cause,
      timeoutSeconds: this.claimed.task.timeoutSeconds,
      checkpoint: reporter.unsentCheckpoint,
    });
  }

  private unreported(error: unknown): RunResult {
    if (error instanceof RunLostError) return { end: 'lost', claimed: [] };
    this.parts.log.error('The end of a run could not be reported', { error: messageOf(error) });
    return { end: isCurable(error) ? 'undelivered' : 'refused', claimed: [] };
  }

  private async perform(): Promise<Outcome> {
    // Told to stop before anything started: no process needs to be made only to be ended.
    if (this.lost || this.cause !== undefined) return NOT_STARTED;
    try {
      const { task } = this.claimed;
      // Before anything starts, so that whatever ends this process, the next life knows what to look for.
      this.parts.state.addRun(this.id, this.taskId);
      this.execution = await this.parts.start(this.job());
      if (this.forceAt !== Infinity) this.endLate();
      if (task.timeoutSeconds) this.startTimer(task.timeoutSeconds);
      return await this.execution.outcome;
    } catch (error) {
      return { kind: 'failed', error: failureOf(error) };
    }
  }

  private startTimer(timeoutSeconds: number): void {
    this.timer.start(timeoutSeconds * 1000, () => {
      const message = `Ran longer than its ${timeoutSeconds} s`;
      this.stop('timeout', this.parts.graceMs, message);
    });
  }

  private job(): Job {
    const { run, task } = this.claimed;
    const { folder, apiUrl } = this.parts;
    return {
      runId: this.id,
      task: { ...task, inputContext: task.inputContext ?? {} },
      runToken: run.token,
      generation: run.generation,
      model: run.model ?? undefined,
      modelTier: run.modelTier ?? undefined,
      traceparent: run.traceparent ?? undefined,
      apiUrl,
      folder,
      report: this.reports(),
    };
  }

  private reports(): JobReports {
    const { reporter, usage } = this.parts;
    return {
      log: (level, line, event) => {
        const entries = this.budget.take({ level, line, event, at: Date.now() });
        if (entries.length > 0) reporter.write(entries);
      },
      progress: (report) => {
        Object.assign(this.latest, report, { checkpointData: undefined });
        reporter.progress(report);
      },
      usage: (reports) => usage.add(this.id, reports),
      refused: () => this.stop('provider_limited', this.parts.graceMs),
      asked: () => this.stop('question', this.parts.graceMs),
    };
  }

  /** It was told to end while it was being started. */
  private endLate(): void {
    const graceMs = Math.max(this.forceAt - performance.now(), 0);
    this.end(graceMs, this.cause ?? 'stale_run');
  }

  // Heard once: what a refused report makes of it later must not cut the grace period short.
  private onLost(graceMs: number): void {
    if (this.lost) return;
    this.parts.log.warn('The run is not ours any more; ending it');
    this.lost = true;
    this.end(graceMs, 'stale_run');
  }

  private end(graceMs: number, reason: string): void {
    const action = this.cause === 'pause' && !this.lost ? 'pause' : 'stop';
    this.forceAt = Math.min(this.forceAt, performance.now() + graceMs);
    const words = reason === this.cause && this.causeInWords;
    const graceSeconds = Math.round(graceMs / 1000);
    this.execution?.notify({ action, reason, ...(words && { message: words }), graceSeconds });
    this.execution?.stop(graceMs);
  }
}

const NOT_STARTED: Outcome = {
  kind: 'failed',
  error: { message: 'Stopped before it started', class: 'infrastructure', retryable: true },
};

function failureOf(error: unknown): RunFailure {
  if (!(error instanceof SpawnError)) {
    const message = `The run could not be prepared: ${messageOf(error)}`;
    return { message, class: 'infrastructure', retryable: true };
  }
  const { failureClass, message } = error;
  return { message, class: failureClass, retryable: failureClass === 'infrastructure' };
}

function endFields(report: FinalReport): Record<string, unknown> {
  if (report.kind === 'release') return { reason: report.reason };
  if (report.kind === 'complete') return {};
  if (report.kind === 'provider-limits') return { ...report.limit };
  if (report.kind === 'questions') return {};
  const { class: failureClass, exitCode, signal } = report.error;
  return { class: failureClass, exitCode, signal };
}
