import { hasCode, type HostLog, messageOf, Outbox, type Reports, retrying } from '#lib/agent-host';
import { type HostCredential, withAnySignal } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type {
  ClaimedTask,
  FinalReport,
  FirstWords,
  LogEntry,
  ProgressReport,
  Question,
  RunPrompt,
} from '../api/types.js';
import { sendOrReduce } from './refused-report.js';

const GATHER_MS = 200;
const MAX_BATCH_ENTRIES = 200;
/**
 * The maximum of one request, in characters: in UTF-8 and JSON they stay below the server's 1 MiB.
 */
const MAX_BATCH_CHARACTERS = 128 * 1024;

/** The server accepts as many in one request. */
const MAX_RECEIPTS = 1_000;

/** The longest time for which progress waits for the lines before it. */
const LINES_FIRST_MS = 2_000;
/** The longest time for which lines wait for the progress before them. */
const PROGRESS_FIRST_MS = 2_000;

/** The claims for the next tasks with the report of a run's end. */
export interface NextClaims {
  /**
   * The number of tasks to claim. It is asked before each attempt, since the worker can start to
   * drain while the server is away.
   */
  claimNext(): number;
  /** A report with a claim failed, as far as the worker knows. */
  claimFailed(error: unknown): void;
}

/**
 * The run is no longer the live run of its task: the server accepts nothing of it, and expects
 * nothing.
 */
export class RunLostError extends Error {}

/**
 * Reports one run to the server. It keeps only the latest progress and checkpoint. The writer
 * limits the log. Only `start` and `end` wait for the server.
 */
export class Reporter {
  private readonly lost = new AbortController();
  /** Progress to send: each later report replaces members of the earlier ones. */
  private waiting: ProgressReport = {};
  /** Progress that was sent, but has possibly not arrived. */
  private sent: ProgressReport = {};
  /** The refusals of progress. */
  private readonly refusals: unknown[] = [];
  private readonly entries: LogEntry[] = [];
  /** The number of entries that have left `entries`. */
  private settledEntries = 0;
  /** The numbers of entries that were written before the waiting progress, and before the sent one. */
  private readonly linesBefore = { waiting: 0, sent: 0 };
  /** Sent progress has failed, or gets no answer, so lines do not wait for it. */
  private isProgressLate = false;
  private readonly progressOutbox: Outbox<ProgressReport>;
  private readonly logOutbox: Outbox<LogEntry>;
  /** Positions of messages that the program has received. */
  private readonly received: number[] = [];
  private readonly receiptOutbox: Outbox<number>;

  constructor(
    private readonly api: DroverApi,
    private readonly runId: string,
    private readonly log: HostLog,
  ) {
    const gather = { ms: GATHER_MS, count: MAX_BATCH_ENTRIES };
    this.progressOutbox = new Outbox(this.progressReports(), { what: 'report', log, gather });
    this.logOutbox = new Outbox(this.logReports(), { what: 'report', log, gather });
    this.receiptOutbox = new Outbox(this.receipts(), { what: 'report', log });
  }

  /** Aborted when the run is lost. */
  get onLost(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * The server, or a signal from it, reports that the run is no longer live. The log goes on: after a
   * question of the agent the server takes the last lines, and else it refuses them.
   */
  lose(): void {
    this.lost.abort();
    this.progressOutbox.stop();
    this.receiptOutbox.stop();
    this.logOutbox.wake();
  }

  progress(report: ProgressReport): void {
    Object.assign(this.waiting, report);
    this.linesBefore.waiting = this.settledEntries + this.entries.length;
    this.progressOutbox.wake();
  }

  /**
   * Waits until the server has this progress.
   *
   * @throws RunLostError, or the server's refusal
   */
  async saveProgress(report: ProgressReport, giveUp: AbortSignal): Promise<void> {
    const before = this.refusals.length;
    this.progress(report);
    await this.progressOutbox.flush(giveUp);
    if (this.lost.signal.aborted) throw new RunLostError('The run is not live any more');
    if (this.refusals.length > before) throw this.refusals.at(-1);
  }

  write(entries: LogEntry[]): void {
    this.entries.push(...entries);
    this.logOutbox.wake();
  }

  delivered(positions: readonly number[]): void {
    this.received.push(...positions);
    this.receiptOutbox.wake();
  }

  /**
   * Asks people a question for whose answer the run waits.
   *
   * @throws RunLostError, or the server's refusal
   */
  async ask(question: Question, giveUp: AbortSignal): Promise<{ id: string }> {
    return this.retry('question', () => this.api.ask(this.runId, question), giveUp);
  }

  /** @throws RunLostError, or the server's refusal */
  async cancelQuestion(giveUp: AbortSignal): Promise<void> {
    await this.retry('question', () => this.api.cancelQuestion(this.runId), giveUp);
  }

  /** @throws RunLostError, or the server's refusal */
  async prompt(start: RunPrompt, giveUp: AbortSignal): Promise<FirstWords> {
    const create = () => this.api.createPrompt(this.runId, start);
    return this.retry('prompt', create, giveUp);
  }

  /** @throws RunLostError, or the server's refusal */
  async credentials(giveUp: AbortSignal): Promise<HostCredential[]> {
    return this.retry('credentials', () => this.api.hostCredentials(this.runId), giveUp);
  }

  /** Warns the author of the work, who reads the run's log and not the worker's. */
  warn(message: string): void {
    const text = message.slice(0, 1_000).toWellFormed();
    this.write([{ level: 'WARN', message: text, event: 'worker', at: new Date().toISOString() }]);
  }

  /**
   * Waits until the server knows that the run has started. Before this, nobody can work on it.
   *
   * @throws RunLostError if the run belongs to another agent
   */
  async start(giveUp: AbortSignal): Promise<void> {
    await this.retry('run start', () => this.api.start(this.runId), giveUp);
  }

  /**
   * Delivers the rest of the log and the receipts of messages, and then the end of the run. Unsent
   * progress is dropped, since the end contains it. Sent progress must arrive first: after the end
   * it would be stale.
   *
   * @throws RunLostError if the run is no longer live; the last error if `giveUp` is aborted
   */
  async end(report: FinalReport, claims: NextClaims, giveUp: AbortSignal): Promise<ClaimedTask[]> {
    this.waiting = {};
    await this.progressOutbox.flush(giveUp);
    await this.logOutbox.flush(giveUp);
    await this.receiptOutbox.flush(giveUp);
    const send = (final: FinalReport) =>
      this.retry('run end', () => this.sendEnd(final, claims), giveUp);
    return sendOrReduce(report, send, this.log);
  }

  /** The checkpoint that the server does not have yet. */
  get unsentCheckpoint(): ProgressReport['checkpointData'] {
    return this.waiting.checkpointData ?? this.sent.checkpointData;
  }

  private progressReports(): Reports<ProgressReport> {
    return {
      next: () => [{ ...this.sent, ...this.waiting }].filter((one) => !isEmpty(one)),
      send: async ([report = {}]) => {
        if (!isEmpty(this.waiting)) this.linesBefore.sent = this.linesBefore.waiting;
        [this.waiting, this.sent] = [{}, report];
        await this.sendLinesUpTo(this.linesBefore.sent);
        const timer = setTimeout(() => this.freeLines(), PROGRESS_FIRST_MS);
        try {
          await this.unlessLost(this.api.progress(this.runId, report));
        } catch (error) {
          this.freeLines();
          throw error;
        } finally {
          clearTimeout(timer);
        }
      },
      forget: () => {
        this.settleProgress();
        this.logOutbox.wake();
      },
      settleRefused: (report, error) => {
        this.settleProgress();
        this.refusals.push(error);
        this.warnOperator('progress', error);
        const what = report.checkpointData === undefined ? 'progress' : 'a checkpoint';
        this.warn(`The server refused ${what}: ${messageOf(error)}`);
      },
    };
  }

  private logReports(): Reports<LogEntry> {
    return {
      next: () => firstBatch(this.entries, this.unheldEntries()),
      send: async (entries) => {
        const isTaken = await this.unlessLost(this.api.logs(this.runId, entries));
        if (!isTaken) this.logOutbox.stop();
      },
      forget: ({ length }) => this.settleEntries(length),
      settleRefused: (_, error) => {
        this.settleEntries(1);
        this.warnOperator('log entry', error);
      },
    };
  }

  private settleProgress(): void {
    [this.sent, this.isProgressLate] = [{}, false];
  }

  private freeLines(): void {
    this.isProgressLate = true;
    this.logOutbox.wake();
  }

  private settleEntries(count: number): void {
    this.settledEntries += this.entries.splice(0, count).length;
  }

  /**
   * The task's log shows lines and progress in the order of their arrival. Late progress holds no
   * line back.
   */
  private unheldEntries(): number {
    const { waiting, sent } = this.linesBefore;
    const isFree = this.lost.signal.aborted || this.isProgressLate;
    if (isFree || (isEmpty(this.sent) && isEmpty(this.waiting))) return this.entries.length;
    return (isEmpty(this.sent) ? waiting : sent) - this.settledEntries;
  }

  /** A line that the server does not take delays no checkpoint for long. */
  private sendLinesUpTo(count: number): Promise<void> {
    const giveUp = [this.lost.signal, AbortSignal.timeout(LINES_FIRST_MS)];
    const isDone = () => this.settledEntries >= count;
    return withAnySignal(giveUp, (signal) => this.logOutbox.flush(signal, isDone));
  }

  private receipts(): Reports<number> {
    return {
      next: () => this.received.slice(0, MAX_RECEIPTS),
      send: async (positions) => {
        // The log shows a message behind the entries that were written before it.
        const last = this.entries.at(-1);
        const isSent = () => last === undefined || !this.entries.includes(last);
        await this.logOutbox.flush(this.lost.signal, isSent);
        await this.unlessLost(this.api.delivered(this.runId, positions));
      },
      forget: ({ length }) => void this.received.splice(0, length),
      settleRefused: (_, error) => {
        this.received.shift();
        this.warnOperator('receipt of a message', error);
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

  /** @returns false if the server takes no such report of the run any more */
  private async unlessLost(call: Promise<unknown>): Promise<boolean> {
    try {
      await call;
      return true;
    } catch (error) {
      if (!isLost(error)) throw error;
      this.lose();
      return false;
    }
  }

  private warnOperator(what: string, error: unknown): void {
    this.log.warn(`Run ${what} refused`, { error: messageOf(error) });
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

function isEmpty(report: ProgressReport): boolean {
  return Object.keys(report).length === 0;
}

/**
 * @returns the first entries, `count` at most, that fit into one request; at least one if there is any
 */
export function firstBatch(entries: readonly LogEntry[], count = entries.length): LogEntry[] {
  const first = entries.slice(0, Math.min(Math.max(count, 0), MAX_BATCH_ENTRIES));
  let characters = 0;
  const end = first.findIndex((entry) => {
    characters += entry.message.length;
    return characters > MAX_BATCH_CHARACTERS;
  });
  return end === -1 ? first : first.slice(0, Math.max(end, 1));
}
