import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Whether this module is the program that node was started with. As paths of files: an address has its blanks
 * escaped, and a link in the way is resolved in it.
 *
 * @param url `import.meta.url`
 */
export function isMain(url) {
  const [, started] = process.argv;
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}
