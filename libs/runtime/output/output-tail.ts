import type { Readable } from 'node:stream';
import { cleanText, shorten } from './clean-text.js';
import { LineSplitter } from './line-splitter.js';
import type { Redactor } from './redactor.js';
import type { Throttle } from './throttle.js';

/** Characters of one line that are shown. */
const MAX_LINE = 4_096;
/** Redacted before it is cut, so that no secret is cut in two and shown by halves. */
const MAX_REDACTED = 4 * MAX_LINE;

interface KeptLine {
  size: number;
  show: () => string;
}

/** Keeps the end of what a process writes to both its streams, and makes only that readable. */
export class OutputTail {
  private lines: KeptLine[] = [];
  private size = 0;
  private readonly splitters: LineSplitter[] = [];

  constructor(
    private readonly redactor: Redactor,
    private readonly maxBytes: number,
  ) {}

  read(stream: Readable, throttle: Throttle, onData: () => void): void {
    const redactorOf = this.redactor.forLines();
    const splitter = new LineSplitter(MAX_REDACTED, (line, dropped) => {
      const redact = redactorOf(line);
      this.keep({
        size: Math.min(line.length, MAX_LINE) + 1,
        show: () => shorten(redact(cleanText(line)), MAX_LINE, dropped),
      });
    });
    this.splitters.push(splitter);
    throttle.read(stream, (chunk) => {
      onData();
      splitter.write(chunk);
    });
  }

  /** Call it when both streams have ended. @returns at most `maxBytes` bytes of UTF-8 */
  end(): string {
    for (const splitter of this.splitters) splitter.end();
    return lastBytes(this.lines.map((line) => line.show()).join('\n'), this.maxBytes);
  }

  private keep(line: KeptLine): void {
    this.lines.push(line);
    this.size += line.size;
    // Twice as much as is shown, since hiding secrets may shorten it; dropped in bulk, since
    // shifting an array by one for each line of a flood would cost more than reading the line.
    if (this.size < 4 * this.maxBytes) return;
    while (this.size > 2 * this.maxBytes) {
      const half = Math.max(1, this.lines.length >> 1);
      for (const { size } of this.lines.splice(0, half)) this.size -= size;
      if (this.lines.length <= 1) break;
    }
  }
}

function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let from = bytes.length - maxBytes;
  // Not in the middle of a character.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString('utf8');
}
