import type { IncomingHttpHeaders } from 'node:http';
import { DroverError } from '#lib/kernel';

const CHARSETS = /;\s*charset\s*=\s*"?([^\s";]*)/gi;
const UTF_8 = /^utf-?8$/i;

/**
 * Accepts bodies only as plain UTF-8. In any other encoding the same bytes have another meaning for
 * their sender.
 *
 * @throws DroverError `unsupported_media_type`
 */
export function requirePlainUtf8(headers: IncomingHttpHeaders): void {
  const { 'content-encoding': encoding, 'content-type': type = '' } = headers;
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding is not identity: send the body as it is, not compressed.');
  }
  // Almost all clients send `application/json` without parameters.
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
