import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { misspeltVariables } from './misspelt.js';

/** Values separated by commas. Spaces around them are ignored. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

/** Absolute paths, separated by colons. */
export const folders = z
  .string()
  .transform((paths) => paths.split(':').filter((path) => path.trim() !== ''))
  .refine((paths) => paths.every((path) => isAbsolute(path)), 'must hold absolute paths only');

/** `true`, `false`, `1` or `0`. */
export const flag = z
  .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
  .transform((value) => value === 'true' || value === '1');

/** One of `values`. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/** An http:// or https:// address; `whose` completes "must be the address". */
export function webAddress(whose: string) {
  return z.url({ protocol: /^https?$/, error: addressRule(whose) });
}

function addressRule(whose: string): string {
  return `must be the http:// or https:// address ${whose}`;
}

/** Addresses of a program over http or https, separated by commas. */
export function webAddresses(whose: string) {
  const texts = z.string(addressRule(whose));
  const addresses = texts.transform((text) => text.split(',').map((one) => one.trim()));
  return addresses.pipe(z.array(webAddress(whose)));
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\s*-?\d+\s*$/, error)
    .transform(Number)
    .pipe(z.number().min(min, error).max(max, error));
}

/** The same with `fallback` for an absent variable. */
export function integer(fallback: number, min: number, max: number) {
  return wholeNumber(min, max).default(fallback);
}

/** Its message names every invalid variable, one in each line. */
export class SettingsError extends Error {
  /**
   * @param problems each with a variable's name and its valid values
   */
  constructor(readonly problems: string[]) {
    const lines = problems.map((problem) => `  ${problem.replace(' ', ': ')}`).join('\n');
    super(`The configuration is not valid. Correct these environment variables:\n${lines}`);
  }
}

/**
 * Reads a program's environment variables. An empty variable counts as absent, because compose
 * files write it that way. A variable with the suffix `_FILE` names a file with the value, because
 * other processes can read an environment. The file is read once, without a line break at its end.
 *
 * @throws SettingsError
 */
export function readVariables<T extends z.ZodObject>(
  schema: T,
  env: NodeJS.ProcessEnv,
): z.infer<T> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse({ ...present, ...fromFiles(Object.keys(schema.shape), present) });
  if (result.success) return result.data;
  const { issues } = result.error;
  const problems = issues.map(({ path, message }) => `${String(path[0])} ${message}`);
  // A misspelt variable can be the reason why another one is missing.
  const misspelt = misspeltVariables(env).flatMap(({ variable, nearest }) =>
    nearest === undefined ? [] : [`${variable} is unknown; the nearest setting is ${nearest}`],
  );
  throw new SettingsError([...problems, ...misspelt]);
}

function fromFiles(
  names: string[],
  present: Record<string, string | undefined>,
): Record<string, string> {
  const given = names.flatMap((name) => {
    const variable = `${name}_FILE`;
    const file = names.includes(variable) ? undefined : present[variable];
    return file === undefined ? [] : [[name, readSecret(variable, file)] as const];
  });
  return Object.fromEntries(given);
}

function readSecret(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingsError([`${variable} names ${file}, which cannot be read (${code})`]);
  }
}
