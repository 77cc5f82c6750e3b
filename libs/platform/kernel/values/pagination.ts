import { DroverError } from '../errors/drover-error.js';
import { isUuid } from './ids.js';

/** One page of a list. `nextCursor` is null on the last page. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

export const DEFAULT_PAGE_LIMIT = 50;
export const MAX_PAGE_LIMIT = 200;

const MAX_INTEGER = 2_147_483_647;

/** An opaque cursor with the sort key of the last row of a page. */
export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

/**
 * @param types the type of each part of the key; a uuid is a string
 * @throws DroverError `malformed_cursor` for anything that `encodeCursor` did not make
 */
export function decodeCursor(
  cursor: string,
  types: readonly ('string' | 'number')[],
): (string | number)[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw malformedCursor();
  }
  const wellFormed =
    Array.isArray(parsed) &&
    parsed.length === types.length &&
    parsed.every((part, index) => typeof part === types[index]);
  if (!wellFormed || encodeCursor(parsed as string[]) !== cursor) {
    throw malformedCursor();
  }
  return parsed as (string | number)[];
}

/** For a cursor that the list did not issue. */
export function malformedCursor(): DroverError {
  const message = 'must be `nextCursor` of a page of this list';
  return new DroverError('malformed_cursor', { errors: [{ field: 'cursor', message }] });
}

/**
 * Makes a page of `limit` from rows that were read with a limit of one more.
 *
 * @param cut whether more rows exist although no additional row was read
 */
export function toPage<Row, T>(
  rows: Row[],
  limit: number,
  keyOf: (row: Row) => readonly (string | number)[],
  toItem: (row: Row) => T,
  cut = false,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = (rows.length > limit || cut) && last !== undefined;
  return { items: shown.map(toItem), nextCursor: more ? encodeCursor(keyOf(last)) : null };
}

/**
 * The id after which a page starts, for a list ordered by id. Null at the start.
 *
 * @throws DroverError `malformed_cursor`
 */
export function idOfCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const [id] = decodeCursor(cursor, ['string']);
  if (isUuid(id)) return id;
  throw malformedCursor();
}

/**
 * The same for a list ordered by 64-bit numbers, such as those of the journal.
 *
 * @throws DroverError `malformed_cursor`
 */
export function numberOfCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const [id] = decodeCursor(cursor, ['string']);
  if (/^\d{1,18}$/.test(String(id))) return String(id);
  throw malformedCursor();
}

/**
 * The microseconds since 1970 and the id after which a page starts, for a list ordered by a time and
 * an id. Nulls at the start.
 *
 * @throws DroverError `malformed_cursor`
 */
export function timeAndIdOfCursor(cursor: string | undefined): [string, string] | [null, null] {
  if (cursor === undefined) return [null, null];
  const [at, id] = decodeCursor(cursor, ['string', 'string']) as [string, string];
  if (!/^\d{1,16}$/.test(at) || !isUuid(id)) throw malformedCursor();
  return [at, id];
}

/**
 * The number after which a page starts, for a list ordered by an `integer` of the database.
 *
 * @throws DroverError `malformed_cursor`
 */
export function positionOfCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const [position] = decodeCursor(cursor, ['number']);
  const fits = Number.isInteger(position) && Math.abs(Number(position)) <= MAX_INTEGER;
  if (fits) return Number(position);
  throw malformedCursor();
}
