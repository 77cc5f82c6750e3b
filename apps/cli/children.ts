import { spawn, type SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';

/** Runs a program of Node at this terminal. @returns its exit code; 128 and the signal's number when one ended it */
export function runNode(args: readonly string[], options: SpawnOptions = {}): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit', ...options });
  // Ctrl-C reaches the whole group: the child ends, and then this one.
  const wait = (): void => undefined;
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', wait);
  process.on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', wait);
      process.off('SIGTERM', pass);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}
