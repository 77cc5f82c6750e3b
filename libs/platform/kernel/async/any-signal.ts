import { setMaxListeners } from 'node:events';

/**
 * Runs `work` with a signal that aborts with the first of `sources`, and removes its listeners when
 * it is done.
 *
 * AbortSignal.any is no alternative: a long-lived source keeps each signal with a listener for
 * ever.
 */
export async function withAnySignal<T>(
  sources: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const any = new AbortController();
  const abort = (): void => any.abort();
  // A server's own signal has as many listeners as there are waiting requests.
  setMaxListeners(0, ...sources);
  for (const source of sources) source.addEventListener('abort', abort, { once: true });
  try {
    if (sources.some((source) => source.aborted)) abort();
    return await work(any.signal);
  } finally {
    for (const source of sources) source.removeEventListener('abort', abort);
  }
}
