import { findClone } from '#lib/kernel';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** @throws Failure if there is no clone */
export function cloneFolder(): string {
  const found = findClone();
  if (found !== undefined) return found;
  throw new Failure(
    'This command needs a clone of Drover.',
    'Use `drover-server` or `drover-worker`, the programs of the packages.',
    EXIT.usage,
  );
}
