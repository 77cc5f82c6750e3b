import { spawn, type SpawnOptions } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cloneFolder } from './project.js';

/**
 * Returns the Node that runs servers and workers of this clone. The command line itself runs on
 * older versions, too.
 *
 * @throws Failure if there is no clone, or no such Node
 */
export async function nodeOfClone(): Promise<string> {
  const module = pathToFileURL(join(cloneFolder(), 'scripts', 'lib', 'node.mjs')).href;
  const { nodeOfDrover } = (await import(module)) as { nodeOfDrover(): string };
  return nodeOfDrover();
}

/** Runs a Node program in this terminal. @returns its exit code, or 128 plus the signal number */
export async function runNode(
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<number> {
  return runProgram(await nodeOfClone(), args, options);
}

/** Runs a program in this terminal. @returns its exit code, or 128 plus the signal number */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  // Ctrl-C reaches the whole process group. The child must end before this process.
  const ignore = (): void => undefined;
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', ignore);
  process.on('SIGTERM', forward);
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}
