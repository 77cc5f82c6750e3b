import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Supervisor } from '#lib/embedded';

type Running = Awaited<ReturnType<Supervisor['run']>>;

// We run from dist/test/load/harness.
const DIST = fileURLToPath(new URL('../../..', import.meta.url));
const LAST_LINES = 20;

/** A server as a process, which ends with us in any case. */
export class Program {
  private constructor(
    private readonly running: Running,
    readonly url: string,
  ) {}

  /** Resolves when it listens. @throws Error with its last words when it ends before */
  static async start(
    supervisor: Supervisor,
    path: string,
    env: Record<string, string>,
  ): Promise<Program> {
    const lines: string[] = [];
    let hear: (url: string) => void = () => undefined;
    const listening = new Promise<string>((resolve) => (hear = resolve));
    const running = await supervisor.run({
      file: process.execPath,
      args: [join(DIST, path)],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...env },
      stopSignal: 'SIGTERM',
      stopWithinMs: 10_000,
      onLine: (line) => {
        lines.push(line);
        if (lines.length > LAST_LINES) lines.shift();
        const address = /"message":"listening","address":"([^"]+)"/.exec(line)?.[1];
        if (address !== undefined) hear(address);
      },
    });
    const ended = running.exited.then(() => {
      throw new Error(`${path} ended: ${lines.join('\n')}`);
    });
    ended.catch(() => undefined);
    return new Program(running, await Promise.race([listening, ended]));
  }

  get pid(): number {
    return this.running.pid;
  }

  stop(): Promise<unknown> {
    return this.running.stop();
  }
}
