import { REDACTED } from './secret-walk.js';

/** A value in its public form, also as a variable in a list of arguments. */
const HIDDEN = /^(?:[^\s=]+=)?\[redacted\]$/;

/** The error of such a value where no earlier one can be restored. */
export const HIDES_NOTHING = `must be the value itself: ${REDACTED} hides none here`;

/** The places of the values that only have their public form. */
export function hiddenPlaces(value: unknown, path = ''): string[] {
  if (typeof value === 'string') return HIDDEN.test(value) ? [path] : [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => hiddenPlaces(item, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    hiddenPlaces(child, path === '' ? name : `${path}.${name}`),
  );
}
