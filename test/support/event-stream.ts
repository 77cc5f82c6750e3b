import { waitFor } from './wait-for.js';

/** One event of a stream, as a browser dispatches it. */
export interface HeardEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

export interface HeardStream {
  status: number;
  headers: Headers;
  /** The events received so far. */
  events: HeardEvent[];
  /** The position to resume from, as a browser stores it. */
  lastEventId(): string;
  /** Resolves once this number of events was received. */
  atLeast(count: number): Promise<HeardEvent[]>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Follows a stream of server-sent events, parsed by the rules of the HTML standard. */
export async function followStream(
  url: string,
  headers: Record<string, string> = {},
): Promise<HeardStream> {
  const gone = new AbortController();
  const response = await fetch(url, { headers, signal: gone.signal });
  const events: HeardEvent[] = [];
  let lastEventId = '';
  const dispatch = (block: string): void => {
    const fields = { id: lastEventId, event: 'message', data: '' };
    for (const line of block.split('\n')) {
      const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
      if (name !== undefined) fields[name as keyof typeof fields] = value ?? '';
    }
    lastEventId = fields.id;
    if (fields.data === '' || fields.event === 'place') return;
    events.push({ ...fields, data: JSON.parse(fields.data) as HeardEvent['data'] });
  };
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      blocks.forEach(dispatch);
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    events,
    lastEventId: () => lastEventId,
    atLeast: (count) => waitFor(`${count} events`, () => events.length >= count && events),
    ended: read().catch(() => undefined),
    close: () => gone.abort(),
  };
}
