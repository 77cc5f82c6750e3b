/** One event of a stream. */
export interface StreamEvent {
  /** The bytes of the event with its blank line, as latin1. */
  raw: string;
  /** The text after `data:`, as latin1: each character is a byte of UTF-8. */
  data: string;
}

/** Splits a stream of server-sent events. Memory is bounded by the longest event. */
export class EventSplitter {
  private line: string[] = [];
  private lines: string[] = [];
  private size = 0;

  constructor(
    private readonly onEvent: (event: StreamEvent) => void,
    /** The longest event in bytes. */
    private readonly maxEvent: number,
  ) {}

  /** @throws RangeError after an event that is too long */
  push(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.line.push(text.slice(start, end + 1));
      start = end + 1;
      this.endLine();
    }
    if (start < text.length) {
      this.line.push(text.slice(start));
      this.size += text.length - start;
    }
    if (this.size > this.maxEvent) throw new RangeError('An event of the provider is too long.');
  }

  /** Returns the bytes after the last whole event, as latin1. */
  rest(): string {
    return this.lines.join('') + this.line.join('');
  }

  private endLine(): void {
    const line = this.line.join('');
    this.line = [];
    this.lines.push(line);
    this.size += line.length;
    if (line !== '\n' && line !== '\r\n') return;
    const raw = this.lines.join('');
    const data = this.lines
      .filter((each) => each.startsWith('data:'))
      .map((each) => each.slice(5).trim());
    this.lines = [];
    this.size = 0;
    this.onEvent({ raw, data: data.join('\n') });
  }
}
