/** A token of HTTP. */
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

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

/** Printable ASCII without a space at either end, so that nothing can end the header. */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** @returns why it cannot be the name of a header with a credential, or the name in lower case */
export function readHeaderName(text: string): { why: string } | { header: string } {
  const header = text.toLowerCase();
  if (!NAME.test(header)) return { why: 'must be the name of a header' };
  if (NOT_CREDENTIALS.has(header)) return { why: `cannot be ${header}, which the proxy sets` };
  return { header };
}
