import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#lib/kernel';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** Finds the clone of Drover that contains this program. A container has no clone. */
export function findClone(): string | undefined {
  return existsSync(join(projectRoot, 'scripts', 'start.mjs')) ? projectRoot : undefined;
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
