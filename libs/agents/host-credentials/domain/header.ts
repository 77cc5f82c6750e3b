import { HEADER_NAME } from '#lib/kernel';

/** Headers of the connection and of the message, which the proxy of a session writes itself. */
const NOT_CREDENTIALS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]);

/** @returns why it cannot be the name of a header with a credential, or the name in lower case */
export function readHeaderName(text: string): { why: string } | { header: string } {
  const header = text.toLowerCase();
  if (!HEADER_NAME.test(header)) return { why: 'must be the name of a header' };
  if (NOT_CREDENTIALS.has(header)) return { why: `cannot be ${header}, which the proxy sets` };
  return { header };
}
