import { type HostLog, LiveSession, LongTimer, messageOf, type StopCause } from '#lib/agent-host';
import { parseTraceparent } from '#lib/kernel';
import {
  type Recovered,
  type RuntimeDriver,
  type RuntimeSession,
  type SessionExit,
  SpawnError,
} from '#lib/session-runtime';
import type { PendingReport, SessionError, SessionRecord } from './domain/session.js';
import { ENDED_WITHOUT_COMPLETING, judgeExit } from './domain/verdict.js';
import type { SessionBook } from './session-book.js';

export interface SpawnedParts {
  driver: RuntimeDriver;
  book: SessionBook;
  logger: HostLog;
  /** Called when a report for the server exists. */
  onReport: () => void;
}

/** A requested session in a slot. It updates the session's record and the reports to the server. */
export class SpawnedSession {
  readonly id: string;
  private readonly live: LiveSession<SessionExit, RuntimeSession>;
  private readonly exitTimer = new LongTimer();
  private readonly ids: ReturnType<typeof idsOf>;

  constructor(
    private readonly record: SessionRecord,
    private readonly parts: SpawnedParts,
  ) {
    this.id = record.id;
    this.ids = idsOf(record);
    this.live = new LiveSession(record, () => this.save());
  }

  /** Starts the session and follows it. Resolves when no process of it is left. Never rejects. */
  async run(): Promise<void> {
    await this.follow(() => this.spawn());
  }

  /** Continues a session of an earlier process. Resolves and rejects as `run` does. */
  async resume(found: Exclude<Recovered, { kind: 'absent' }>): Promise<void> {
    if (found.kind === 'ended') {
      this.noteStart(found.pid, found.startedAt ?? found.exit.endedAt);
      this.finish(found.exit);
      return this.cleanUp();
    }
    await this.follow(async () => {
      if (found.kind === 'failed') throw found.error;
      return found.session;
    });
  }

  stop(cause: StopCause, graceMs: number): void {
    this.live.stop(cause, graceMs);
  }

  /**
   * The run is complete. The session can exit by itself for `exitSeconds`, and is asked to end only
   * then.
   */
  letExit(exitSeconds: number, graceSeconds: number): void {
    const { record } = this;
    if (record.exitBy !== undefined) return;
    record.exitBy = new Date(Date.now() + exitSeconds * 1000).toISOString();
    this.save();
    this.parts.logger.info('Run completed', { ...this.ids, exitBy: record.exitBy });
    this.limitExit(graceSeconds);
  }

  warn(reason: string): void {
    if (!this.live.warn(reason)) return;
    this.parts.logger.warn('Session warned', { ...this.ids, reason });
  }

  lastActivityAt(): string | undefined {
    return this.live.work?.lastActivityAt();
  }

  private async follow(start: () => Promise<RuntimeSession>): Promise<void> {
    try {
      const exit = await this.live.run(async () => {
        const session = await start();
        this.noteStart(session.pid, session.startedAt);
        this.limitExit(this.record.graceSeconds);
        return session;
      });
      this.finish(exit);
    } catch (error) {
      this.fail(toSessionError(error));
    }
    this.exitTimer.stop();
    await this.cleanUp();
  }

  private spawn(): Promise<RuntimeSession> {
    const { record } = this;
    const { driver } = this.parts;
    record.status = 'STARTING';
    record.driver = driver.kind;
    this.save();
    if (record.order === null) {
      throw new SpawnError('infrastructure', 'Its command is lost');
    }
    const { task, ...rest } = record.order;
    const files = {
      DROVER_TASK_FILE: { name: 'task.json', content: JSON.stringify(task) },
      DROVER_WORK_DIR: { name: 'work' },
    };
    return driver.spawn({
      id: record.id,
      workspaceId: record.workspaceId ?? undefined,
      ...rest,
      files,
    });
  }

  private noteStart(pid: number | null, startedAt: string): void {
    const { record } = this;
    if (record.startedAt !== null) return;
    Object.assign(record, { status: 'RUNNING', pid, startedAt, lastActivityAt: startedAt });
    // The running session has its credentials. The record needs them no more.
    record.order = null;
    this.report({ event: 'started', at: startedAt, ...(pid !== null && { pid }) });
    this.save();
  }

  private limitExit(graceSeconds: number): void {
    const { exitBy } = this.record;
    if (exitBy === undefined) return;
    const message = 'its run is complete, and its time to exit is over';
    const cause: StopCause = { kind: 'completed', reason: 'completed', message };
    const leftMs = Math.max(0, Date.parse(exitBy) - Date.now());
    this.exitTimer.start(leftMs, () => this.stop(cause, graceSeconds * 1000));
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
    this.parts.logger.info('Session ended', { ...this.ids, status, exitCode, signal });
  }

  private fail(error: SessionError): void {
    failUnstarted(this.record, error);
    this.save();
    if (this.record.runId !== null) this.parts.onReport();
    this.parts.logger.warn('Session not started', { ...this.ids, reason: error.message });
  }

  private report(report: PendingReport): void {
    if (this.record.runId === null) return;
    this.record.reports.push(report);
    this.parts.onReport();
  }

  private save(): void {
    this.parts.book.save(this.record);
  }

  // Comes after the end is written: a crash in between leaves a folder, which a restarted gateway
  // removes.
  private async cleanUp(): Promise<void> {
    await this.parts.driver.remove(this.record.id).catch((error: unknown) => {
      const fields = { ...this.ids, error };
      this.parts.logger.error('Session folder not removed', fields);
    });
  }
}

/** Ends a session that has never run. The caller saves the record. */
export function failUnstarted(
  record: SessionRecord,
  error: SessionError,
  status: 'FAILED' | 'STOPPED' = 'FAILED',
): void {
  const endedAt = new Date().toISOString();
  Object.assign(record, { status, error, endedAt, order: null });
  if (record.runId !== null) record.reports.push({ event: 'failed', at: endedAt, error });
}

/** The fields of each log line about the session. */
function idsOf({ id: sessionId, runId, taskId, workspaceId, order }: SessionRecord) {
  const { traceId } = parseTraceparent(order?.env['TRACEPARENT']) ?? {};
  return { sessionId, runId, taskId, workspaceId, traceId };
}

function toSessionError(error: unknown): SessionError {
  if (error instanceof SpawnError) return { class: error.failureClass, message: error.message };
  const message = `The session could not be started: ${messageOf(error)}`;
  return { class: 'infrastructure', message };
}
