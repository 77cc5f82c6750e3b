import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

/** A built program as a process, with all of its output. */
export class Program {
  output = '';
  private readonly child: ChildProcess;
  readonly ended: Promise<number | null>;

  /**
   * @param command the program that runs the script. Default: Node
   * @param input whether `type` can write to its input. Default: it has none
   */
  constructor(
    script: string,
    args: string[],
    env: Record<string, string> = {},
    cwd?: string,
    command = process.execPath,
    input: 'ignore' | 'pipe' = 'ignore',
  ) {
    this.child = spawn(command, [script, ...args], {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', CI: '1', ...env },
      stdio: [input, 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  /** Does the same as `says` for a program that writes to standard error. */
  complains(pattern: RegExp): Promise<RegExpExecArray> {
    return this.says(pattern, this.child.stderr);
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves with the match in the output. Rejects if the program ends before. */
  async says(pattern: RegExp, stream = this.child.stdout): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      const news = stream && once(stream, 'data');
      const code = await Promise.race([news?.then(() => undefined), this.ended]);
      if (code !== undefined && !pattern.test(this.output)) {
        throw new Error(`ended with ${code} before it said ${String(pattern)}:\n${this.output}`);
      }
    }
  }
}

/**
 * Returns the command lines of processes that have the text in their arguments or environment
 * (Linux).
 */
export function processesWith(text: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      return line.includes(text) || environment.includes(text) ? [`${pid} ${line}`] : [];
    } catch {
      return [];
    }
  });
}
