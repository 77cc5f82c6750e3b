import { v7, validate } from 'uuid';

/** A new id: UUID version 7, so ids sort by the time they were made. */
export function newId(): string {
  return v7();
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}
