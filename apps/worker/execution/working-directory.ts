import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { SpawnError } from '#lib/runtime';

/**
 * Where a command runs if the task says so: within one of the allowed directories once every symbolic
 * link is followed.
 *
 * @returns undefined for the run's own folder
 * @throws SpawnError when it is not allowed or is no directory
 */
export async function workingDirectory(
  cwd: string | undefined,
  allowedDirs: readonly string[],
): Promise<string | undefined> {
  if (cwd === undefined) return undefined;
  const candidates = isAbsolute(cwd) ? [cwd] : allowedDirs.map((dir) => join(dir, cwd));
  for (const candidate of candidates) {
    const found = await directoryAt(candidate);
    if (found !== undefined && (await isWithinAny(found, allowedDirs))) return found;
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

async function isWithinAny(real: string, dirs: readonly string[]): Promise<boolean> {
  for (const dir of dirs) {
    const root = await directoryAt(dir);
    if (root === undefined) continue;
    const prefix = root.endsWith(sep) ? root : root + sep;
    if (real === root || real.startsWith(prefix)) return true;
  }
  return false;
}
