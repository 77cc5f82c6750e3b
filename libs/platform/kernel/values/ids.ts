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

/** True if the value is the first digits of an id, and no whole id. */
export function isIdPrefix(value: unknown): value is string {
  return typeof value === 'string' && !isUuid(value) && ID_PREFIX.test(value);
}

/** The ids from one to another, both included. */
export interface IdRange {
  from: string;
  to: string;
}

/** The ids that begin with the digits of an `ID_PREFIX`. */
export function idsWith(prefix: string): IdRange {
  const digits = digitsOf(prefix);
  return { from: asId(digits.padEnd(32, '0')), to: asId(digits.padEnd(32, 'f')) };
}

const NO_DIGITS = '00000000000070008000000000000000';

/** An id that begins with the digits of an `ID_PREFIX`: the lowest one of version 7. */
export function idWith(prefix: string): string {
  const digits = digitsOf(prefix);
  return asId(digits + NO_DIGITS.slice(digits.length));
}

function digitsOf(prefix: string): string {
  return prefix.replaceAll('-', '').toLowerCase();
}

function asId(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
