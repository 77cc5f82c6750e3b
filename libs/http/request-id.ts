import type { IncomingMessage } from 'node:http';
import { newId } from '#lib/kernel';

const VISIBLE = /^[\x21-\x7e]{1,128}$/;

/** The client's X-Request-Id when it is 1 to 128 visible ASCII characters, else a new id. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && VISIBLE.test(given) ? given : newId();
}
