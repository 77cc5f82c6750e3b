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
