import { isCurable, LiveSession, type Log, messageOf, type StopCause } from '#lib/agent-host';
import { SpawnError } from '#lib/session-runtime';
import type {
  ClaimedTask,
  FinalReport,
  Heard,
  ProgressReport,
  RunFailure,
  RunMessage,
} from '../api/types.js';
import type { Job, JobReports, Outcome, RunningJob } from '../execution/job.js';
import { recordOf, type RunRecord, type StateFile } from '../state/state-file.js';
import { type DiskSpace, isNoSpace } from './disk-space.js';
import { decideFinalReport, type RunStopKind } from './final-report.js';
import { OutputBudget } from './output-budget.js';
import { timeForFiles } from './patience.js';
import { type NextClaims, type Reporter, RunLostError } from './reporter.js';
import type { RunFolder } from './run-folder.js';
import type { UsageOutbox } from './usage-outbox.js';

export interface RunParts {
  reporter: Reporter;
  usage: UsageOutbox;
  folder: RunFolder;
  disk: DiskSpace;
  memory: StateFile['runs'];
  log: Log;
  apiUrl: string;
  /** Null: no limit. */
  timeoutSeconds: number | null;
  graceSeconds: number;
  /** True if its working folder is one of a repository. */
  isCode: boolean;
  logBytes: number;
  /** The kind of the driver that will start the job. @throws SpawnError */
  driverOf: (job: Job) => string;
  /** @throws SpawnError, and another error if the signal aborts */
  start: (job: Job, signal: AbortSignal) => Promise<RunningJob>;
  /** Aborted when nobody may wait for the server any more. */
  giveUp: AbortSignal;
  claims: NextClaims;
  /** Sends the files of the run to the server. Never rejects. */
  keepFiles: (mostMs: number, warn: (message: string) => void) => Promise<void>;
}

export interface RunResult {
  /**
   * The end of the run. `lost`: it was no longer ours. `undelivered`: the server did not get the
   * report. `refused`: the server refused the report.
   */
  end: FinalReport | 'lost' | 'undelivered' | 'refused';
  claimed: ClaimedTask[];
}

type Why = Pick<StopCause, 'reason' | 'message'>;

/** A report was refused. Its answer does not name the reason. */
const STALE: Why = { reason: 'stale_run' };

/** The run returns to the server without a start. */
class Unstarted extends Error {}

/** One run, from the claim until the server knows its end and nothing of it is left here. */
export class Run {
  readonly id: string;
  readonly taskId: string;
  readonly taskTitle: string;
  readonly claimedAt = Date.now();
  /** The latest progress of the process, for the heartbeat. */
  readonly latest: ProgressReport = {};
  private readonly record: RunRecord;
  private readonly live: LiveSession<Outcome, RunningJob>;
  /** The position of the last message. */
  private heardUpTo = 0;
  /** True if its task is paused, and its job ends after the current turn. */
  private pausesAfterTurn = false;
  /** Messages that came before the job could hear them. */
  private readonly early: RunMessage[] = [];
  private readonly budget: OutputBudget;
  private hasKept = false;

  constructor(
    private readonly claimed: ClaimedTask,
    private readonly parts: RunParts,
  ) {
    const { run, task } = claimed;
    const { memory, reporter, usage, timeoutSeconds, graceSeconds, isCode, logBytes } = parts;
    this.id = run.id;
    this.taskId = task.id;
    this.taskTitle = task.title;
    this.record = recordOf(run.id, task.id, { timeoutSeconds, graceSeconds, isCode });
    this.live = new LiveSession(this.record, () => memory.save(this.record));
    this.budget = new OutputBudget(logBytes, (task.agent ?? null) !== null);
    reporter.onLost.addEventListener('abort', () => this.endLost(graceSeconds * 1000));
    usage.open(this.id, (message) => reporter.warn(message));
  }

  /** True if a signal of the server can still change its end. */
  get wantsSignals(): boolean {
    const { stopping } = this.record;
    return !this.live.hasEnded && stopping?.kind !== 'lost' && stopping?.kind !== 'timeout';
  }

  /** The last message that it has; undefined if its job hears none. */
  get heard(): Heard | undefined {
    const { agent } = this.claimed.task;
    if (agent === undefined || agent === null || !this.wantsSignals) return undefined;
    const { pausesAfterTurn } = this;
    return {
      runId: this.id,
      position: this.heardUpTo,
      ...(pausesAfterTurn && { pausesAfterTurn }),
    };
  }

  /** Passes a message on, once. */
  hear(message: RunMessage): void {
    if (message.position <= this.heardUpTo) return;
    this.heardUpTo = message.position;
    const { work } = this.live;
    if (work === undefined) this.early.push(message);
    else work.hear?.(message);
  }

  /** The run is released after the current turn of its agent, if that is wanted. */
  pauseAfterTurn(isWanted: boolean): void {
    if (this.pausesAfterTurn === isWanted) return;
    this.pausesAfterTurn = isWanted;
    this.parts.log.info('Pause after the turn', { isWanted });
    this.live.work?.pauseAfterTurn?.(isWanted);
  }

  /** Never rejects. */
  async execute(): Promise<RunResult> {
    const result = await this.perform().then(
      (report) => this.deliver(report),
      (error: unknown) => this.withoutReport(error),
    );
    if (result.end === 'lost') await this.keepFiles();
    if (result.end !== 'undelivered') this.parts.memory.forget(this.record);
    return result;
  }

  /** Stops the run early. The first reason counts. */
  stop(cause: StopCause, graceMs: number): void {
    this.live.stop(cause, graceMs);
  }

  /**
   * `hung`: the server has heard nothing of the run for long after its expected end. `budget`: a
   * budget of its task is nearly used up, which the log of a run that reports usage has already.
   */
  warn(reason: string): void {
    if (!this.live.warn(reason) || reason !== 'hung') return;
    this.parts.log.warn('Run seems to hang', { runId: this.id });
    const message = 'It seems to hang: report progress or a checkpoint';
    this.reports().log('WARN', message, 'hung_warning_heard');
  }

  /** The task is no longer ours, for this reason: ends the run, and reports nothing. */
  lose(graceMs: number, why = STALE): void {
    this.endLost(graceMs, why);
    this.parts.reporter.lose();
  }

  /**
   * @throws RunLostError, or a curable error if nobody may wait for the server any more
   */
  private async perform(): Promise<FinalReport> {
    const ended = await this.live.run((signal) => this.start(signal)).catch(outcomeOf);
    const outcome = ended && (await this.parts.disk.attribute(ended, this.parts.folder.root));
    const cause = this.record.stopping?.kind as RunStopKind | undefined;
    if (outcome === undefined) {
      return { kind: 'release', reason: cause === 'pause' ? 'paused' : 'unstarted' };
    }
    if (outcome.kind === 'displaced') {
      this.reports().log('WARN', 'Released: the disk of the worker is full', 'disk_full');
    }
    this.parts.reporter.write(this.budget.finish());
    const { timeoutSeconds } = this.record;
    const checkpoint = this.parts.reporter.unsentCheckpoint;
    return decideFinalReport({ outcome, cause, timeoutSeconds, checkpoint });
  }

  private async start(signal: AbortSignal): Promise<RunningJob> {
    const { memory, driverOf, start } = this.parts;
    await this.reportStart();
    // A process that would only be ended need not be started.
    if (this.record.stopping !== null) {
      throw new SpawnError('infrastructure', 'Stopped before it started');
    }
    const job = this.job();
    this.record.driver = driverOf(job);
    this.record.startedAt = new Date().toISOString();
    // Recorded before the start, so that a restarted worker knows the session in any case.
    memory.add(this.record);
    this.live.limitTime();
    const work = await start(job, signal);
    for (const message of this.early.splice(0)) work.hear?.(message);
    if (this.pausesAfterTurn) work.pauseAfterTurn?.(true);
    return work;
  }

  /**
   * If the server refuses the start, for example of a task that was paused meanwhile, the run is
   * released.
   */
  private async reportStart(): Promise<void> {
    const { reporter, giveUp, log } = this.parts;
    if (this.record.stopping !== null) throw new Unstarted();
    try {
      await reporter.start(giveUp);
    } catch (error) {
      if (error instanceof RunLostError || isCurable(error)) throw error;
      log.warn('Run start refused', { error: messageOf(error) });
      throw new Unstarted();
    }
  }

  private async deliver(report: FinalReport): Promise<RunResult> {
    const { reporter, usage, claims, giveUp, log } = this.parts;
    try {
      // Before the end, so that a completed task has its files.
      await this.keepFiles();
      await usage.close(this.id, giveUp);
      const claimed = await reporter.end(report, claims, giveUp);
      log.info('Run ended', { end: report.kind, ...endFields(report) });
      return { end: report, claimed };
    } catch (error) {
      if (isCurable(error)) this.storeReport(report);
      return this.withoutReport(error);
    }
  }

  /** Sends the files once, of a session that has ended and started. */
  private async keepFiles(): Promise<void> {
    if (this.record.startedAt === null || this.hasKept) return;
    this.hasKept = true;
    const mostMs = timeForFiles(this.record);
    await this.parts.keepFiles(mostMs, (message) => this.parts.reporter.warn(message));
  }

  /** Stores the report for a restarted worker. */
  private storeReport(report: FinalReport): void {
    const { memory, log } = this.parts;
    this.record.report = report;
    try {
      memory.add(this.record);
    } catch (error) {
      log.error('Run report not stored', { error: messageOf(error) });
    }
  }

  private withoutReport(error: unknown): RunResult {
    if (error instanceof RunLostError) return { end: 'lost', claimed: [] };
    this.parts.log.error('Run end not reported', { error: messageOf(error) });
    return { end: isCurable(error) ? 'undelivered' : 'refused', claimed: [] };
  }

  private job(): Job {
    const { run, task } = this.claimed;
    const { folder, apiUrl } = this.parts;
    const inputContext = task.inputContext ?? {};
    return { run, task: { ...task, inputContext }, apiUrl, folder, report: this.reports() };
  }

  private reports(): JobReports {
    const { reporter, usage, graceSeconds, giveUp } = this.parts;
    return {
      log: (level, line, event, details) => {
        const entries = this.budget.admit({ level, line, event, details, at: Date.now() });
        if (entries.length > 0) reporter.write(entries);
      },
      progress: (report) => {
        Object.assign(this.latest, report, { checkpointData: undefined });
        reporter.progress(report);
      },
      saveProgress: (report) => {
        Object.assign(this.latest, report, { checkpointData: undefined });
        return reporter.saveProgress(report, giveUp);
      },
      usage: (reports) => usage.add(this.id, reports),
      endEarly: (kind) => this.stop({ kind, reason: kind }, graceSeconds * 1000),
      delivered: (positions) => reporter.delivered(positions),
      ask: (question) => reporter.ask(question, giveUp),
      cancelQuestion: () => reporter.cancelQuestion(giveUp),
      prompt: (start) => reporter.prompt(start, giveUp),
      credentials: () => reporter.credentials(giveUp),
    };
  }

  private endLost(graceMs: number, { reason, message }: Why = STALE): void {
    if (this.record.stopping?.kind === 'lost') return;
    this.parts.log.warn('Run lost; ending it');
    const words = message === undefined ? {} : { message };
    this.live.stop({ kind: 'lost', reason, ...words }, graceMs);
  }
}

/**
 * @returns undefined for a run that has not started
 */
function outcomeOf(error: unknown): Outcome | undefined {
  if (error instanceof Unstarted) return undefined;
  if (error instanceof RunLostError || isCurable(error)) throw error;
  if (isNoSpace(error)) return { kind: 'displaced' };
  return { kind: 'failed', error: failureOf(error) };
}

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
  if (report.kind === 'complete' || report.kind === 'submit') return {};
  if (report.kind === 'provider-limits') return { ...report.limit };
  if (report.kind === 'questions') return {};
  const { class: failureClass, exitCode, signal } = report.error;
  return { class: failureClass, exitCode, signal };
}
