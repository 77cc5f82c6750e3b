import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it. Node's own recursion never ends where the system lets nobody make any and says
 * that what is above is missing, as below `/proc`.
 *
 * @param mode of all that are made
 * @returns whether it was not there
 * @throws Error of mkdir(2): `EEXIST` for a file in its place, `ENOTDIR` for one above it
 */
export function makeFolder(path: string, mode?: number): boolean {
  if (isFolder(path)) return false;
  const above = dirname(path);
  if (above !== path && !existsSync(path)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // Somebody else has made it meanwhile.
    if (isFolder(path)) return false;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
