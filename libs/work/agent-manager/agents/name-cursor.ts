import { decodeCursor, isUuid, malformedCursor } from '#lib/kernel';

/** The place of an agent in a list by name. */
export type NameKey = readonly [name: string, id: string];

/** @throws DroverError `malformed_cursor` */
export function nameKeyIn(cursor: string | undefined): NameKey | undefined {
  if (cursor === undefined) return undefined;
  const [name, id] = decodeCursor(cursor, ['string', 'string']);
  if (!isUuid(id)) throw malformedCursor();
  return [String(name), id];
}
