import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a request carries this token, in a time that tells nothing of it.
 *
 * @param authorization the request's header
 */
export function hasBearer(authorization: string | undefined, token: string): boolean {
  const [, given = ''] = /^bearer (.+)$/i.exec(authorization ?? '') ?? [];
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
