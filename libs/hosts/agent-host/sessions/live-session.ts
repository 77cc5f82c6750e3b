import type { SessionSignal } from '#lib/session-runtime';
import { LongTimer } from '../loops/long-timer.js';
import type { Remembered } from './session-memory.js';

/** The reason for a request to end a session. */
export interface StopCause {
  kind:
    | 'asked'
    /** A budget has refused a request of it, and its policy was applied to the task. */
    | 'budget'
    | 'completed'
    | 'drain'
    /** Its run is no longer the live run of its task, so nothing of it is reported. */
    | 'lost'
    | 'pause'
    | 'provider_limited'
    | 'question'
    | 'timeout';
  /** A code for the session's program. */
  reason: string;
  /** The reason in words, if there is more to say. */
  message?: string;
}

export interface Stopping extends StopCause {
  /** The time when it is killed. */
  forceAt: string;
}

/** The facts of a session that decide how long it runs. */
export interface SessionRecord extends Remembered {
  timeoutSeconds: number | null;
  graceSeconds: number;
  startedAt: string | null;
  /** The time when the server knew of its start. */
  startReportedAt?: string;
  stopping: Stopping | null;
}

/** Running work: a session of a driver, or a host's wrapper around one. */
export interface Running<End> {
  /** Resolves when no process of it is left. Never rejects. */
  readonly exit: Promise<End>;
  /** Asks it to end, and kills it after `graceMs`. The earliest deadline counts. */
  stop(graceMs: number): void;
  notify(signal: SessionSignal): void;
}

type State<Work> =
  | { phase: 'waiting' | 'ended' }
  | { phase: 'starting'; stopping: AbortController }
  | { phase: 'running'; work: Work; warnedOf: Set<string> };

/**
 * One session of a host, from its slot to its end. This process or an earlier one of the host
 * started it.
 */
export class LiveSession<End, Work extends Running<End> = Running<End>> {
  private state: State<Work> = { phase: 'waiting' };
  private readonly timer = new LongTimer();

  /**
   * @param save writes the record to disk
   */
  constructor(
    private readonly record: SessionRecord,
    private readonly save: () => void,
  ) {}

  get hasEnded(): boolean {
    return this.state.phase === 'ended';
  }

  /** Undefined unless the session runs. */
  get work(): Work | undefined {
    return this.state.phase === 'running' ? this.state.work : undefined;
  }

  /**
   * Starts the session and follows it to its end.
   *
   * @param start its signal aborts when the session is asked to end before it runs
   * @returns the end
   * @throws the errors of `start`
   */
  async run(start: (signal: AbortSignal) => Promise<Work>): Promise<End> {
    const stopping = new AbortController();
    this.state = { phase: 'starting', stopping };
    try {
      const work = await start(stopping.signal);
      this.state = { phase: 'running', work, warnedOf: new Set() };
      this.limitTime();
      // It was asked to end while it started, or before the host restarted.
      if (this.record.stopping !== null) this.askToEnd(this.record.stopping);
      return await work.exit;
    } finally {
      this.state = { phase: 'ended' };
      this.timer.stop();
    }
  }

  /**
   * Asks the session to end. If it is called again, the first cause counts, unless the run is lost
   * later. The earliest deadline counts.
   */
  stop(cause: StopCause, graceMs: number): void {
    const before = this.record.stopping;
    const forceAt = new Date(Date.now() + graceMs).toISOString();
    const isEarlier = before === null || forceAt < before.forceAt;
    const isLoss = cause.kind === 'lost';
    if (this.hasEnded || (isLoss ? before?.kind === 'lost' : !isEarlier)) return;
    const counting = isLoss ? cause : (before ?? cause);
    const stopping = { ...counting, forceAt: isEarlier ? forceAt : before.forceAt };
    this.record.stopping = stopping;
    this.save();
    this.askToEnd(stopping);
  }

  /**
   * Warns a running session that it seems to hang or that a budget is nearly used up, each time the
   * server says so. A session that does not run needs no warning.
   *
   * @returns true for the first warning for this reason
   */
  warn(reason: string): boolean {
    if (this.state.phase !== 'running') return false;
    const isFirst = !this.state.warnedOf.has(reason);
    this.state.warnedOf.add(reason);
    this.state.work.notify({ action: 'warn', reason });
    return isFirst;
  }

  /** Counts the time of the session from `startedAt`. A start that takes longer is stopped. */
  limitTime(): void {
    const leftMs = this.timeLeftMs();
    if (leftMs === Infinity) return;
    this.timer.start(Math.max(0, leftMs), () => {
      if (this.timeLeftMs() > 0) return this.limitTime();
      const { timeoutSeconds, graceSeconds } = this.record;
      const message = `Ran longer than its ${timeoutSeconds} s`;
      this.stop({ kind: 'timeout', reason: 'timeout', message }, graceSeconds * 1000);
    });
  }

  private askToEnd({ kind, reason, message, forceAt }: Stopping): void {
    if (this.state.phase === 'starting')
      this.state.stopping.abort(new Error(`Stopped while it started: ${message ?? reason}`));
    const graceMs = Math.max(0, Date.parse(forceAt) - Date.now());
    const action = kind === 'pause' ? 'pause' : 'stop';
    const words = message === undefined ? {} : { message };
    const graceSeconds = Math.round(graceMs / 1000);
    this.work?.notify({ action, reason, ...words, graceSeconds });
    this.work?.stop(graceMs);
  }

  /**
   * The server counts from the time when it knew of the start. If the session ended before that
   * deadline, it could still release its run without an attempt, and get the next one.
   */
  private timeLeftMs(): number {
    const { timeoutSeconds, startedAt, startReportedAt } = this.record;
    const since = startReportedAt ?? startedAt;
    if (timeoutSeconds === null || since === null) return Infinity;
    return Date.parse(since) + timeoutSeconds * 1000 - Date.now();
  }
}
