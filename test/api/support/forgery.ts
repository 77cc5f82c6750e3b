import { createHmac } from 'node:crypto';

type Json = Record<string, unknown>;

export interface Forged {
  header?: Json;
  payload?: Json;
  secret?: string;
  /** A name of Node's HMAC. Null leaves the signature empty. */
  hash?: string | null;
}

/** Builds a token like the given one with these changes. Only the test has signed it. */
export function forge(genuine: string, { header, payload, secret = '', hash = 'sha256' }: Forged) {
  const [head, body] = genuine.split('.').slice(0, 2).map(decode) as [Json, Json];
  const signed = [encode({ ...head, ...header }), encode({ ...body, ...payload })].join('.');
  const signature =
    hash === null ? '' : createHmac(hash, secret).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}

function decode(part: string): Json {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Json;
}

// An undefined member is removed from the token.
function encode(part: Json): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
