import {
  hasCode,
  type HostLog,
  isCurable,
  messageOf,
  Outbox,
  type Reports,
  retrying,
} from '#lib/agent-host';
import { withAnySignal } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { ClaimedTask, FinalReport, LogEntry, ProgressReport } from '../api/types.js';
import { withoutDetails } from './refused-report.js';

const GATHER_MS = 200;
const MAX_BATCH_ENTRIES = 200;
/** Characters of one request: in UTF-8 and JSON they stay under the server's 1 MiB. */
const MAX_BATCH_CHARACTERS = 128 * 1024;

/** How the end of a run claims the next tasks. */
export interface NextClaims {
  /** How many to ask for. Asked before each attempt: by the time the server answers again, the worker may drain. */
  claimNext(): number;
  /** A report that asked for tasks was not taken, as far as the worker knows. */
  claimFailed(error: unknown): void;
}

/** The run is not its task's live one any more: nothing of it is accepted, and nothing is owed. */
export class RunLostError extends Error {}

/**
 * Reports one run to the server. Of progress and checkpoints it keeps the latest alone; the writer bounds the log.
 * Nothing here waits for the server but `start` and `end`.
 */
export class Reporter {
  private readonly lost = new AbortController();
  /** Progress that waits: each later report replaces members of the ones before. */
  private waiting: ProgressReport = {};
  /** Progress that was sent, and may not have arrived. */
  private sent: ProgressReport = {};
  private readonly entries: LogEntry[] = [];
  private readonly progressOutbox: Outbox<ProgressReport>;
  private readonly logOutbox: Outbox<LogEntry>;

  constructor(
    private readonly api: DroverApi,
    private readonly runId: string,
    private readonly log: HostLog,
  ) {
    const gather = { ms: GATHER_MS, count: MAX_BATCH_ENTRIES };
    this.progressOutbox = new Outbox(this.progressReports(), { what: 'report', log, gather });
    this.logOutbox = new Outbox(this.logReports(), { what: 'report', log, gather });
  }

  /** Aborted when the run is lost. */
  get onLost(): AbortSignal {
    return this.lost.signal;
  }

  /** The server, or a signal from it, said that the run is not live any more. */
  lose(): void {
    this.lost.abort();
    this.progressOutbox.stop();
    this.logOutbox.stop();
  }

  progress(report: ProgressReport): void {
    Object.assign(this.waiting, report);
    this.progressOutbox.notice();
  }

  write(entries: LogEntry[]): void {
    this.entries.push(...entries);
    this.logOutbox.notice();
  }

  /** For the author of the work, who looks into the run's log, not into the worker's. */
  warn(message: string): void {
    const text = message.slice(0, 1_000).toWellFormed();
    this.write([{ level: 'WARN', message: text, event: 'worker', at: new Date().toISOString() }]);
  }

  /**
   * Waits until the server knows that the run has started: before that, nobody may work on it.
   *
   * @throws RunLostError when the run is somebody else's
   */
  async start(giveUp: AbortSignal): Promise<void> {
    await this.retry('Reporting the start', () => this.api.start(this.runId), giveUp);
  }

  /**
   * Delivers the rest of the log, and then the end of the run. Progress that waits is dropped, since the
   * end has it. Progress that was sent must have arrived before: after the end it would be stale.
   *
   * @throws RunLostError when the run is not live any more; the last error when `giveUp` is aborted
   */
  async end(report: FinalReport, claims: NextClaims, giveUp: AbortSignal): Promise<ClaimedTask[]> {
    this.waiting = {};
    await this.progressOutbox.flush(giveUp);
    await this.logOutbox.flush(giveUp);
    const send = (final: FinalReport) => () => this.sendEnd(final, claims);
    try {
      return await this.retry('Reporting the end', send(report), giveUp);
    } catch (error) {
      const reduced = withoutDetails(report, error);
      if (reduced === undefined || isCurable(error)) throw error;
      this.log.warn('The server refused the report of the end', { error: messageOf(error) });
      return this.retry('Reporting the end', send(reduced), giveUp);
    }
  }

  /** The checkpoint that the server does not have yet. */
  get unsentCheckpoint(): ProgressReport['checkpointData'] {
    return this.waiting.checkpointData ?? this.sent.checkpointData;
  }

  private progressReports(): Reports<ProgressReport> {
    return {
      next: () => [{ ...this.sent, ...this.waiting }].filter((one) => Object.keys(one).length > 0),
      send: async ([report = {}]) => {
        [this.waiting, this.sent] = [{}, report];
        await this.unlessLost(this.api.progress(this.runId, report));
      },
      forget: () => void (this.sent = {}),
      settleRefused: (report, error) => {
        this.sent = {};
        this.warnOperator('progress', error);
        const what = report.checkpointData === undefined ? 'progress' : 'a checkpoint';
        this.warn(`The server refused ${what}: ${messageOf(error)}`);
      },
    };
  }

  private logReports(): Reports<LogEntry> {
    return {
      next: () => firstBatch(this.entries),
      send: (entries) => this.unlessLost(this.api.logs(this.runId, entries)),
      forget: ({ length }) => void this.entries.splice(0, length),
      settleRefused: (_, error) => {
        this.entries.shift();
        this.warnOperator('a log entry', error);
      },
    };
  }

  private async sendEnd(report: FinalReport, claims: NextClaims): Promise<ClaimedTask[]> {
    const wanted = claims.claimNext();
    try {
      return await this.api.end(this.runId, report, wanted);
    } catch (error) {
      if (wanted > 0) claims.claimFailed(error);
      throw error;
    }
  }

  private async unlessLost(call: Promise<unknown>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (!isLost(error)) throw error;
      this.lose();
    }
  }

  private warnOperator(what: string, error: unknown): void {
    this.log.warn(`The server refused ${what} of a run`, { error: messageOf(error) });
  }

  private retry<T>(what: string, call: () => Promise<T>, giveUp: AbortSignal): Promise<T> {
    return withAnySignal([this.lost.signal, giveUp], async (signal) => {
      try {
        if (this.lost.signal.aborted) throw new RunLostError('The run is not live any more');
        return await retrying(what, call, { log: this.log, signal });
      } catch (error) {
        if (isLost(error)) this.lose();
        if (this.lost.signal.aborted) throw new RunLostError(messageOf(error));
        throw error;
      }
    });
  }
}

function isLost(error: unknown): boolean {
  return hasCode(error, 'stale_run', 'run_not_found', 'agent_terminated');
}

/** @returns the first entries that fit one request; at least one when there is any */
export function firstBatch(entries: readonly LogEntry[]): LogEntry[] {
  let characters = 0;
  const end = entries.slice(0, MAX_BATCH_ENTRIES).findIndex((entry) => {
    characters += entry.message.length;
    return characters > MAX_BATCH_CHARACTERS;
  });
  if (end === -1) return entries.slice(0, MAX_BATCH_ENTRIES);
  return entries.slice(0, Math.max(end, 1));
}
