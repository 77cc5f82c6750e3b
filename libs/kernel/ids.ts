import { randomUUID } from 'node:crypto';
import { validate } from 'uuid';

/** Ids of one millisecond that can be told apart in order: what 12 bits count. */
const PER_MS = 0x1000;

let at = 0;
let count = 0;

/**
 * A new id: UUID version 7. Ids of one process sort by the order in which they were made, also when its clock goes
 * back. Of our own because Node draws the random bits of 128 UUIDs at once: the package asks the kernel for each.
 */
export function newId(): string {
  const now = Date.now();
  const random = randomUUID();
  count += 1;
  if (now > at || count === PER_MS) {
    at = Math.max(now, at + 1);
    // From a random place in the lower half, so that processes seldom number alike.
    count = parseInt(random.slice(0, 3), 16) >> 1;
  }
  const time = at.toString(16).padStart(12, '0');
  const order = count.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${random.slice(19)}`;
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}
