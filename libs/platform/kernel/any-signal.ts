import { setMaxListeners } from 'node:events';

/**
 * Does `work` with a signal that aborts with the first of `sources`, and lets go of these when it is done.
 *
 * Not AbortSignal.any: on Node 20 a source that lives long keeps an entry of each use of it, for ever.
 */
export async function withAnySignal<T>(
  sources: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const any = new AbortController();
  const abort = (): void => any.abort();
  // A server's own signal has as many listeners as there are requests that wait.
  setMaxListeners(0, ...sources);
  for (const source of sources) source.addEventListener('abort', abort, { once: true });
  try {
    if (sources.some((source) => source.aborted)) abort();
    return await work(any.signal);
  } finally {
    for (const source of sources) source.removeEventListener('abort', abort);
  }
}
