import { clean, cleanLine, escapeControls } from './clean.js';
import { type Column, plainLine, stackedLines, tableLines } from './table.js';

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
    const table = tableLines(rows, columns, this.options.width);
    if (table === undefined) return this.lines(stackedLines(rows, columns));
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
      const text = typeof field === 'object' ? JSON.stringify(field) : String(field);
      const lines = clean(text).split('\n');
      const rest = lines.slice(1).map((line) => `\n${' '.repeat(width + 2)}${line}`);
      const label = this.options.terminal
        ? this.paint('dim', name.padEnd(width)) + '  '
        : `${name}\t`;
      this.line(label + [lines[0], ...rest].join(''));
    }
  }

  /** Prints an answer of the API as JSON. */
  value(value: unknown): void {
    const json = JSON.stringify(value, null, this.options.terminal ? 2 : undefined);
    this.stdout(`${escapeControls(json)}\n`);
  }

  /** Prints the result of a change: the object as JSON, else a sentence. */
  done(value: unknown, sentence: string): void {
    if (this.json) this.value(value);
    else this.line(cleanLine(sentence));
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

const BAR = 20;

/** Formats an ASCII progress bar: `[#####-----] 50%`. */
export function formatBar(percent: number): string {
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * BAR);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${Math.round(percent)}%`;
}

/** Formats the time since a moment, such as `3 m 20 s`. */
export function formatAge(time: string | null | undefined, until = Date.now()): string | null {
  if (time === null || time === undefined) return null;
  return formatDuration((until - Date.parse(time)) / 1000);
}

export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}
