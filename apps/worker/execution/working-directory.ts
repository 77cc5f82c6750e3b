import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { SpawnError } from '#lib/session-runtime';

/** None of it: the run's own folder. */
export type WorkingDirectory = { cwd: string; within: string } | Record<string, never>;

/**
 * Where a command runs if the task says so: within one of the allowed directories once every symbolic
 * link is followed, and which.
 *
 * @throws SpawnError when it is not allowed or is no directory
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
    'inputContext.cwd must be a directory within one that this worker allows (DROVER_WORKER_ALLOWED_DIRS)',
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
  // The outermost: who works in it could put a link in the place of one within.
  return above.sort((one, other) => one.length - other.length)[0];
}

function contains(root: string, path: string): boolean {
  const prefix = root.endsWith(sep) ? root : root + sep;
  return path === root || path.startsWith(prefix);
}
