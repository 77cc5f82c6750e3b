import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.mjs';

/**
 * The folder of the tools' state between runs. A change of any package changes the folder and
 * removes the old one, because results of older versions do not count.
 */
export function keptFolder() {
  const folder = join(root, '.cache', 'check');
  const lock = readFileSync(join(root, 'package-lock.json'));
  const name = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  mkdirSync(join(folder, name), { recursive: true });
  for (const other of readdirSync(folder)) {
    if (other !== name) rmSync(join(folder, other), { recursive: true, force: true });
  }
  return join(folder, name);
}
