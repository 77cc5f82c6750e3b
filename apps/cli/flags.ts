import { parseTokens, TOKENS_FORM } from '#lib/api-client';
import { DURATION_FORM, parseDuration } from '#lib/kernel';
import { usageError } from './failure.js';

/** The options of a command line, by their long names. */
export class Flags {
  constructor(private readonly options: Readonly<Record<string, unknown>>) {}

  has(name: string): boolean {
    return this.value(name) !== undefined && this.value(name) !== false;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** @throws Failure if the option is missing */
  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw usageError(`The option --${name} is missing.`);
    return text;
  }

  list(name: string): string[] | undefined {
    const value = this.value(name);
    return Array.isArray(value) ? value.map(String) : undefined;
  }

  /** @throws Failure if the value is not a number */
  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number))
      throw usageError(`--${name} needs a number, not "${text}".`);
    return number;
  }

  /**
   * Reads a duration such as `30m`. A plain number counts seconds.
   *
   * @returns whole seconds. @throws Failure if the value is not a duration
   */
  seconds(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const seconds = parseDuration(text);
    if (seconds === undefined) throw usageError(`--${name} needs ${DURATION_FORM}, not "${text}".`);
    return seconds;
  }

  /** Reads a number of tokens such as `1.5M`. @throws Failure if the value is none */
  tokens(name: string): string | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : toTokens(text, `--${name}`);
  }

  /** Reads `NAME=VALUE` pairs. `NAME` alone takes its value from the environment. */
  pairs(name: string): Record<string, string> | undefined {
    const list = this.list(name);
    if (list === undefined) return undefined;
    return Object.fromEntries(
      list.map((pair) => {
        const at = pair.indexOf('=');
        if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
        const value = process.env[pair];
        if (value === undefined)
          throw usageError(`--${name} ${pair} has no value, and the variable ${pair} is not set.`);
        return [pair, value];
      }),
    );
  }

  private value(name: string): unknown {
    return this.options[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
  }
}

/** Reads a number of tokens. @throws Failure if the text is none */
export function toTokens(text: string, name: string): string {
  const tokens = parseTokens(text);
  if (tokens === undefined) throw usageError(`${name} needs ${TOKENS_FORM}, not "${text}".`);
  return tokens;
}

/** Removes fields that are undefined. */
export function omitUndefined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
