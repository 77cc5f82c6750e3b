/** One event of a stream, by the rules of the HTML standard. */
export interface ServerSentEvent {
  /** The position to resume after. */
  id: string;
  event: string;
  data: string;
}

/** A position without an event, which a heartbeat carries. */
const NOTHING = '';

/**
 * Yields the events of an answer of the type text/event-stream, and its positions as events with
 * empty `data`. Ends with the answer.
 */
export async function* serverSentEvents(
  body: AsyncIterable<Uint8Array>,
  onActivity: () => void,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let block = emptyBlock('');
  for await (const chunk of body) {
    onActivity();
    const text = rest + decoder.decode(chunk, { stream: true });
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') take(block, line);
      else if (block.isChanged) {
        yield { id: block.id, event: block.event, data: block.data.join('\n') };
        block = emptyBlock(block.id);
      }
    }
  }
}

interface Block {
  id: string;
  event: string;
  data: string[];
  isChanged: boolean;
}

function emptyBlock(id: string): Block {
  return { id, event: 'message', data: [], isChanged: false };
}

function take(block: Block, line: string): void {
  const colon = line.indexOf(':');
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? NOTHING : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'id' && !value.includes('\0')) block.id = value;
  else if (name === 'event') block.event = value;
  else if (name === 'data') block.data.push(value);
  else return;
  block.isChanged = true;
}
