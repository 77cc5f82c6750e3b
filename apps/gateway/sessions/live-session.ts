import { type HostLog, LongTimer, messageOf } from '#lib/agent-host';
import { parseTraceparent } from '#lib/kernel';
import {
  type Recovered,
  type RuntimeDriver,
  type RuntimeSession,
  type SessionExit,
  SpawnError,
} from '#lib/session-runtime';
import type {
  PendingReport,
  SessionError,
  SessionRecord,
  StopCause,
  Stopping,
} from './domain/session.js';
import { ENDED_WITHOUT_COMPLETING, judgeExit } from './domain/verdict.js';
import type { SessionBook } from './session-book.js';

export interface LiveParts {
  driver: RuntimeDriver;
  book: SessionBook;
  logger: HostLog;
  /** There is something to report to the server. */
  onReport: () => void;
}

/** One session that takes a place: from its start, or its adoption, to its end. */
export class LiveSession {
  private session: RuntimeSession | undefined;
  private readonly timer = new LongTimer();
  private readonly exitTimer = new LongTimer();
  private readonly ids: ReturnType<typeof idsOf>;
  private warned = false;

  constructor(
    private readonly record: SessionRecord,
    private readonly parts: LiveParts,
  ) {
    this.ids = idsOf(record);
  }

  /** Starts the session and follows it. Resolves when nothing of it is left. Never rejects. */
  async run(): Promise<void> {
    const { record } = this;
    const { order } = record;
    record.status = 'STARTING';
    record.driver = this.parts.driver.kind;
    this.save();
    try {
      if (order === null) throw new SpawnError('infrastructure', 'The command of it is lost');
      const { task, ...rest } = order;
      const files = {
        DROVER_TASK_FILE: { name: 'task.json', content: JSON.stringify(task) },
        DROVER_WORK_DIR: { name: 'work' },
      };
      const session = await this.parts.driver.spawn({ id: record.id, ...rest, files });
      await this.follow(session);
    } catch (error) {
      this.fail(toSessionError(error));
    }
    await this.cleanUp();
  }

  /** Goes on with what an earlier life has started. Resolves and rejects as `run`. */
  async resume(found: Exclude<Recovered, { kind: 'absent' }>): Promise<void> {
    if (found.kind === 'running') await this.follow(found.session);
    else if (found.kind === 'failed') this.fail(toSessionError(found.error));
    else {
      this.noteStart(found.pid, found.startedAt ?? found.exit.endedAt);
      this.finish(found.exit);
    }
    await this.cleanUp();
  }

  /** May be called again: the earliest deadline counts, and the first cause. */
  stop(cause: StopCause, graceSeconds: number): void {
    const { record } = this;
    const forceAt = new Date(Date.now() + graceSeconds * 1000).toISOString();
    if (record.stopping !== null && record.stopping.forceAt <= forceAt) return;
    record.stopping = { ...(record.stopping ?? cause), forceAt };
    this.save();
    this.obey(record.stopping);
  }

  /** Its run is complete: it may take its time to exit by itself, and is asked to only then. */
  letExit(exitSeconds: number, graceSeconds: number): void {
    const { record } = this;
    if (record.exitBy !== undefined) return;
    record.exitBy = new Date(Date.now() + exitSeconds * 1000).toISOString();
    this.save();
    this.parts.logger.info('run completed', { ...this.ids, exitBy: record.exitBy });
    this.limitExit(graceSeconds);
  }

  /** It seems to hang. Told again and again, as the server does, and logged once. */
  warn(reason: string): void {
    if (!this.warned) this.parts.logger.warn('session warned', { ...this.ids, reason });
    this.warned = true;
    this.session?.notify({ action: 'warn', reason });
  }

  lastActivityAt(): string | undefined {
    return this.session?.lastActivityAt();
  }

  private async follow(session: RuntimeSession): Promise<void> {
    this.session = session;
    this.noteStart(session.pid, session.startedAt);
    this.limitTime();
    this.limitExit(this.record.graceSeconds);
    if (this.record.stopping !== null) this.obey(this.record.stopping);
    const exit = await session.exit;
    this.timer.stop();
    this.exitTimer.stop();
    this.finish(exit);
  }

  private obey({ kind, reason, message, forceAt }: Stopping): void {
    const graceMs = Math.max(0, Date.parse(forceAt) - Date.now());
    const action = kind === 'pause' ? 'pause' : 'stop';
    const words = message === undefined ? {} : { message };
    this.session?.notify({ action, reason, ...words, graceSeconds: Math.round(graceMs / 1000) });
    this.session?.stop(graceMs);
  }

  private noteStart(pid: number | null, startedAt: string): void {
    const { record } = this;
    if (record.startedAt !== null) return;
    Object.assign(record, { status: 'RUNNING', pid, startedAt, lastActivityAt: startedAt });
    // Its credentials are needed no more: what runs has them.
    record.order = null;
    this.report({ event: 'started', at: startedAt, ...(pid !== null && { pid }) });
    this.save();
  }

  private limitTime(): void {
    const left = this.timeLeftMs();
    if (left === Infinity) return;
    this.timer.start(Math.max(0, left), () => {
      if (this.timeLeftMs() > 0) return this.limitTime();
      const { timeoutSeconds, graceSeconds } = this.record;
      const message = `Ran longer than its ${timeoutSeconds} s`;
      this.stop({ kind: 'timeout', reason: 'timeout', message }, graceSeconds);
    });
  }

  private limitExit(graceSeconds: number): void {
    const { exitBy } = this.record;
    if (exitBy === undefined) return;
    const message = 'its run is complete, and its time to exit is over';
    const cause: StopCause = { kind: 'completed', reason: 'completed', message };
    const left = Math.max(0, Date.parse(exitBy) - Date.now());
    this.exitTimer.start(left, () => this.stop(cause, graceSeconds));
  }

  /**
   * The server counts from when it heard of the start. A session that is asked to end before its deadline
   * there could still give its run back for free, and be given the next one.
   */
  private timeLeftMs(): number {
    const { timeoutSeconds, startedAt, startToldAt } = this.record;
    const since = startToldAt ?? startedAt;
    if (timeoutSeconds === null || since === null) return Infinity;
    return Date.parse(since) + timeoutSeconds * 1000 - Date.now();
  }

  private finish(exit: SessionExit): void {
    const { record } = this;
    const hasCompleted = record.exitBy !== undefined;
    const { status, oomKilled, error } = judgeExit(exit, record.stopping, hasCompleted);
    const { exitCode, signal, endedAt, output } = exit;
    Object.assign(record, { status, exitCode, signal, oomKilled, error, endedAt, order: null });
    this.report({
      event: 'exited',
      at: endedAt,
      ...(record.pid !== null && { pid: record.pid }),
      ...(exitCode !== null && { exitCode }),
      ...(signal !== null && { signal }),
      oomKilled,
      ...(!hasCompleted && { error: error ?? ENDED_WITHOUT_COMPLETING }),
      ...(output.trim() !== '' && { output }),
    });
    this.save();
    this.parts.logger.info('session ended', { ...this.ids, status, exitCode, signal });
  }

  private fail(error: SessionError): void {
    failUnstarted(this.record, error);
    this.save();
    if (this.record.runId !== null) this.parts.onReport();
    this.parts.logger.warn('session not started', { ...this.ids, reason: error.message });
  }

  private report(report: PendingReport): void {
    if (this.record.runId === null) return;
    this.record.reports.push(report);
    this.parts.onReport();
  }

  private save(): void {
    this.parts.book.save(this.record);
  }

  // After the end is written down: a crash in between leaves a folder, which the next life removes.
  private async cleanUp(): Promise<void> {
    await this.parts.driver.remove(this.record.id).catch((error: unknown) => {
      const fields = { ...this.ids, error };
      this.parts.logger.error('the folder of a session could not be removed', fields);
    });
  }
}

/** Ends a session that has never run. The caller writes it down. */
export function failUnstarted(
  record: SessionRecord,
  error: SessionError,
  status: 'FAILED' | 'STOPPED' = 'FAILED',
): void {
  const endedAt = new Date().toISOString();
  Object.assign(record, { status, error, endedAt, order: null });
  if (record.runId !== null) record.reports.push({ event: 'failed', at: endedAt, error });
}

/** On each line of the log about it. */
function idsOf({ id: sessionId, runId, taskId, workspaceId, order }: SessionRecord) {
  const { traceId } = parseTraceparent(order?.env['TRACEPARENT']) ?? {};
  return { sessionId, runId, taskId, workspaceId, traceId };
}

function toSessionError(error: unknown): SessionError {
  if (error instanceof SpawnError) return { class: error.failureClass, message: error.message };
  const message = `The session could not be started: ${messageOf(error)}`;
  return { class: 'infrastructure', message };
}
