import { decodeCursor, isUuid, malformedCursor } from '#lib/kernel';

const MAX_INTEGER = 2_147_483_647;
const MAX_BIGINT = 9_223_372_036_854_775_807n;

/**
 * The id in the cursor of a list ordered by id. Undefined for the first page.
 *
 * @throws DroverError `malformed_cursor` for anything that the list did not issue
 */
export function idAfter(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [id] = decodeCursor(cursor, ['string']);
  if (!isUuid(id)) throw malformedCursor();
  return id;
}

/** The same for a list with 64-bit numbers as ids, those of the journal. */
export function entryAfter(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [id] = decodeCursor(cursor, ['string']);
  const fits = typeof id === 'string' && /^\d{1,19}$/.test(id) && BigInt(id) <= MAX_BIGINT;
  if (!fits) throw malformedCursor();
  return id;
}

/** The same for a list ordered by a whole number. */
export function numberAfter(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const [number] = decodeCursor(cursor, ['number']);
  const fits = Number.isInteger(number) && Math.abs(number as number) <= MAX_INTEGER;
  if (!fits) throw malformedCursor();
  return number as number;
}
