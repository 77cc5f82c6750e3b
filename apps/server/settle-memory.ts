import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The interval between two looks at the load, in ms. */
const LOOK_MS = 30_000;
/** A server that works at most this share of its time is idle. */
const IDLE = 0.1;

/**
 * Gives the memory that only the start needed back to the system, once the server is idle. V8 would
 * keep it: the young generation has grown by what loading allocated, and old pages are half empty.
 * It takes 0.2 s, in which nothing else runs, so a start does not wait for it. A busy server needs
 * the large young generation.
 */
export function settleMemoryWhenIdle(): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > IDLE) return;
    clearInterval(timer);
    settleMemory();
  }, LOOK_MS);
  timer.unref();
}

function settleMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  // Only this flavor shrinks the young generation.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
