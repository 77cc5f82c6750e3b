import { cut, fillPlaceholders } from '#lib/kernel';

/** Names joined by dots. `*` matches any item of a list. */
export const PATH = /^[\w-]{1,100}(?:\.(?:[\w-]{1,100}|\*)){0,20}$/;

/** Maximum number of characters that a placeholder inserts. */
const MAX_VALUE = 10_000;

/** The values at the path, several if it has a `*`. Inherited properties do not count. */
export function valuesAt(payload: unknown, path: string): unknown[] {
  const start: unknown[] = [payload];
  return path.split('.').reduce((values, name) => values.flatMap((at) => below(at, name)), start);
}

/** The texts, numbers and booleans at the path as text. Empty if there are none. */
export function textAt(payload: unknown, path: string): string {
  const known = valuesAt(payload, path).filter(isScalar);
  return cut(known.map(String).join(', '), MAX_VALUE);
}

/** The paths of the placeholders in all texts of a JSON value. */
export function placeholdersIn(template: unknown): string[] {
  const found: string[] = [];
  fillIn(template, (path) => {
    found.push(path);
    return '';
  });
  return found;
}

/**
 * A copy of a JSON value with the placeholders in its texts replaced. Inserted text is not expanded
 * again.
 */
export function fillIn<T>(template: T, valueOf: (path: string) => string): T;
export function fillIn(template: unknown, valueOf: (path: string) => string): unknown {
  if (typeof template === 'string') return fillPlaceholders(template, valueOf);
  if (Array.isArray(template)) return template.map((item: unknown) => fillIn(item, valueOf));
  if (typeof template !== 'object' || template === null) return template;
  const fields = Object.entries(template).map(([name, value]) => [name, fillIn(value, valueOf)]);
  return Object.fromEntries(fields);
}

function below(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (name === '*') return Array.isArray(value) ? (value as unknown[]) : [];
  return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
}

export function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
