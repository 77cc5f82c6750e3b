import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Supervisor } from '#lib/local-servers';

type Running = Awaited<ReturnType<Supervisor['run']>>;

// This file runs from dist/test/load/harness.
const DIST = fileURLToPath(new URL('../../..', import.meta.url));
const LAST_LINES = 20;

/**
 * The line of a program that is ready. The first group, if any, is its information for the caller.
 */
const LISTENING = /"message":"listening","address":"([^"]+)"/;

/** The Node of a program. */
export interface Runtime {
  file: string;
  flags?: readonly string[];
}

/** A server or a worker as a process, which always ends with this process. */
export class Program {
  private constructor(
    private readonly running: Running,
    /** The information from its ready line: its address, or its finding. */
    readonly said: string,
  ) {}

  /** Resolves when it is ready. @throws Error with its last output if it ends before */
  static async start(
    supervisor: Supervisor,
    path: string,
    env: Record<string, string>,
    ready = LISTENING,
    { file, flags = [] }: Runtime = { file: process.execPath },
  ): Promise<Program> {
    const lines: string[] = [];
    let hear: (said: string) => void = () => undefined;
    const listening = new Promise<string>((resolve) => (hear = resolve));
    const running = await supervisor.run({
      file,
      args: [...flags, join(DIST, path)],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...env },
      stopSignal: 'SIGTERM',
      stopWithinMs: 10_000,
      onLine: (line) => {
        lines.push(line);
        if (lines.length > LAST_LINES) lines.shift();
        const said = ready.exec(line);
        if (said) hear(said[1] ?? '');
      },
    });
    const ended = running.exited.then(() => {
      throw new Error(`${path} ended: ${lines.join('\n')}`);
    });
    ended.catch(() => undefined);
    return new Program(running, await Promise.race([listening, ended]));
  }

  get url(): string {
    return this.said;
  }

  get pid(): number {
    return this.running.pid;
  }

  /** Kills the program like a power cut. Resolves when it has ended. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.running.exited;
  }

  stop(): Promise<unknown> {
    return this.running.stop();
  }
}
