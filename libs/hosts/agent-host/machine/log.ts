export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Record<string, unknown>;

/** The log of a host's parts. */
export type HostLog = Record<LogLevel, (message: string, fields?: LogFields) => void>;

/** Writes one JSON object a line. Never pass a token or any part of a task's input. */
export class Log implements HostLog {
  constructor(
    private readonly write: (line: string) => void,
    private readonly level: LogLevel = 'info',
    private readonly fields: LogFields = {},
  ) {}

  /** The same log, with these fields on every line. */
  with(fields: LogFields): Log {
    return new Log(this.write, this.level, { ...this.fields, ...fields });
  }

  debug(message: string, fields?: LogFields): void {
    this.line('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.line('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.line('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.line('error', message, fields);
  }

  private line(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(this.level)) return;
    const time = new Date().toISOString();
    this.write(`${JSON.stringify({ time, level, message, ...this.fields, ...fields })}\n`);
  }
}
