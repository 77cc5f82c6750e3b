import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** Finds the clone of Drover that contains this program. A container has no clone. */
export function findClone(): string | undefined {
  for (let at = fileURLToPath(import.meta.url); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'scripts', 'start.mjs'))) return at;
  }
  return undefined;
}

/** @throws Failure if there is no clone */
export function cloneFolder(): string {
  const found = findClone();
  if (found !== undefined) return found;
  throw new Failure(
    'This command needs a clone of Drover.',
    'Sign in to a running server with `drover login URL`.',
    EXIT.usage,
  );
}
