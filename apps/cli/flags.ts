import { misuse } from './failure.js';

/** The options that a command was given, by their long names. */
export class Flags {
  constructor(private readonly given: Readonly<Record<string, unknown>>) {}

  has(name: string): boolean {
    return this.value(name) !== undefined && this.value(name) !== false;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** @throws Failure when it is missing */
  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw misuse(`--${name} is missing.`);
    return text;
  }

  list(name: string): string[] | undefined {
    const value = this.value(name);
    return Array.isArray(value) ? value.map(String) : undefined;
  }

  /** @throws Failure when it is no number */
  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number))
      throw misuse(`--${name} needs a number, and "${text}" is none.`);
    return number;
  }

  /** `NAME=VALUE`, or `NAME` for a variable of the environment. */
  pairs(name: string): Record<string, string> | undefined {
    const list = this.list(name);
    if (list === undefined) return undefined;
    return Object.fromEntries(
      list.map((pair) => {
        const at = pair.indexOf('=');
        if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
        const value = process.env[pair];
        if (value === undefined)
          throw misuse(`--${name} ${pair} has no value, and no variable ${pair} is set.`);
        return [pair, value];
      }),
    );
  }

  private value(name: string): unknown {
    return this.given[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
  }
}

/** The fields that were given, without those that were not. */
export function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> };
}
