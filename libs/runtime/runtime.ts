import type { SessionSignal } from './signals-file.js';

/** What a session is to be. */
export interface SessionSpec {
  /** A UUID. Everything that comes of the session is found by it. */
  id: string;
  /** An argument vector: no shell takes it apart. */
  command: [string, ...string[]];
  /**
   * Variables for the session beyond those that the runtime sets: PATH, LANG, HOME, TMPDIR,
   * DROVER_SESSION_ID, DROVER_TASK_FILE, DROVER_SIGNALS_FILE, DROVER_WORK_DIR. Nothing else comes through.
   */
  env: Record<string, string>;
  /** What the session reads at DROVER_TASK_FILE. */
  task: object;
  /** Values that must not appear in the output that is kept. */
  secrets: string[];
}

/** How a session ended. */
export interface SessionExit {
  /** Null when a signal ended it, or nobody saw how it ended. */
  exitCode: number | null;
  signal: string | null;
  /** Whether the kernel killed it for want of memory; null where the kernel does not say. */
  oomKilled: boolean | null;
  /** Nobody saw how it ended: who watched it is gone too. */
  lost: boolean;
  /** The end of what it wrote to both streams, redacted, at most MAX_OUTPUT_BYTES of UTF-8. */
  output: string;
  endedAt: string;
}

/** Bytes of output that are kept of a session. */
export const MAX_OUTPUT_BYTES = 8_192;

/** A session that was started. */
export interface RuntimeSession {
  readonly id: string;
  /** As its machine counts; null where that means nothing. */
  readonly pid: number | null;
  readonly startedAt: string;
  /** Resolves when nothing of the session is left running. Never rejects. */
  readonly exit: Promise<SessionExit>;
  /**
   * Asks the session to end, and ends all of it by force after `graceMs`. May be called again: the
   * earliest deadline counts.
   */
  stop(graceMs: number): void;
  /** Adds to what the session reads at DROVER_SIGNALS_FILE: a JSON object a line. Never fails. */
  tell(signal: SessionSignal): void;
  /** When it last wrote something; its start when it never did. */
  lastActivityAt(): Promise<string>;
}

/** What became of a session that an earlier life of this process had started, or meant to start. */
export type Recovered =
  /** It runs, and is followed again. */
  | { kind: 'running'; session: RuntimeSession }
  /** It ran, and nothing of it runs any more. */
  | { kind: 'ended'; exit: SessionExit; pid: number | null; startedAt: string | null }
  /** It could not be started. */
  | { kind: 'failed'; error: SpawnError }
  /** It never started, and the earlier life's attempt never will: it may be spawned now. */
  | { kind: 'absent' };

/**
 * Where sessions run: processes of this machine, containers, pods. A session outlives the process
 * that started it; the next life finds it by `recover`. `testing/runtime-conformance.ts` says what
 * every runtime must do.
 */
export interface Runtime {
  readonly kind: string;
  /**
   * Resolves when the session's first process runs.
   *
   * @throws SpawnError when it could not be started; nothing of it is left then
   */
  spawn(spec: SessionSpec): Promise<RuntimeSession>;
  /** Adopts what an earlier life left of a session, or ends what can't be adopted. */
  recover(id: string): Promise<Recovered>;
  /** The sessions of which anything is left, running or not. */
  list(): Promise<string[]>;
  /** Ends what is left of a session and removes its folder. Harmless when nothing is. */
  remove(id: string): Promise<void>;
}

/** Its message is one sentence that may be shown to whoever wrote the command. */
export class SpawnError extends Error {
  constructor(
    /** `setup`: the command is wrong, on every attempt. `infrastructure`: another may succeed. */
    readonly failureClass: 'setup' | 'infrastructure',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
