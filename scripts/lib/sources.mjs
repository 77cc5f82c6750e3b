import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** Describes the sources that all of dist/ was compiled from, if they are known. */
export const BUILT = join(root, 'dist', '.drover-built');

/**
 * Returns the paths of all files below a folder of the clone, relative to its root. A missing
 * folder has none.
 */
export function listFiles(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/** Returns a digest that changes with any of the files; paths are relative to the clone's root. */
export function hashOf(...paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(join(root, path)));
  return hash.digest('hex');
}
