import { decodeCursor, DroverError, isUuid } from '#lib/kernel';

const MAX_INTEGER = 2_147_483_647;

/**
 * The id in the cursor of a list that is ordered by id; undefined for its first page.
 *
 * @throws DroverError `malformed_cursor` for anything that the list did not hand out
 */
export function idAfter(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [id] = partsOf(cursor, 'string');
  return isUuid(id) ? id : refuse();
}

/** The same for a list that is ordered by a whole number. */
export function numberAfter(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const [number] = partsOf(cursor, 'number');
  const fits = Number.isInteger(number) && Math.abs(number as number) <= MAX_INTEGER;
  return fits ? (number as number) : refuse();
}

function partsOf(cursor: string, type: 'string' | 'number'): (string | number)[] {
  try {
    return decodeCursor(cursor, [type]);
  } catch {
    return refuse();
  }
}

function refuse(): never {
  throw new DroverError('malformed_cursor', {
    errors: [{ field: 'cursor', message: 'must be `nextCursor` of a page of this list' }],
  });
}
