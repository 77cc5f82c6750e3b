import { decodeCursor, isUuid, malformedCursor } from '#lib/kernel';

const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * The id after which a page starts, for lists ordered by id.
 *
 * @throws DroverError `malformed_cursor`
 */
export function idAfter(cursor: string | undefined): string {
  if (cursor === undefined) return FIRST;
  const [id] = decodeCursor(cursor, ['string']);
  if (!isUuid(id)) throw malformedCursor();
  return id;
}
