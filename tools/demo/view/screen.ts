import { fit } from './text.js';

/** Lines that stay, and below them a block that is drawn again and again. */
export class Screen {
  private drawn = 0;

  /** Whether the block can be drawn over: it needs a terminal that is high and wide enough. */
  readonly live: boolean;

  constructor(
    private readonly out: NodeJS.WriteStream,
    blockLines: number,
  ) {
    const fits = (out.rows ?? 0) > blockLines + 2 && (out.columns ?? 0) >= 80;
    this.live = out.isTTY && !process.env['CI'] && process.env['TERM'] !== 'dumb' && fits;
  }

  get width(): number {
    return this.live ? Math.min(this.out.columns, 120) : 100;
  }

  /** A line that stays, above the block. */
  say(line: string): void {
    this.erase();
    this.out.write(`${line}\n`);
  }

  draw(lines: readonly string[]): void {
    if (!this.live) return;
    // In one write, each line over the one before it: erasing first would flicker.
    const up = this.drawn > 0 ? `\x1b[${this.drawn}A` : '';
    this.out.write(`${up}${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[0J`);
    this.drawn = lines.length;
  }

  /** A step of the preparations; the next line takes its place on a terminal. */
  note(text: string): void {
    if (this.live) this.draw([fit(`${text} ...`, this.width - 1).trimEnd()]);
    else this.say(`${text} ...`);
  }

  /** What is drawn now stays. */
  keep(): void {
    this.drawn = 0;
  }

  private erase(): void {
    if (this.drawn > 0) this.out.write(`\x1b[${this.drawn}A\x1b[0J`);
    this.drawn = 0;
  }
}
