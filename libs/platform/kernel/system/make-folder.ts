import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents. Node's own recursion never ends where the system
 * refuses every folder and reports that the parent is missing, as below `/proc`.
 *
 * @param mode of all created folders
 * @returns whether the folder was missing
 * @throws Error of mkdir(2): `EEXIST` for a file in its place, `ENOTDIR` for a file above it
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (isFolder(path)) return false;
  const above = dirname(path);
  if (above !== path && !existsSync(path)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // Another process has created it meanwhile.
    if (isFolder(path)) return false;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
