import { createHash } from 'node:crypto';
import { actorOf, type Caller, DroverError } from '#lib/kernel';

const VISIBLE = /^[\x21-\x7e]{1,255}$/;

/**
 * @returns the Idempotency-Key, or undefined when the client sent none
 * @throws DroverError `malformed_header` when it is not 1 to 255 visible ASCII characters
 */
export function readKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && VISIBLE.test(header)) return header;
  throw new DroverError('malformed_header', {
    detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  });
}

export interface HashedRequest {
  method: string;
  /** Includes the query. */
  url: string;
  body?: unknown;
}

/**
 * The identity of a request: method, path, query, body and caller. The answer to one member is not
 * for another who uses the same key.
 */
export function hashRequest({ method, url, body }: HashedRequest, caller: Caller): Buffer {
  const { kind, id } = actorOf(caller);
  const parts = [method, url, kind, id, JSON.stringify(body ?? {})];
  return createHash('sha256').update(parts.join('\n')).digest();
}
