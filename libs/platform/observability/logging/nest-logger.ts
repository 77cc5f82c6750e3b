import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Nest's own lines in Drover's form. Lines during its start have the level `debug`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(String(message), context(rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(String(message), context(rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.logger.trace(String(message), context(rest));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn(String(message), context(rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.logger.error(String(message), withError(message, rest));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.logger.fatal(String(message), withError(message, rest));
  }
}

// Nest appends the name of the class, and a stack before it for errors.
function context(rest: unknown[]): Record<string, unknown> {
  return { context: rest.at(-1) };
}

function withError(message: unknown, rest: unknown[]): Record<string, unknown> {
  const error = [message, ...rest].find((part) => part instanceof Error);
  const stack = rest.length > 1 ? rest[0] : undefined;
  return { ...context(rest), ...(error ? { error } : stack === undefined ? {} : { stack }) };
}
