import type { Readable } from 'node:stream';
import { DroverError } from '#lib/kernel';

/**
 * The bytes of a body. A reader that stops early does not end the connection, because the client
 * then misses the refusal.
 *
 * @throws DroverError `malformed_request` if the client hangs up
 */
export async function* wholeBody(content: Readable): AsyncGenerator<Buffer> {
  try {
    yield* content.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new DroverError('malformed_request', { detail: 'The body is cut off.', cause: error });
  }
}

/** Node parses the next request of the connection after the rest of this one. */
export function discardRest(content: Readable): void {
  // Later, because the iterator of the bytes has not yet let go of the stream.
  setImmediate(() => content.resume());
}
