import type { IncomingMessage } from 'node:http';
import { newId } from '#lib/kernel';

const VISIBLE = /^[\x21-\x7e]{1,128}$/;

// Random bytes for every request would cost more than its routing. The process draws them once. The
// last group of the UUID counts, so ids stay unique and ordered.
const PREFIX = newId().slice(0, 24);
let count = 0;

/** The client's X-Request-Id if it has 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && VISIBLE.test(given)) return given;
  return PREFIX + (count++).toString(16).padStart(12, '0');
}
