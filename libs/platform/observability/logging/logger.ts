import pino from 'pino';
import { redact, redactText } from '#lib/kernel';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
export type LogFields = Record<string, unknown>;

export interface LoggerOptions {
  level: LogLevel;
  /** Fields on every line, such as the instance's id. */
  base?: LogFields;
  /** Destination of the lines. Default: standard output. */
  destination?: { write(line: string): void };
}

/**
 * JSON lines: `logger.info('task claimed', { taskId })`. The message is a constant text for
 * searching, and variable parts are fields. Secrets are hidden by name and by form. An error
 * belongs in a field (`{ error }`), which prints its stack.
 */
export class Logger {
  private constructor(private readonly pino: pino.Logger) {}

  static create(options: LoggerOptions): Logger {
    const settings: pino.LoggerOptions = {
      level: options.level,
      base: { pid: process.pid, ...options.base },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
    };
    const { destination } = options;
    return new Logger(destination ? pino(settings, destination) : pino(settings));
  }

  /** A logger with further fields on every line. */
  child(fields: LogFields): Logger {
    return new Logger(this.pino.child(redact(fields) as LogFields));
  }

  /** Whether lines of this level are written. Use it before creating expensive fields. */
  writes(level: Exclude<LogLevel, 'silent'>): boolean {
    return this.pino.isLevelEnabled(level);
  }

  fatal(message: string, fields?: LogFields): void {
    this.write('fatal', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.write('error', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.write('warn', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.write('info', message, fields);
  }

  debug(message: string, fields?: LogFields): void {
    this.write('debug', message, fields);
  }

  trace(message: string, fields?: LogFields): void {
    this.write('trace', message, fields);
  }

  private write(level: Exclude<LogLevel, 'silent'>, message: string, fields?: LogFields): void {
    if (!this.pino.isLevelEnabled(level)) return;
    this.pino[level](redact(fields ?? {}) as LogFields, redactText(message));
  }
}

/**
 * Writes a line that other programs wait for, in the form of the log. No level hides it, and no
 * value is redacted.
 */
export function announce(write: (line: string) => void, line: LogFields): void {
  const time = new Date().toISOString();
  write(`${JSON.stringify({ level: 'info', time, pid: process.pid, ...line })}\n`);
}
