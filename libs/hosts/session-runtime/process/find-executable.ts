import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The file that a program's name means, looked up in a search path. A name with a slash is a path
 * already and stays as it is.
 *
 * @returns undefined when there is no such executable file
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
