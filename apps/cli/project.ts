import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** The folder of Drover's clone, which this program was built in; undefined in a container, which has a part of it. */
export function findClone(): string | undefined {
  for (let at = fileURLToPath(import.meta.url); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'scripts', 'start.mjs'))) return at;
  }
  return undefined;
}

/** @throws Failure where there is none */
export function cloneFolder(): string {
  const found = findClone();
  if (found !== undefined) return found;
  throw new Failure(
    'Servers are started from a clone of Drover, and this is none.',
    'Sign in to a server that runs with `drover login URL`.',
    EXIT.usage,
  );
}
