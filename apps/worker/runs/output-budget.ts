import type { JsonObject } from '#lib/agent-host';
import { cut, LOG_ENTRY_COST } from '#lib/kernel';
import type { EntryLevel, LogEntry } from '../api/types.js';
import type { LogLine } from '../execution/job.js';

/** The share of the budget for the last lines, which contain the reason of a failure. */
const TAIL_SHARE = 0.25;
/** The share for entries with details once other entries have used up the rest, and the maximum of each. */
const DETAILS_SHARE = 0.25;
const DETAILED_LINE = 300;

/** An entry that is not readable yet: most entries of a flood never need to be. */
export interface RawEntry {
  level: EntryLevel;
  event: string;
  line: LogLine;
  details?: JsonObject;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * Limits the log of a run. The first lines pass. After they exceed the budget, only the last lines
 * are kept. They come at the end, after an entry with the number of missing lines. Entries with details tell
 * the tool calls of a coding agent, which a later run must not repeat. They pass for longer, shortened.
 */
export class OutputBudget {
  private headLeft: number;
  private detailsLeft: number;
  private readonly tailLimit: number;
  private tail: RawEntry[] = [];
  private tailStart = 0;
  private tailCost = 0;
  private missing = { entries: 0, characters: 0 };
  private full = false;
  private lastAt = 0;

  /**
   * @param limit characters of all entries together, each with its overhead
   * @param hasDetails whether entries can have details
   */
  constructor(
    private readonly limit: number,
    hasDetails = false,
  ) {
    this.tailLimit = Math.floor(limit * TAIL_SHARE);
    this.detailsLeft = hasDetails ? Math.floor(limit * DETAILS_SHARE) : 0;
    this.headLeft = limit - this.tailLimit - this.detailsLeft;
  }

  /** @returns the entries to write now */
  admit(entry: RawEntry): LogEntry[] {
    const cost = costOf(entry);
    if (!this.full && cost <= this.headLeft) {
      this.headLeft -= cost;
      return [toEntry(entry)];
    }
    const notices = this.full ? [] : [this.notice(entry.at)];
    this.full = true;
    this.lastAt = entry.at;
    const short = this.shortened(entry);
    if (short !== undefined) return [...notices, short];
    this.keepInTail(entry, cost);
    return notices;
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

  private shortened(entry: RawEntry): LogEntry | undefined {
    if (entry.details === undefined) return undefined;
    const { message } = toEntry(entry);
    const { input } = entry.details;
    const short = {
      ...entry,
      line: cut(message, DETAILED_LINE),
      details: {
        ...entry.details,
        ...(typeof input === 'string' && { input: cut(input, DETAILED_LINE) }),
      },
    };
    const cost = costOf(short);
    if (cost > this.detailsLeft) return undefined;
    this.detailsLeft -= cost;
    return toEntry(short);
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

function toEntry({ level, event, line, details, at }: RawEntry): LogEntry {
  const message = typeof line === 'string' ? line : line.showColoured();
  return { level, event, message, details, at: new Date(at).toISOString() };
}

export function costOf(entry: RawEntry): number {
  const details = entry.details === undefined ? 0 : JSON.stringify(entry.details).length;
  return sizeOf(entry.line) + details + LOG_ENTRY_COST;
}

function sizeOf(line: LogLine): number {
  return typeof line === 'string' ? line.length : line.size;
}
