import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a request carries this token, compared in constant time.
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
