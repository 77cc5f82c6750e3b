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
 *
 * @throws SettingsError
 */
export function readVariables<T extends z.ZodType>(schema: T, env: NodeJS.ProcessEnv): z.infer<T> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const { issues } = result.error;
  throw new SettingsError(issues.map(({ path, message }) => `${String(path[0])} ${message}`));
}
