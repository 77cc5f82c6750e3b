import { spawn, type SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';

/** Runs a Node program in this terminal. @returns its exit code, or 128 plus the signal number */
export function runNode(args: readonly string[], options: SpawnOptions = {}): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit', ...options });
  // Ctrl-C reaches the whole process group. The child must end before this process.
  const ignore = (): void => undefined;
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', ignore);
  process.on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}
