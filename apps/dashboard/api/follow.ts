import type { StreamOptions } from '#lib/api-client';

/** What is told of a stream besides its events: `connecting` also when it is not wanted now. */
export type StreamState = 'connecting' | 'open' | 'away';

interface Followed<E extends { id: string }> {
  /** Opens the stream, behind the last event that was seen. */
  open(options: Pick<StreamOptions, 'signal' | 'lastEventId' | 'onState'>): AsyncIterable<E>;
  onEvent(event: E): void;
  onState(state: StreamState): void;
}

/**
 * Follows a stream until it is told to stop, while the page is in sight: browsers allow six connections to a server, and
 * tabs in the background would keep them from the one that is looked at. What happened meanwhile comes when it is in sight.
 *
 * @returns what ends it
 */
export function follow<E extends { id: string }>(followed: Followed<E>): () => void {
  let lastEventId: string | undefined;
  let current: AbortController | undefined;

  async function run(stop: AbortController): Promise<void> {
    const { signal } = stop;
    const onState = (state: 'open' | 'away') => {
      if (!signal.aborted) followed.onState(state);
    };
    try {
      for await (const event of followed.open({ signal, lastEventId, onState })) {
        lastEventId = event.id;
        followed.onEvent(event);
      }
    } catch {
      // A refusal. What the page asks for is refused as well, and said there.
      if (!signal.aborted) followed.onState('connecting');
    }
  }

  function look(): void {
    if (document.hidden === (current === undefined)) return;
    if (document.hidden) {
      current?.abort();
      current = undefined;
      followed.onState('connecting');
    } else {
      current = new AbortController();
      void run(current);
    }
  }

  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    current?.abort();
  };
}
