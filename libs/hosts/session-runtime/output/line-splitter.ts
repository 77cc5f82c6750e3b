import { StringDecoder } from 'node:string_decoder';

/**
 * Splits a stream of bytes into lines, independent of the chunks. Characters after the first
 * `maxLength` of a line are only counted, so a stream without line breaks needs no memory.
 */
export class LineSplitter {
  private readonly decoder = new StringDecoder('utf8');
  private line = '';
  private dropped = 0;

  constructor(
    private readonly maxLength: number,
    /** Gets each line without its break, and the number of characters that were dropped. */
    private readonly onLine: (line: string, dropped: number) => void,
  ) {}

  write(chunk: Buffer): void {
    this.consume(this.decoder.write(chunk));
  }

  /** Ends the stream: a last line without a break counts too. */
  end(): void {
    this.consume(this.decoder.end());
    if (this.line !== '' || this.dropped > 0) this.emit();
  }

  private consume(text: string): void {
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      this.append(text, from, to);
      this.emit();
      from = to + 1;
    }
    this.append(text, from, text.length);
  }

  private append(text: string, from: number, to: number): void {
    const room = this.maxLength - this.line.length;
    const kept = Math.min(to - from, room);
    if (kept > 0) this.line += text.slice(from, from + kept);
    this.dropped += to - from - Math.max(kept, 0);
  }

  private emit(): void {
    const { line, dropped } = this;
    this.line = '';
    this.dropped = 0;
    this.onLine(line.endsWith('\r') ? line.slice(0, -1) : line, dropped);
  }
}
