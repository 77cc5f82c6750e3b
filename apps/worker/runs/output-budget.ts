import type { LogEntry } from '../../api/types.js';

/** What an entry costs beside its text: a flood of empty lines must end too. */
const ENTRY_COST = 64;
/** The part of the budget that is kept for the last lines, where the reason of a failure stands. */
const TAIL_SHARE = 0.25;

/**
 * Bounds what a run may write to its log. The first lines pass; from where they exceed the budget
 * on, only the last ones are kept, and come at the end behind an entry that says what is missing.
 */
export class OutputBudget {
  private headLeft: number;
  private readonly tailLimit: number;
  private tail: LogEntry[] = [];
  private tailStart = 0;
  private tailCost = 0;
  private missing = { entries: 0, bytes: 0 };
  private full = false;
  private lastAt = '';

  /** @param limit bytes of all entries together, each with its overhead */
  constructor(private readonly limit: number) {
    this.tailLimit = Math.floor(limit * TAIL_SHARE);
    this.headLeft = limit - this.tailLimit;
  }

  /** @returns the entries that are to be written now */
  take(entry: LogEntry): LogEntry[] {
    const cost = costOf(entry);
    if (!this.full && cost <= this.headLeft) {
      this.headLeft -= cost;
      return [entry];
    }
    const first = !this.full;
    this.full = true;
    this.lastAt = entry.at;
    this.keepInTail(entry, cost);
    return first ? [this.notice(entry)] : [];
  }

  /** @returns the entries that were kept for the end */
  finish(): LogEntry[] {
    const last = this.tail.slice(this.tailStart);
    this.tail = [];
    if (this.missing.entries === 0) return last;
    const at = last[0]?.at ?? this.lastAt;
    const { entries, bytes } = this.missing;
    const message = `Left out here: ${entries} lines (${bytes} bytes) of output; the last lines follow`;
    return [{ level: 'WARN', event: 'output_truncated', message, at }, ...last];
  }

  private keepInTail(entry: LogEntry, cost: number): void {
    this.tail.push(entry);
    this.tailCost += cost;
    while (this.tailCost > this.tailLimit) this.forgetOldest();
    // A queue on an array: moving the rest up on every line would cost more than the line.
    if (this.tailStart > 1000 && this.tailStart * 2 > this.tail.length) {
      this.tail = this.tail.slice(this.tailStart);
      this.tailStart = 0;
    }
  }

  private forgetOldest(): void {
    const oldest = this.tail[this.tailStart] as LogEntry;
    this.tailStart += 1;
    this.tailCost -= costOf(oldest);
    this.missing.entries += 1;
    this.missing.bytes += Buffer.byteLength(oldest.message);
  }

  private notice(entry: LogEntry): LogEntry {
    const message = `The output exceeds ${this.limit} bytes: from here on only its last lines are kept, and come when the run ends`;
    return { level: 'WARN', event: 'output_truncated', message, at: entry.at };
  }
}

export function costOf(entry: LogEntry): number {
  return Buffer.byteLength(entry.message) + ENTRY_COST;
}
