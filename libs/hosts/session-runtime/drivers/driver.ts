import type { ExceededLimit, Network, Reach } from '#lib/kernel';
import type { CredentialSource } from '../sandbox/egress.js';
import type { SessionSignal } from '../files/signals-file.js';
import type { SessionLimits } from '../sandbox/limits.js';

/** A file in a session's folder. */
export interface SessionFile {
  /**
   * The file's path within the folder, without `..`. `work` is the folder in which the session
   * starts.
   */
  name: string;
  /** The first content. It is absent for a file that the session can create. */
  content?: string | Uint8Array;
  /** True: it is an empty folder. */
  isFolder?: boolean;
  /** True: the session can execute it. */
  isExecutable?: boolean;
}

/** A file that a running session gets. */
export type AddedFile = Required<Pick<SessionFile, 'name' | 'content'>>;

/** A service of the host that a session without a network reaches on its own loopback address. */
export interface SessionService {
  port: number;
  /** The path of the service's Unix socket. Everybody who can enter its folder can connect. */
  socket: string;
}

/** A folder of the host for one session. */
export interface BorrowedFolder {
  /** Its path on this machine. It can be one that sandboxes hide. */
  from: string;
  /** Its path for the session. A folder of the session there is covered. */
  to: string;
}

/** The receiver of a session's output while the session runs. Neither method may fail or wait. */
export interface OutputSink {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** A sentence of the host about the session, without a newline, unredacted. */
  note(text: string): void;
  /** Both streams have ended. */
  end(): void;
}

/** An argument vector. No shell parses it. */
export type Command = [string, ...string[]];

/** The parts of a session that come while its sandbox is made. */
export interface LateParts {
  command: Command;
  /** Variables in addition to those of the specification. */
  env: Record<string, string>;
  /** Files that no variable names. */
  otherFiles: SessionFile[];
}

/** The specification of a session. */
export interface SessionSpec {
  /** A UUID. It identifies everything that belongs to the session. */
  id: string;
  /** The workspace of the session. It is absent for a session without a workspace. */
  workspaceId?: string;
  /**
   * The command, or its promise with further parts. If the promise rejects, nothing is left of the
   * session, and its start rejects with the same error.
   */
  command: Command | Promise<LateParts>;
  /** The folders in which the program is looked up. The driver's own search path is the default. */
  searchPath?: string;
  /**
   * Variables of the session, in addition to the driver's: PATH, LANG, HOME, TMPDIR, the variables
   * of `files`, and DROVER_SESSION_ID if no variable has the session's id as DROVER_RUN_ID. The
   * session gets no other variable.
   */
  env: Record<string, string>;
  /** The files of the session. The key is the variable that holds the file's path. */
  files: Record<string, SessionFile>;
  /** Files that no variable names. */
  otherFiles?: SessionFile[];
  /**
   * True: a sandbox shows the session's folder at the same path as that of every other such session,
   * for programs that keep paths in their state.
   */
  samePath?: boolean;
  /** A folder below its own one, which exists, in which the session starts. `cwd` goes before it. */
  startsIn?: string;
  /** The directory of this machine in which the session starts, instead of its own folder. */
  cwd?: string;
  /**
   * The folder above `cwd` in which a sandbox lets the session work. No session can change its
   * path. Below it, a session could replace `cwd` by a link. The default is `cwd` itself.
   */
  within?: string;
  /**
   * The standard input of the session. The default is an empty input. `open`: the input comes later
   * (RuntimeSession.write), which needs `output`.
   */
  stdin?: string | typeof OPEN_INPUT;
  /**
   * `host`: the session shares the network of its machine, if the host allows that too. Otherwise a
   * session in a sandbox reaches only the server at DROVER_API_URL of `env`, by another address in
   * that variable; with `allow` also the allowed hosts, by a proxy in HTTP_PROXY and its like. A
   * session with `none` or `allow` does not start without a sandbox.
   */
  network?: Network;
  /** For `allow`: the session reaches a host that every list admits, and the host's list too. */
  allowedHosts?: Reach['allowedHosts'];
  /**
   * For `allow`: headers that the proxy adds to requests. The session never gets them. A function
   * needs `output`, since only this process can ask it.
   */
  credentials?: CredentialSource;
  /** Paths that a sandbox shows to this session in addition to those of the host, read-only. */
  shown?: readonly string[];
  /** Folders of the host that a sandbox shows at further paths, read-only. */
  borrowed?: readonly BorrowedFolder[];
  /**
   * Fills the folder in which the session starts, before anything of the session runs. An error of it
   * is one of the start.
   *
   * @param work the folder's path on this machine
   */
  prepare?: (work: string) => Promise<void>;
  /** Services for a session without a network. */
  services?: SessionService[];
  /** Limits of its own instead of the host's, in a sandbox only. */
  limits?: Partial<SessionLimits>;
  /** Values that must not appear in the output that Drover keeps. */
  secrets: string[];
  /**
   * Takes all output of the session, unredacted. Such a session ends with this process, even if
   * this process is killed. Without a sink the session outlives this process, and its exit has the
   * end of its output.
   */
  output?: OutputSink;
}

/** An input that is written while the session runs. */
export const OPEN_INPUT = Symbol('open input');

/** Processes that outlived the first process of their session and were ended. */
export interface Strays {
  found: number;
  /** False if the kernel keeps at least one of them alive. */
  gone: boolean;
}

/** A limit that a session exceeded. */
export interface Exceeded {
  limit: ExceededLimit;
  /** The limit itself, in MiB. */
  mb: number;
}

/** The end of a session. */
export interface SessionExit {
  /** Null if a signal ended the session, or if nobody saw the end. */
  exitCode: number | null;
  signal: string | null;
  /**
   * True if the kernel killed the session for lack of memory; null if the kernel does not report
   * it.
   */
  oomKilled: boolean | null;
  /** The limit that it exceeded, if its host ended it for that. */
  exceeded?: Exceeded;
  /** True if the session failed and its folder had no space left, by the quota of the folder. */
  folderFull?: boolean;
  /** True if nobody saw the end of the session because its watcher is gone too. */
  lost: boolean;
  /**
   * The end of the session's output on both streams: redacted, at most MAX_OUTPUT_BYTES of UTF-8.
   */
  output: string;
  endedAt: string;
  strays?: Strays;
}

/** The size of the output that Drover keeps for a session, in bytes. */
export const MAX_OUTPUT_BYTES = 8_192;

/** A started session. */
export interface RuntimeSession {
  readonly id: string;
  /** The process id on the session's machine; null if such an id means nothing. */
  readonly pid: number | null;
  readonly startedAt: string;
  /** Resolves when no process of the session is left. Never rejects. */
  readonly exit: Promise<SessionExit>;
  /**
   * Asks the session to end, and kills all of it after `graceMs`. If it is called again, the
   * earliest deadline counts.
   */
  stop(graceMs: number): void;
  /** Adds a line, a JSON object, to the session's file at DROVER_SIGNALS_FILE. Never fails. */
  notify(signal: SessionSignal): void;
  /** Writes to an open input. A session that does not read loses nothing and blocks nobody. */
  write(text: string): void;
  /** Ends an open input. */
  endInput(): void;
  /**
   * Adds files to the folder of a session that runs.
   *
   * @throws Error if the name of a file is taken, or its content has no room
   */
  addFiles(files: readonly AddedFile[]): Promise<void>;
  /** The time of the session's last output; its start if it wrote nothing. */
  lastActivityAt(): string;
}

/** The state of a session that an earlier process of this host started, or intended to start. */
export type Recovered =
  /** The session runs, and this process follows it now. */
  | { kind: 'running'; session: RuntimeSession }
  /** The session ran, and no process of it is left. */
  | { kind: 'ended'; exit: SessionExit; pid: number | null; startedAt: string | null }
  /** The session could not be started. */
  | { kind: 'failed'; error: SpawnError }
  /** The session did not start, and the earlier attempt never will. It can be spawned now. */
  | { kind: 'absent' };

/** The settings that a host gives to every driver. */
export interface DriverHost {
  /** Holds a folder for each session. The driver owns everything in it. */
  dir: string;
  /** The variables of the host's environment that its sessions see. */
  passedEnv?: Record<string, string>;
  /** Reports one sentence to the operator. */
  warn?: (message: string) => void;
}

/** What a session meets, known before it is composed. */
export interface Surroundings {
  /** Unless its network is `host`, the session reaches `services` only by their own ports. */
  reach: Reach;
  /** The variables by which programs find the proxy for allowed hosts, if there is one. */
  proxy: Record<string, string>;
  /** The path of its folder, as it sees it. */
  folder: string;
  /** The address of the API for it, if the host has one for it. */
  apiUrl?: string;
  /** True if the session has the rights of root in its own eyes. */
  isRoot: boolean;
  /** Its memory in MiB if it asks for no limit. 0: no limit. */
  memoryMb: number;
}

/**
 * The place where sessions run: processes of this machine, containers, pods.
 * `testing/driver-conformance.ts` specifies the behaviour of every driver.
 */
export interface RuntimeDriver {
  readonly kind: string;
  /** False while sessions cannot be started, or would not end with this process. */
  readonly healthy: boolean;
  /**
   * The surroundings of a session with `samePath` that asks for this reach. The default is `none`.
   *
   * @param apiUrl the address of the API for the host
   */
  surroundings(id: string, asked?: Partial<Reach>, apiUrl?: string): Surroundings;
  /**
   * Resolves when the session's first process runs.
   *
   * @throws SpawnError if the session could not be started, or the error of its late parts; nothing of
   *   it is left then
   */
  spawn(spec: SessionSpec): Promise<RuntimeSession>;
  /** Adopts a session of an earlier process of this host, or ends it if it cannot be adopted. */
  recover(id: string): Promise<Recovered>;
  /** The sessions that have left a process or a folder, running or not. */
  list(): Promise<string[]>;
  /**
   * Ends the processes of a session, and leaves its folder.
   *
   * @returns false if a process of it cannot be ended
   */
  end(id: string): Promise<boolean>;
  /**
   * Ends the processes of a session and removes its folder. A session without remains is no error.
   */
  remove(id: string): Promise<void>;
  /** Ends every session that has an OutputSink. Afterwards the driver starts nothing. */
  close(): void;
}

/** Its message is one sentence. The author of the command can see it. */
export class SpawnError extends Error {
  constructor(
    /**
     * `setup`: the command is wrong, and every attempt fails. `infrastructure`: another attempt can
     * succeed.
     */
    readonly failureClass: 'setup' | 'infrastructure',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
