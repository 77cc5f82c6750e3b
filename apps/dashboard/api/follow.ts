import type { StreamOptions } from '#lib/api-client';

/** The state of a stream. A stream that is paused on a hidden page is `connecting` too. */
export type StreamState = 'connecting' | 'open' | 'away';

interface FollowOptions<E extends { id: string }> {
  /** Opens the stream after the last event that was received. */
  open(options: Pick<StreamOptions, 'signal' | 'lastEventId' | 'onState'>): AsyncIterable<E>;
  onEvent(event: E): void;
  onState(state: StreamState): void;
}

/**
 * Follows a stream while the page is visible. A browser allows six connections to a server, and
 * background tabs would take them from the visible tab. When the page becomes visible again, the
 * stream resumes after the last event.
 *
 * @returns a function that stops the stream
 */
export function follow<E extends { id: string }>(options: FollowOptions<E>): () => void {
  let lastEventId: string | undefined;
  let current: AbortController | undefined;

  async function run(stop: AbortController): Promise<void> {
    const { signal } = stop;
    const onState = (state: 'open' | 'away') => {
      if (!signal.aborted) options.onState(state);
    };
    try {
      for await (const event of options.open({ signal, lastEventId, onState })) {
        lastEventId = event.id;
        options.onEvent(event);
      }
    } catch {
      // The server refused the stream. It refuses the page's requests too, and the page shows why.
      if (!signal.aborted) options.onState('connecting');
    }
  }

  function syncWithVisibility(): void {
    if (document.hidden === (current === undefined)) return;
    if (document.hidden) {
      current?.abort();
      current = undefined;
      options.onState('connecting');
    } else {
      current = new AbortController();
      void run(current);
    }
  }

  syncWithVisibility();
  document.addEventListener('visibilitychange', syncWithVisibility);
  return () => {
    document.removeEventListener('visibilitychange', syncWithVisibility);
    current?.abort();
  };
}
