import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Finds the file of a program in a search path. A name with a slash is a path already and does not
 * change.
 *
 * @returns undefined if there is no such executable file
 */
export function findExecutable(name: string, searchPath: string): string | undefined {
  if (name.includes('/')) return name;
  return searchPath
    .split(delimiter)
    .filter((dir) => dir.startsWith('/'))
    .map((dir) => join(dir, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
