import { fit } from './text.js';

/** Permanent lines, and below them a block that is redrawn. */
export class Screen {
  private drawn = 0;

  /**
   * Tells whether the block can be redrawn, which needs a terminal of sufficient height and width.
   */
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

  /** Prints a permanent line above the block. */
  say(line: string): void {
    this.erase();
    this.out.write(`${line}\n`);
  }

  draw(lines: readonly string[]): void {
    if (!this.live) return;
    // One write draws each line over the one before it. Erasing first would flicker.
    const up = this.drawn > 0 ? `\x1b[${this.drawn}A` : '';
    this.out.write(`${up}${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[0J`);
    this.drawn = lines.length;
  }

  /** Prints a step of the preparations. On a terminal the next line replaces it. */
  note(text: string): void {
    if (this.live) this.draw([fit(`${text} ...`, this.width - 1).trimEnd()]);
    else this.say(`${text} ...`);
  }

  /** Keeps the drawn lines on the screen. */
  keep(): void {
    this.drawn = 0;
  }

  private erase(): void {
    if (this.drawn > 0) this.out.write(`\x1b[${this.drawn}A\x1b[0J`);
    this.drawn = 0;
  }
}
