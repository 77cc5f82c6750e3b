import { LOG_ENTRY_COST } from '#lib/kernel';
import type { EntryLevel, LogEntry } from '../api/types.js';
import type { LogLine } from '../execution/job.js';

/** The share of the budget for the last lines, which contain the reason of a failure. */
const TAIL_SHARE = 0.25;

/** An entry that is not readable yet: most entries of a flood never need to be. */
export interface RawEntry {
  level: EntryLevel;
  event: string;
  line: LogLine;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * Limits the log of a run. The first lines pass. After they exceed the budget, only the last lines
 * are kept. They come at the end, after an entry with the number of missing lines.
 */
export class OutputBudget {
  private headLeft: number;
  private readonly tailLimit: number;
  private tail: RawEntry[] = [];
  private tailStart = 0;
  private tailCost = 0;
  private missing = { entries: 0, characters: 0 };
  private full = false;
  private lastAt = 0;

  /**
   * @param limit characters of all entries together, each with its overhead
   */
  constructor(private readonly limit: number) {
    this.tailLimit = Math.floor(limit * TAIL_SHARE);
    this.headLeft = limit - this.tailLimit;
  }

  /** @returns the entries to write now */
  admit(entry: RawEntry): LogEntry[] {
    const cost = costOf(entry);
    if (!this.full && cost <= this.headLeft) {
      this.headLeft -= cost;
      return [toEntry(entry)];
    }
    const first = !this.full;
    this.full = true;
    this.lastAt = entry.at;
    this.keepInTail(entry, cost);
    return first ? [this.notice(entry.at)] : [];
  }

  /**
   * @returns the entries that were kept for the end
   */
  finish(): LogEntry[] {
    const last = this.tail.slice(this.tailStart);
    this.tail = [];
    const { entries, characters } = this.missing;
    const shown = last.map(toEntry);
    if (entries === 0) return shown;
    const what = `Left out here: ${entries} lines (${characters} characters) of output`;
    return [truncated(`${what}; the last lines follow`, last[0]?.at ?? this.lastAt), ...shown];
  }

  private keepInTail(entry: RawEntry, cost: number): void {
    this.tail.push(entry);
    this.tailCost += cost;
    while (this.tailCost > this.tailLimit) this.forgetOldest();
    // A queue on an array: to move the rest up for every line would cost more than the line.
    if (this.tailStart > 1000 && this.tailStart * 2 > this.tail.length) {
      this.tail = this.tail.slice(this.tailStart);
      this.tailStart = 0;
    }
  }

  private forgetOldest(): void {
    const oldest = this.tail[this.tailStart] as RawEntry;
    this.tailStart += 1;
    this.tailCost -= costOf(oldest);
    this.missing.entries += 1;
    this.missing.characters += sizeOf(oldest.line);
  }

  private notice(at: number): LogEntry {
    return truncated(
      `The output exceeds ${this.limit} characters: from here on only its last lines are kept, ` +
        'and come when the run ends',
      at,
    );
  }
}

function truncated(message: string, at: number): LogEntry {
  return toEntry({ level: 'WARN', event: 'output_truncated', line: message, at });
}

function toEntry({ level, event, line, at }: RawEntry): LogEntry {
  const message = typeof line === 'string' ? line : line.show();
  return { level, event, message, at: new Date(at).toISOString() };
}

export function costOf(entry: RawEntry): number {
  return sizeOf(entry.line) + LOG_ENTRY_COST;
}

function sizeOf(line: LogLine): number {
  return typeof line === 'string' ? line.length : line.size;
}
