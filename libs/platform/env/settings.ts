import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Values separated by commas; spaces around them do not count. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

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
  return z.url({
    protocol: /^https?$/,
    error: `must be the http:// or https:// address ${whose}`,
  });
}

/** A whole number from `min` to `max`, `fallback` where the variable is left out. */
export function integer(fallback: number, min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\s*-?\d+\s*$/, error)
    .transform(Number)
    .pipe(z.number().min(min, error).max(max, error))
    .default(fallback);
}

/** Its message names every wrong variable, one a line. */
export class SettingsError extends Error {
  /** @param problems each a variable's name and what it must be */
  constructor(readonly problems: string[]) {
    const lines = problems.map((problem) => `  ${problem.replace(' ', ': ')}`).join('\n');
    super(`The configuration is not valid. Correct these environment variables:\n${lines}`);
  }
}

/**
 * Reads a program's environment variables. An empty one counts as absent, as compose files write it so.
 * Each may be given as a file instead, named by the variable with `_FILE` behind it: other processes can
 * read an environment. It is read once; a line break at its end does not count.
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
  throw new SettingsError(issues.map(({ path, message }) => `${String(path[0])} ${message}`));
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
