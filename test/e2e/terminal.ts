import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const DROVER = join(import.meta.dirname, '../..', 'scripts', 'drover.mjs');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface TerminalOptions {
  /** The whole environment beside PATH. The environment of the tests is not inherited. */
  env: Record<string, string>;
  cwd: string;
  input?: string;
}

/** Runs a command line of `drover`. */
export class Terminal {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly child;

  constructor(args: readonly string[], { env, cwd, input = '' }: TerminalOptions) {
    this.child = spawn(process.execPath, [DROVER, ...args], {
      cwd,
      env: { PATH: process.env['PATH'], ...env },
    });
    this.child.stdout.on('data', (chunk) => (this.stdout += chunk));
    this.child.stderr.on('data', (chunk) => (this.stderr += chunk));
    this.child.stdin.end(input);
    this.ended = once(this.child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }
}
