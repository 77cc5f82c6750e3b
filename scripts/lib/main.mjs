import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Tells whether this module is the program that node was started with. It compares paths of files,
 * because an address has its blanks escaped and its links resolved.
 *
 * @param url `import.meta.url`
 */
export function isMain(url) {
  const [, started] = process.argv;
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}
