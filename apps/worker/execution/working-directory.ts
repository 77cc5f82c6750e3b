import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { SpawnError } from '#lib/session-runtime';

/** An empty object means the run's own folder. */
export type WorkingDirectory = { cwd: string; within: string } | Record<string, never>;

/**
 * The working directory of a command, if the task names one, and the allowed directory around it.
 * It must be within an allowed directory after every symbolic link is resolved.
 *
 * @throws SpawnError if it is not allowed or is no directory
 */
export async function workingDirectory(
  cwd: string | undefined,
  allowedDirs: readonly string[],
): Promise<WorkingDirectory> {
  if (cwd === undefined) return {};
  const candidates = isAbsolute(cwd) ? [cwd] : allowedDirs.map((dir) => join(dir, cwd));
  for (const candidate of candidates) {
    const found = await directoryAt(candidate);
    const within = found && (await allowedAbove(found, allowedDirs));
    if (within) return { cwd: found, within };
  }
  throw new SpawnError(
    'setup',
    'inputContext.cwd must be a directory within DROVER_WORKER_ALLOWED_DIRS of this worker',
  );
}

async function directoryAt(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

async function allowedAbove(real: string, dirs: readonly string[]): Promise<string | undefined> {
  const roots = await Promise.all(dirs.map(directoryAt));
  const above = roots.filter((root) => root !== undefined).filter((root) => contains(root, real));
  // The outermost one: a session that works in it could replace an inner one by a link.
  return above.sort((one, other) => one.length - other.length)[0];
}

function contains(root: string, path: string): boolean {
  const prefix = root.endsWith(sep) ? root : root + sep;
  return path === root || path.startsWith(prefix);
}
