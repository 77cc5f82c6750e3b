import {
  Failures,
  hasCode,
  type HostLog,
  isTransient,
  isUnauthenticated,
  messageOf,
  pause,
  retrying,
} from '#lib/agent-host';
import { withAnySignal } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { ClaimedTask, FinalReport, LogEntry, ProgressReport } from '../api/types.js';
import { withoutDetails } from './refused-report.js';

/** How long reports gather, so that many become one request. */
const GATHER_MS = 200;
const MAX_BATCH_ENTRIES = 200;
/** Characters of one request: in UTF-8 and JSON they stay under the server's 1 MiB. */
const MAX_BATCH_CHARACTERS = 128 * 1024;

/** How a run's end takes the next tasks along. */
export interface NextClaims {
  /** How many to ask for. Asked before each attempt: by the time the server answers again, we may be draining. */
  claimNext(): number;
  /** A report that asked for some was not taken, as far as we know. */
  claimFailed(error: unknown): void;
}

/** The run is not its task's live one any more: nothing of it is accepted, and nothing is owed. */
export class RunLostError extends Error {}

/**
 * Reports one run to the server, in order, and keeps undelivered reports until it can. Of progress and
 * checkpoints only the latest are kept; the writer bounds the log. Nothing here waits for the server but
 * `start` and `end`.
 */
export class Reporter {
  private readonly lost = new AbortController();
  private pending: ProgressReport = {};
  private entries: LogEntry[] = [];
  private wake: (() => void) | undefined;
  private closing = false;
  private readonly gathering = new AbortController();
  private pumping: Promise<void> | undefined;
  private readonly failures: Failures;

  constructor(
    private readonly api: DroverApi,
    private readonly runId: string,
    private readonly log: HostLog,
  ) {
    this.failures = new Failures('report', log);
  }

  /** Aborted when the run is lost. */
  get onLost(): AbortSignal {
    return this.lost.signal;
  }

  /** The server, or a signal from it, said that the run is not live any more. */
  lose(): void {
    this.lost.abort();
    this.gathering.abort();
    this.wake?.();
  }

  progress(report: ProgressReport): void {
    Object.assign(this.pending, report);
    this.wake?.();
  }

  write(entries: LogEntry[]): void {
    this.entries.push(...entries);
    this.wake?.();
  }

  /** For the author of the work, who looks into the run's log, not into the worker's. */
  warn(message: string): void {
    const text = message.slice(0, 1_000).toWellFormed();
    this.write([{ level: 'WARN', message: text, event: 'worker', at: new Date().toISOString() }]);
  }

  /**
   * Waits until the server knows that the run has started: before that, nobody may work on it.
   *
   * @throws RunLostError when it is somebody else's
   */
  async start(giveUp: AbortSignal): Promise<void> {
    await this.retry('Reporting the start', () => this.api.start(this.runId), giveUp);
    this.pumping = this.pump();
  }

  /**
   * Delivers the rest of the log, and the end of the run. What was pending of progress is dropped or
   * goes with it.
   *
   * @throws RunLostError when the run is not live any more; the last error when `giveUp` is aborted
   */
  async end(report: FinalReport, claims: NextClaims, giveUp: AbortSignal): Promise<ClaimedTask[]> {
    this.pending = {};
    this.closing = true;
    this.gathering.abort();
    this.wake?.();
    await settledOrAborted(this.pumping, giveUp);
    return this.deliver(report, claims, giveUp);
  }

  /** The checkpoint that the server does not have yet. */
  get unsentCheckpoint(): ProgressReport['checkpointData'] {
    return this.pending.checkpointData;
  }

  private async deliver(
    report: FinalReport,
    claims: NextClaims,
    giveUp: AbortSignal,
  ): Promise<ClaimedTask[]> {
    const send = (final: FinalReport) => () => this.sendEnd(final, claims);
    try {
      return await this.retry('Reporting the end', send(report), giveUp);
    } catch (error) {
      const reduced = withoutDetails(report, error);
      if (reduced === undefined || isTransient(error) || isUnauthenticated(error)) throw error;
      this.log.warn('The server refused the report of the end', { error: messageOf(error) });
      return this.retry('Reporting the end', send(reduced), giveUp);
    }
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

  private async pump(): Promise<void> {
    while (!this.lost.signal.aborted) {
      if (this.hasWork()) {
        if (!this.closing) await pause(GATHER_MS, this.gathering.signal);
        await this.sendSome();
      } else if (this.closing) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }

  private hasWork(): boolean {
    return this.entries.length > 0 || Object.keys(this.pending).length > 0;
  }

  private async sendSome(): Promise<void> {
    try {
      await this.sendProgress();
      await this.sendEntries();
      this.failures.end();
    } catch (error) {
      if (isLost(error)) return this.lose();
      await pause(this.failures.add(error), this.lost.signal);
    }
  }

  private async sendProgress(): Promise<void> {
    const taken = this.pending;
    if (Object.keys(taken).length === 0) return;
    this.pending = {};
    try {
      await this.api.progress(this.runId, taken);
    } catch (error) {
      if (this.isRefused(error, 'progress')) {
        const what = taken.checkpointData === undefined ? 'progress' : 'a checkpoint';
        return this.warn(`The server refused ${what}: ${messageOf(error)}`);
      }
      // A value that came meanwhile is newer.
      if (!this.closing) this.pending = { ...taken, ...this.pending };
      throw error;
    }
  }

  private async sendEntries(): Promise<void> {
    const batch = firstBatch(this.entries);
    if (batch.length === 0) return;
    try {
      await this.api.logs(this.runId, batch);
    } catch (error) {
      if (!this.isRefused(error, 'log entries')) throw error;
    }
    this.entries.splice(0, batch.length);
  }

  /** Refused, and would be again: kept, it would stand in the way of everything behind it. */
  private isRefused(error: unknown, what: string): boolean {
    if (isLost(error) || isTransient(error) || isUnauthenticated(error)) return false;
    this.log.warn(`The server refused ${what} of a run`, { error: messageOf(error) });
    return true;
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

/** Waits for the work, which never rejects, unless nothing may be waited for any more. */
export async function settledOrAborted(work: Promise<void> | undefined, signal: AbortSignal) {
  await withAnySignal([signal], async (ended) => {
    const aborted = new Promise((resolve) => ended.addEventListener('abort', resolve));
    if (!ended.aborted) await Promise.race([work, aborted]);
  });
}
