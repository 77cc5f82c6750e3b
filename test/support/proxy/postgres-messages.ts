/** A message of the Postgres protocol. `type` is empty for a client's first message. */
export interface Message {
  type: string;
  bytes: Buffer;
}

const LENGTH = 4;

/**
 * Cuts a stream into messages: a type of one byte, a length of four that includes itself, the body.
 * A client's first message has no type. Source: PostgreSQL documentation, "Message Formats".
 */
export class MessageSplitter {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private startsWithoutType: boolean) {}

  push(bytes: Buffer): Message[] {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const messages: Message[] = [];
    for (let message = this.shift(); message; message = this.shift()) messages.push(message);
    return messages;
  }

  private shift(): Message | undefined {
    const head = this.startsWithoutType ? 0 : 1;
    if (this.rest.length < head + LENGTH) return undefined;
    const size = head + this.rest.readInt32BE(head);
    if (this.rest.length < size) return undefined;
    const bytes = this.rest.subarray(0, size);
    this.rest = this.rest.subarray(size);
    this.startsWithoutType = false;
    return { type: head === 0 ? '' : String.fromCharCode(bytes[0] ?? 0), bytes };
  }
}

/** Returns the prepared statement that a Bind names, or the text of a simple query. */
export function statementOf({ type, bytes }: Message): string | undefined {
  if (type === 'Q') return textAt(bytes, 1 + LENGTH).text;
  if (type !== 'B') return undefined;
  const portal = textAt(bytes, 1 + LENGTH);
  return textAt(bytes, portal.next).text;
}

/** Returns the tag of a CommandComplete, such as `COMMIT`. */
export function tagOf({ type, bytes }: Message): string | undefined {
  return type === 'C' ? textAt(bytes, 1 + LENGTH).text : undefined;
}

/**
 * Returns the status of a ReadyForQuery: a transaction is open (T), failed (E), or there is none
 * (I).
 */
export function statusOf({ bytes }: Message): string {
  return String.fromCharCode(bytes[1 + LENGTH] ?? 0);
}

function textAt(bytes: Buffer, start: number): { text: string; next: number } {
  const end = bytes.indexOf(0, start);
  return { text: bytes.toString('utf8', start, end), next: end + 1 };
}
