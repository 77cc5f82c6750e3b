import type { DroverClient } from '#lib/api-client';

/** What is told of a stream besides its events. */
export type StreamState = 'connecting' | 'open' | 'away';

export interface Followed {
  /** The path of a stream, with its parameters, without the ticket. */
  path: string;
  /** Names of its events that are wanted. */
  types: readonly string[];
  onEvent(type: string, data: Record<string, unknown>): void;
  onState(state: StreamState): void;
  /** Events were missed that are gone: what is shown is read again. */
  onReset(): void;
}

/** Pause before a stream is opened anew, in milliseconds: short at first, then longer. */
const PAUSES_MS = [500, 2_000, 5_000];

/**
 * Follows a stream until it is told to stop. A stream that is cut goes on behind the last event, with a new ticket where
 * the old one does no more; so does one that ended because its access token did.
 *
 * @returns what ends it
 */
export function follow(api: DroverClient, followed: Followed): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = '';
  let failures = 0;
  let isOver = false;

  async function open(): Promise<void> {
    followed.onState('connecting');
    try {
      const { ticket } = await api.post('/api/v1/events/tickets');
      if (!isOver) listen(ticket);
    } catch {
      again();
    }
  }

  function listen(ticket: string): void {
    const address = new URL(followed.path, location.origin);
    address.searchParams.set('ticket', ticket);
    if (lastId !== '') address.searchParams.set('lastEventId', lastId);
    source = new EventSource(address);
    source.onopen = () => {
      failures = 0;
      followed.onState('open');
    };
    source.onerror = () => {
      // The ticket is too old to come again with soon; a new one is had at once.
      source?.close();
      again();
    };
    for (const type of followed.types)
      source.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
        lastId = lastEventId;
        followed.onEvent(type, JSON.parse(data) as Record<string, unknown>);
      });
    source.addEventListener('reset', () => followed.onReset());
  }

  function again(): void {
    if (isOver) return;
    followed.onState('away');
    const pause = PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)];
    timer = setTimeout(() => void open(), pause);
  }

  void open();
  return () => {
    isOver = true;
    clearTimeout(timer);
    source?.close();
  };
}
