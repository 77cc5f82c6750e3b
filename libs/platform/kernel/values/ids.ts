import { validate } from 'uuid';
import { uuidv7 } from 'uuidv7';

/**
 * A new id: UUID version 7. Ids of one process sort by creation, even if its clock goes back by
 * less than ten seconds.
 */
export function newId(): string {
  return uuidv7();
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}

/** The first 4 to 32 hexadecimal digits of an id, with any dashes. */
export const ID_PREFIX = /^(?:-*[0-9a-fA-F]){4,32}-*$/;

/** The least and the greatest id that begin with some digits. Undefined: there are too many. */
export function idsWith(prefix: string): { from: string; to: string } | undefined {
  const digits = prefix.replaceAll('-', '').toLowerCase();
  if (digits.length > 32) return undefined;
  const asId = (fill: string) =>
    digits.padEnd(32, fill).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { from: asId('0'), to: asId('f') };
}
