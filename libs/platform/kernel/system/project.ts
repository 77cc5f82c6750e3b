import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder that holds package.json, dist and prisma. It is the same for sources, compiled files and
 * bundled programs, so files are found from here and not from the file that needs them.
 */
export const projectRoot = findRoot();

/** The path of a compiled file. @param path below dist */
export function built(path: string): string {
  return join(projectRoot, 'dist', path);
}

/** The version of the project. */
export function projectVersion(): string {
  const text = readFileSync(join(projectRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function findRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('package.json of Drover is missing: reinstall Drover.');
    folder = above;
  }
  return folder;
}
