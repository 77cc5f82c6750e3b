import type { SessionSignal } from '#lib/session-runtime';
import { LongTimer } from '../long-timer.js';
import type { Remembered } from './session-memory.js';

/** Why a session is asked to end. */
export interface StopCause {
  kind:
    | 'asked'
    | 'completed'
    | 'drain'
    /** Its run is not its task's live one any more, so nothing of it is reported. */
    | 'lost'
    | 'pause'
    | 'provider_limited'
    | 'question'
    | 'timeout';
  /** A code, for the session's program. */
  reason: string;
  /** The same for people, where there is more to say. */
  message?: string;
}

export interface Stopping extends StopCause {
  /** When it is ended by force. */
  forceAt: string;
}

/** The facts of a session that decide how long it runs. */
export interface SessionRecord extends Remembered {
  timeoutSeconds: number | null;
  graceSeconds: number;
  startedAt: string | null;
  /** When the server had heard of its start. */
  startToldAt?: string;
  stopping: Stopping | null;
}

/** Work that runs: a session of a driver, or what a host makes of one. */
export interface Running<End> {
  /** Resolves when nothing of it is left. Never rejects. */
  readonly exit: Promise<End>;
  /** Asks it to end, and ends it by force after `graceMs`. The earliest deadline counts. */
  stop(graceMs: number): void;
  notify(signal: SessionSignal): void;
}

type State<Work> =
  { phase: 'waiting' | 'starting' | 'ended' } | { phase: 'running'; work: Work; isWarned: boolean };

/** One session of a host: from when it takes a place to its end, whether this life has started it or an earlier one. */
export class LiveSession<End, Work extends Running<End> = Running<End>> {
  private state: State<Work> = { phase: 'waiting' };
  private readonly timer = new LongTimer();

  /** @param save writes the record down */
  constructor(
    private readonly record: SessionRecord,
    private readonly save: () => void,
  ) {}

  get hasEnded(): boolean {
    return this.state.phase === 'ended';
  }

  /** Undefined unless it runs. */
  get work(): Work | undefined {
    return this.state.phase === 'running' ? this.state.work : undefined;
  }

  /**
   * Starts the session and follows it to its end, which is what it resolves with.
   *
   * @throws whatever `start` throws
   */
  async run(start: () => Promise<Work>): Promise<End> {
    this.state = { phase: 'starting' };
    try {
      const work = await start();
      this.state = { phase: 'running', work, isWarned: false };
      this.limitTime();
      // It was asked to end while it was being started, or by an earlier life.
      if (this.record.stopping !== null) this.askToEnd(this.record.stopping);
      return await work.exit;
    } finally {
      this.state = { phase: 'ended' };
      this.timer.stop();
    }
  }

  /** May be called again: the first cause counts, unless the run is lost later, and the earliest deadline. */
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
   * Tells a session that runs that it seems to hang, as often as the server says so. One that does not run is not late.
   *
   * @returns whether it was told for the first time
   */
  warn(reason: string): boolean {
    if (this.state.phase !== 'running') return false;
    const isFirst = !this.state.isWarned;
    this.state.isWarned = true;
    this.state.work.notify({ action: 'warn', reason });
    return isFirst;
  }

  private askToEnd({ kind, reason, message, forceAt }: Stopping): void {
    const graceMs = Math.max(0, Date.parse(forceAt) - Date.now());
    const action = kind === 'pause' ? 'pause' : 'stop';
    const words = message === undefined ? {} : { message };
    const graceSeconds = Math.round(graceMs / 1000);
    this.work?.notify({ action, reason, ...words, graceSeconds });
    this.work?.stop(graceMs);
  }

  private limitTime(): void {
    const leftMs = this.timeLeftMs();
    if (leftMs === Infinity) return;
    this.timer.start(Math.max(0, leftMs), () => {
      if (this.timeLeftMs() > 0) return this.limitTime();
      const { timeoutSeconds, graceSeconds } = this.record;
      const message = `Ran longer than its ${timeoutSeconds} s`;
      this.stop({ kind: 'timeout', reason: 'timeout', message }, graceSeconds * 1000);
    });
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
}
