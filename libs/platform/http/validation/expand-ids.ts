import { idWith, isIdPrefix } from '#lib/kernel';
import type { ShortId } from '../parameters/short-ids.js';

type Holder = Record<string | number, unknown>;
type Origin = Pick<ShortId, 'collections' | 'field'>;

/**
 * Puts a valid id in the place of first digits: of a text, of each item of a list, and of `taskId`
 * of an object. Lists and objects are copied, because they are those of the request.
 *
 * @returns the digits, which wait for their ids
 */
export function expandIds(holder: object, key: string, origin: Origin): ShortId[] {
  const found: ShortId[] = [];
  expand(holder as Holder, key, origin, found);
  return found;
}

function expand(holder: Holder, key: string | number, origin: Origin, found: ShortId[]): void {
  const value = holder[key];
  if (isIdPrefix(value)) {
    holder[key] = idWith(value);
    found.push({ ...origin, digits: value, replace: (id) => void (holder[key] = id) });
  } else if (Array.isArray(value)) {
    const items = [...(value as unknown[])];
    holder[key] = items;
    for (const index of items.keys()) {
      const field = `${origin.field}[${index}]`;
      expand(items as unknown as Holder, index, { ...origin, field }, found);
    }
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, 'taskId')) {
    const copy = { ...value };
    holder[key] = copy;
    expand(copy as Holder, 'taskId', { ...origin, field: `${origin.field}.taskId` }, found);
  }
}
