import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const DIST = join(import.meta.dirname, '../../dist');

/** With it, the start of a server takes a fifth less CPU. Each bundling of programs empties it. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(DIST, 'programs/.compiled') };

/**
 * The first size of the memory for young objects, in MiB. With Node's own, a start spends a fifth of
 * its CPU on collecting garbage.
 */
const YOUNG_MEMORY = '--min-semi-space-size=32';

/** Tests run alike on every machine. Specs of the sandbox switch it on. */
const UNSANDBOXED = {
  DROVER_SANDBOX: 'off',
  DROVER_ACCOUNTS: 'off',
  ALLOW_UNSANDBOXED_TENANTS: 'true',
};

/** A built program as a process. */
export class BuiltProcess {
  private readonly lines: string[] = [];
  private readonly listeners = new Set<() => void>();

  private constructor(
    readonly program: string,
    private readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n');
        rest = parts.pop() ?? '';
        this.lines.push(...parts);
        for (const listener of this.listeners) listener();
      });
    }
  }

  /**
   * @param program below dist, such as `apps/server/main.js`
   * @param dist that of another version
   */
  static start(
    program: string,
    env: Record<string, string>,
    words: readonly string[] = [],
    dist = DIST,
  ): BuiltProcess {
    const child = spawn(process.execPath, [YOUNG_MEMORY, join(dist, program), ...words], {
      env: {
        ...COMPILE_CACHE,
        ...UNSANDBOXED,
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new BuiltProcess(program, child);
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Returns the JSON line with this message once the program has printed it. */
  async said(message: string): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.lines.flatMap(parse).find((line) => line['message'] === message);
      if (found) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`${this.program} ended without "${message}":\n${this.lines.join('\n')}`);
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.listeners.delete(wake);
          this.child.off('exit', wake);
          resolve();
        };
        this.listeners.add(wake);
        this.child.once('exit', wake);
      });
    }
  }

  /** Returns its output so far. */
  get output(): string {
    return this.lines.join('\n');
  }

  /** Returns the JSON lines with this message so far. */
  all(message: string): Record<string, unknown>[] {
    return this.lines.flatMap(parse).filter((line) => line['message'] === message);
  }

  /** Returns the number of JSON lines with this message so far. */
  count(message: string): number {
    return this.all(message).length;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** From now on, until it ends, nobody reads what it writes. */
  pauseOutput(): void {
    const streams = [this.child.stdout, this.child.stderr];
    for (const stream of streams) stream?.pause();
    this.child.once('exit', () => {
      for (const stream of streams) stream?.resume();
    });
  }

  /** @returns the exit code, or the signal that ended it */
  async ended(): Promise<number | NodeJS.Signals | null> {
    if (this.child.exitCode === null && this.child.signalCode === null)
      await once(this.child, 'exit');
    return this.child.exitCode ?? this.child.signalCode;
  }

  async stop(): Promise<void> {
    this.kill('SIGTERM');
    // A failed test may have left the process stopped, and then it receives no signals.
    this.kill('SIGCONT');
    await this.ended();
  }
}

function parse(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return [];
  }
}
