import type { SessionSignal } from './signals-file.js';

/** A file in a session's folder. */
export interface SessionFile {
  /** Its name within the folder, `work` for the folder in which the session starts. */
  name: string;
  /** The first content; absent for a file that the session may make. */
  content?: string;
}

/** Where a session's output goes while it runs. Neither method may fail or wait. */
export interface OutputSink {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** Both streams have ended. */
  end(): void;
}

/** The specification of a session. */
export interface SessionSpec {
  /** A UUID. Everything that comes of the session is found by it. */
  id: string;
  /** The workspace that it belongs to; absent for a session that belongs to none. */
  workspaceId?: string;
  /** An argument vector: no shell takes it apart. */
  command: [string, ...string[]];
  /** Where the program is looked for; in the driver's own search path when left out. */
  searchPath?: string;
  /**
   * Variables for the session beyond those that the driver sets: PATH, LANG, HOME, TMPDIR, those of
   * `files`, and DROVER_SESSION_ID where no variable carries the session's id yet as DROVER_RUN_ID.
   * Nothing else comes through.
   */
  env: Record<string, string>;
  /** The files of the session, each by the variable that holds its path. */
  files: Record<string, SessionFile>;
  /** Where it starts instead of its own folder: a directory of this machine. */
  cwd?: string;
  /**
   * The folder above `cwd` that a sandbox lets it work in, whose path no session can change: within it, one
   * could put a link in the place of `cwd`. `cwd` itself when left out.
   */
  within?: string;
  /** Its standard input; empty when absent. */
  stdin?: string;
  /** `off`: it reaches no network, not even this machine's; as the host has it when left out. */
  network?: 'on' | 'off';
  /** Values that must not appear in the output that is kept. */
  secrets: string[];
  /**
   * Takes all of its output, unredacted. Such a session ends with this process, however that ends.
   * Without it the session outlives this process, and the end of its output is kept for its exit.
   */
  output?: OutputSink;
}

/** Processes that were ended because they outlived the first one of their session. */
export interface Strays {
  found: number;
  /** False when the kernel does not let one go. */
  gone: boolean;
}

/** How a session ended. */
export interface SessionExit {
  /** Null when a signal ended it, or nobody saw how it ended. */
  exitCode: number | null;
  signal: string | null;
  /** Whether the kernel killed it for want of memory; null where the kernel does not say. */
  oomKilled: boolean | null;
  /** Nobody saw how it ended: what watched it is gone too. */
  lost: boolean;
  /** The end of what it wrote to both streams, redacted, at most MAX_OUTPUT_BYTES of UTF-8. */
  output: string;
  endedAt: string;
  strays?: Strays;
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
  notify(signal: SessionSignal): void;
  /** When it last wrote something; its start when it never did. */
  lastActivityAt(): string;
}

/** The state of a session that an earlier life of this process had started, or meant to start. */
export type Recovered =
  /** It runs, and is followed again. */
  | { kind: 'running'; session: RuntimeSession }
  /** It ran, and nothing of it runs any more. */
  | { kind: 'ended'; exit: SessionExit; pid: number | null; startedAt: string | null }
  /** It could not be started. */
  | { kind: 'failed'; error: SpawnError }
  /** It never started, and the earlier life's attempt never will: it may be spawned now. */
  | { kind: 'absent' };

/** What a host gives every driver. */
export interface DriverHost {
  /** Holds a folder for each session. A driver takes all that lies in it for its own. */
  dir: string;
  /** The part of the host's own environment that its sessions see. */
  passedEnv?: Record<string, string>;
  /** Takes one sentence for the operator. */
  warn?: (message: string) => void;
}

/**
 * Where sessions run: processes of this machine, containers, pods. `testing/driver-conformance.ts`
 * says what every driver must do.
 */
export interface RuntimeDriver {
  readonly kind: string;
  /** False while sessions would not end with this process, or could not be started at all. */
  readonly healthy: boolean;
  /**
   * Resolves when the session's first process runs.
   *
   * @throws SpawnError when it could not be started; nothing of it is left then
   */
  spawn(spec: SessionSpec): Promise<RuntimeSession>;
  /** Adopts what an earlier life left of a session, or ends what cannot be adopted. */
  recover(id: string): Promise<Recovered>;
  /** The sessions of which anything is left, running or not. */
  list(): Promise<string[]>;
  /**
   * Ends what runs of a session, and leaves its folder.
   *
   * @returns false when something of it cannot be ended
   */
  end(id: string): Promise<boolean>;
  /** Ends what runs of a session and removes its folder. Harmless when nothing is left of it. */
  remove(id: string): Promise<void>;
  /** Ends every session that has an OutputSink. The driver starts nothing afterwards. */
  close(): void;
}

/** Its message is one sentence that may be shown to the author of the command. */
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
