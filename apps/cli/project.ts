import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/**
 * The folder of Drover's clone, which this program was built in.
 *
 * @throws Failure where it was installed without the rest, such as in a container
 */
export function cloneFolder(): string {
  for (let at = fileURLToPath(import.meta.url); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'scripts', 'start.mjs'))) return at;
  }
  throw new Failure(
    'Servers are started from a clone of Drover, and this is none.',
    'Sign in to a server that runs with `drover login URL`.',
    EXIT.usage,
  );
}
