import type { OutputSink } from '../drivers/driver.js';
import { keepLine, type KeptLine } from './kept-line.js';
import { LineSplitter } from './line-splitter.js';
import type { Redactor } from './redactor.js';

/** The visible characters of one line. */
const MAX_LINE = 4_096;
/** The characters that are read of a line. A progress bar can overwrite most of them. */
const MAX_READ = 4 * MAX_LINE;

/** Keeps the end of a process's output on both streams, and makes only this part readable. */
export class OutputTail implements OutputSink {
  private lines: KeptLine[] = [];
  private size = 0;
  private readonly splitters: Record<'stdout' | 'stderr', LineSplitter>;

  constructor(
    private readonly redactor: Redactor,
    private readonly maxBytes: number,
  ) {
    this.splitters = { stdout: this.splitter(redactor), stderr: this.splitter(redactor) };
  }

  write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.splitters[stream].write(chunk);
  }

  note(text: string): void {
    this.append(keepLine(`drover: ${text}`, 0, (line) => this.redactor.redact(line), MAX_LINE));
  }

  end(): void {
    for (const splitter of Object.values(this.splitters)) splitter.end();
  }

  /** Call it when both streams have ended. @returns at most `maxBytes` bytes of UTF-8 */
  text(): string {
    return lastBytes(this.lines.map((line) => line.show()).join('\n'), this.maxBytes);
  }

  private splitter(redactor: Redactor): LineSplitter {
    const redactorOf = redactor.forLines();
    return new LineSplitter(MAX_READ, (line, dropped) => {
      this.append(keepLine(line, dropped, redactorOf(line), MAX_LINE));
    });
  }

  private append(line: KeptLine): void {
    this.lines.push(line);
    this.size += line.size + 1;
    // Keeps twice the visible size, since redaction can shorten it. Drops in bulk: to shift an
    // array for each line of a flood costs more than reading the line.
    if (this.size < 4 * this.maxBytes) return;
    while (this.size > 2 * this.maxBytes) {
      const half = Math.max(1, this.lines.length >> 1);
      for (const { size } of this.lines.splice(0, half)) this.size -= size + 1;
      if (this.lines.length <= 1) break;
    }
  }
}

function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let from = bytes.length - maxBytes;
  // Does not start in the middle of a character.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString('utf8');
}
