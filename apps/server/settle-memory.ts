import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives the memory that only the start needed back to the system. V8 would keep it: the young
 * generation has grown by what loading allocated, and old pages are half empty. It takes 0.2 s, in
 * which nothing else runs.
 */
export function settleMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  // Only this flavor shrinks the young generation.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
