import type { IncomingHttpHeaders } from 'node:http';
import { DroverError } from '#lib/kernel';

const CHARSETS = /;\s*charset\s*=\s*"?([^\s";]*)/gi;
const UTF_8 = /^utf-?8$/i;

/**
 * Takes bodies only in the one form that is read, UTF-8 as it is: in any other the same bytes mean
 * something else to their sender than to us.
 *
 * @throws DroverError `unsupported_media_type`
 */
export function requirePlainUtf8(headers: IncomingHttpHeaders): void {
  const { 'content-encoding': encoding, 'content-type': type = '' } = headers;
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding is not identity: send the body as it is, not compressed.');
  }
  // Nearly all say `application/json` and no more.
  if (!type.includes(';')) return;
  for (const [, charset = ''] of type.matchAll(CHARSETS)) {
    if (!UTF_8.test(charset)) {
      throw unsupported('The charset in Content-Type is not utf-8: send the body in UTF-8.');
    }
  }
}

function unsupported(detail: string): DroverError {
  return new DroverError('unsupported_media_type', { detail });
}
