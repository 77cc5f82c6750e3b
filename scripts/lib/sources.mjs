import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** Says which sources all of dist/ was compiled of, where that is known. */
export const BUILT = join(root, 'dist', '.drover-built');

/** The paths of all files below a folder of the clone, as from its root; none of a folder that is not there. */
export function listFiles(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

/** Another one once any of the files is another; paths as from the clone's root. */
export function hashOf(...paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(join(root, path)));
  return hash.digest('hex');
}
