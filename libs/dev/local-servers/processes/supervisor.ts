import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { EmbeddedError, stoppedWhileStarting } from '../machine/errors.js';
import { projectRoot } from '#lib/kernel';

export interface ServerCommand {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Only for root: the account of the program. */
  uid?: number | undefined;
  gid?: number | undefined;
  /** Written to the program's standard input, which is then closed. */
  input?: string;
  /** Names of held sockets. The program inherits them as descriptors 3, 4, and so on. */
  sockets?: string[];
  stopSignal: NodeJS.Signals;
  /** Milliseconds until `forceSignal`, if any. SIGKILL follows 5 s later. */
  stopWithinMs: number;
  forceSignal?: NodeJS.Signals;
  onLine?: (line: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Finished extends Exit {
  lines: string[];
}

export interface RunningServer {
  pid: number;
  exited: Promise<Exit>;
  /** Asks it to stop and resolves when it has. */
  stop(): Promise<Exit>;
}

/** A TCP address, or the path of a Unix socket. */
export type SocketPlace = { host: string; port: number } | { path: string };

interface Report {
  type: 'ready' | 'owned' | 'held' | 'started' | 'failed' | 'output' | 'exit';
  id?: number;
  path?: string;
  pid?: number;
  code?: number | string | null;
  signal?: NodeJS.Signals | null;
  line?: string;
}

/**
 * A separate process in its own session that runs servers. It stops them and removes the folders
 * that it owns on request, and also when this process dies in any way.
 */
export class Supervisor {
  private readonly reports = new EventEmitter();
  private readonly ended: Promise<void>;
  private isEnded = false;
  private lastId = 0;
  /** The running programs with the signal that ends each at once. */
  private readonly running = new Map<number, NodeJS.Signals>();

  private constructor(private readonly child: ChildProcessByStdio<Writable, Readable, null>) {
    this.reports.setMaxListeners(0);
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as Report;
      this.reports.emit(report.type, report);
    });
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.isEnded = true;
        this.endOrphans();
        this.reports.emit('ended');
        resolve();
      };
      child.once('close', end);
      child.once('error', end);
    });
  }

  /** The supervising process. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  static async start(): Promise<Supervisor> {
    const script = join(projectRoot, 'libs/dev/local-servers/processes/supervisor-process.mjs');
    const child = spawn(process.execPath, ['--max-semi-space-size=1', script], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const supervisor = new Supervisor(child);
    await supervisor.next('ready', () => true);
    return supervisor;
  }

  /**
   * From now on the folder is removed at the end, whatever the end is. Call it before creating the
   * folder.
   */
  async own(path: string): Promise<void> {
    const owned = this.next('owned', (report) => report.path === path);
    this.send({ type: 'own', path });
    await owned;
  }

  /**
   * Binds a socket until `close`. Programs that are run with its name listen on it, one after the
   * other: while none runs, connections wait, and no other process can take the address.
   *
   * @returns the system's error code, such as EADDRINUSE; undefined if the socket is held
   */
  async hold(name: string, place: SocketPlace): Promise<string | undefined> {
    const held = this.next('held', (report) => report.path === name);
    this.send({ type: 'hold', name, ...place });
    const { code } = await held;
    return typeof code === 'string' ? code : undefined;
  }

  /**
   * Starts a program. Resolves as soon as it runs.
   *
   * @throws EmbeddedError `server_failed` if it cannot be started, `stopped` after `close`
   */
  async run(command: ServerCommand): Promise<RunningServer> {
    const id = (this.lastId += 1);
    const { onLine, ...spec } = command;
    const mine = (report: Report): boolean => report.id === id;
    const onOutput = (report: Report): void => {
      if (mine(report)) onLine?.(report.line ?? '');
    };
    this.reports.on('output', onOutput);
    const failed = this.next('failed', mine);
    const exited = this.exitOf(id).finally(() => this.reports.off('output', onOutput));
    const started = this.next('started', mine);
    for (const promise of [failed, exited, started]) promise.catch(() => undefined);
    this.send({ type: 'run', id, ...spec });
    const first = await Promise.race([started, failed]);
    if (first.type === 'failed' || first.pid === undefined) {
      this.reports.off('output', onOutput);
      throw startFailure(command.file, first.code);
    }
    const { pid } = first;
    this.running.set(pid, command.forceSignal ?? 'SIGKILL');
    void exited.then(() => this.running.delete(pid));
    const stop = (): Promise<Exit> => {
      this.ref();
      this.send({ type: 'stop', id });
      return exited;
    };
    return { pid, exited, stop };
  }

  /** Runs a program that ends by itself. Resolves with its exit and all its output. */
  async runToEnd(command: Omit<ServerCommand, 'onLine'>, withinMs: number): Promise<Finished> {
    const lines: string[] = [];
    const program = await this.run({ ...command, onLine: (line) => lines.push(line) });
    const timer = setTimeout(() => void program.stop(), withinMs);
    const exit = await program.exited;
    clearTimeout(timer);
    if (this.isEnded) throw stoppedWhileStarting();
    return { ...exit, lines };
  }

  /** Stops everything and removes owned folders. Can be called at any time and more than once. */
  async close(): Promise<void> {
    this.ref();
    this.child.stdin.end();
    await this.ended;
  }

  /** Lets this process end while servers run, which then stop. */
  unref(): void {
    this.child.unref();
    for (const stream of this.streams()) stream.unref();
  }

  /** Somebody killed the supervisor, so this process ends its servers. */
  private endOrphans(): void {
    for (const [pid, signal] of this.running) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended, as it should.
      }
    }
  }

  private ref(): void {
    this.child.ref();
    for (const stream of this.streams()) stream.ref();
  }

  private streams(): Socket[] {
    return [this.child.stdin, this.child.stdout].filter((stream) => stream instanceof Socket);
  }

  private send(message: Record<string, unknown>): void {
    if (this.child.stdin.writable) this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  private exitOf(id: number): Promise<Exit> {
    return this.next('exit', (report) => report.id === id).then(
      (report) => ({
        code: typeof report.code === 'number' ? report.code : null,
        signal: report.signal ?? null,
      }),
      () => ({ code: null, signal: 'SIGKILL' as const }),
    );
  }

  private next(type: Report['type'], matches: (report: Report) => boolean): Promise<Report> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.reports.off(type, onReport);
        this.reports.off('ended', onEnd);
      };
      const onReport = (report: Report): void => {
        if (!matches(report)) return;
        settle();
        resolve(report);
      };
      const onEnd = (): void => {
        settle();
        reject(stoppedWhileStarting());
      };
      if (this.isEnded) return onEnd();
      this.reports.on(type, onReport);
      this.reports.on('ended', onEnd);
    });
  }
}

function startFailure(file: string, code: unknown): EmbeddedError {
  if (code === 'ECANCELED') {
    return stoppedWhileStarting();
  }
  return new EmbeddedError(
    'server_failed',
    `${file} can't be started (${String(code)}): it must be executable, and made for this system (glibc on Linux).`,
  );
}
