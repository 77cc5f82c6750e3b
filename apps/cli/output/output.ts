import { clean, cleanLine, escapeControls } from './clean.js';
import { shortLength } from './short-ids.js';
import { type Column, plainLine, stackedLines, tableLines } from './table.js';
import { formatLogTime, formatMoment, isTime } from './time.js';

export { formatAge, formatDuration } from './duration.js';

export interface OutputOptions {
  json: boolean;
  colour: boolean;
  /** Whether stdout is a terminal. Data is then formatted for reading. */
  terminal: boolean;
  width: number;
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 };
export type Colour = keyof typeof CODES;

/** Writes data to stdout and messages to stderr, without terminal commands from the server. */
export class Output {
  constructor(
    readonly options: OutputOptions,
    private readonly stdout: (text: string) => void,
    private readonly stderr: (text: string) => void,
  ) {}

  get json(): boolean {
    return this.options.json;
  }

  /** Prints a list: a table on a terminal, tab-separated lines in a pipe, or a JSON array. */
  rows<T>(rows: readonly T[], columns: readonly Column<T>[], emptyText: string): void {
    if (this.json) return this.value(rows);
    if (!this.options.terminal) {
      for (const row of rows) this.line(plainLine(row, columns));
      return;
    }
    if (rows.length === 0) return this.note(emptyText);
    const shown = columns.map((column) => forPeople(rows, column));
    const table = tableLines(rows, shown, this.options.width);
    if (table === undefined) return this.lines(stackedLines(rows, shown));
    const [head = '', ...lines] = table;
    this.lines([this.paint('bold', head), ...lines]);
  }

  /** Prints one object, one field per line, or as JSON. */
  record(value: unknown, fields: readonly (readonly [name: string, value: unknown])[]): void {
    if (this.json) return this.value(value);
    const visible = fields.filter(
      ([, field]) => field !== null && field !== undefined && field !== '',
    );
    const width = Math.max(0, ...visible.map(([name]) => name.length));
    for (const [name, field] of visible) {
      const value = typeof field === 'string' && isTime(field) ? this.time(field) : field;
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      const lines = clean(text).split('\n');
      const rest = lines.slice(1).map((line) => `\n${' '.repeat(width + 2)}${line}`);
      const label = this.options.terminal
        ? this.paint('dim', name.padEnd(width)) + '  '
        : `${name}\t`;
      this.line(label + [lines[0], ...rest].join(''));
    }
  }

  /** Formats a time for people on a terminal. A pipe gets it unchanged. */
  time(time: string, timeZone?: string): string {
    return this.options.terminal ? formatMoment(time, timeZone) : time;
  }

  /** Formats the time of a log entry in the same way, without the distance. */
  logTime(time: string): string {
    return this.options.terminal ? formatLogTime(time) : time;
  }

  /** Prints an answer of the API as JSON. */
  value(value: unknown): void {
    const json = JSON.stringify(value, null, this.options.terminal ? 2 : undefined);
    this.stdout(`${escapeControls(json)}\n`);
  }

  /** Prints the result of a change: the object as JSON, else a sentence, or a line for each text. */
  done(value: unknown, ...lines: string[]): void {
    if (this.json) this.value(value);
    else this.lines(lines.map(cleanLine));
  }

  line(text: string): void {
    this.stdout(`${text}\n`);
  }

  private lines(lines: readonly string[]): void {
    for (const line of lines) this.line(line);
  }

  /** Prints the output of a process. A pipe gets it unchanged. */
  raw(text: string): void {
    this.stdout(this.options.terminal ? clean(text) : text);
  }

  /** Prints a message to stderr. */
  note(text: string): void {
    this.stderr(`${clean(text)}\n`);
  }

  /** Prints progress that the next call overwrites. It does nothing without a terminal. */
  progress(text: string): void {
    if (!this.options.terminal || this.json) return;
    const line = cleanLine(text).slice(0, Math.max(0, this.options.width - 1));
    this.stderr(`\r\u001b[K${line}`);
  }

  paint(colour: Colour, text: string): string {
    return this.options.colour ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  }
}

/** A column for a terminal: times are local, and ids as short as the list allows. */
function forPeople<T>(rows: readonly T[], column: Column<T>): Column<T> {
  const length = column.isId === true ? shortLength(rows.map(column.of)) : undefined;
  const of = (row: T) => {
    const value = column.of(row);
    if (typeof value !== 'string') return value;
    return isTime(value) ? formatMoment(value) : value.slice(0, length);
  };
  return { ...column, of };
}

const BAR = 20;

/** Formats an ASCII progress bar: `[#####-----] 50%`. */
export function formatBar(percent: number): string {
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * BAR);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${Math.round(percent)}%`;
}
