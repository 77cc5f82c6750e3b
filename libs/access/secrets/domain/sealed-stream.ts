import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataKey } from './sealed-text.js';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a content of any size as it passes: nonce, ciphertext, tag.
 *
 * @param place the owner of the content, as texts; it opens only at the same place
 */
export async function* sealStream(
  { id, key }: DataKey,
  content: AsyncIterable<Buffer>,
  place: readonly string[],
): AsyncGenerator<Buffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(contextOf(id, place));
  yield nonce;
  for await (const chunk of content) yield cipher.update(chunk);
  yield cipher.final();
  yield cipher.getAuthTag();
}

/**
 * Decrypts a content as it passes. The reader must use nothing of it before its end.
 *
 * @throws Error at the end if the content was altered, cut, or belongs to another key or place
 */
export async function* openStream(
  { id, key }: DataKey,
  sealed: AsyncIterable<Buffer>,
  place: readonly string[],
): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  let decipher: ReturnType<typeof decipherOf> | undefined;
  for await (const chunk of sealed) {
    held = Buffer.concat([held, chunk]);
    if (decipher === undefined && held.length >= NONCE_BYTES) {
      decipher = decipherOf(held.subarray(0, NONCE_BYTES));
      held = held.subarray(NONCE_BYTES);
    }
    if (decipher === undefined || held.length <= TAG_BYTES) continue;
    yield decipher.update(held.subarray(0, -TAG_BYTES));
    held = held.subarray(-TAG_BYTES);
  }
  if (decipher === undefined || held.length < TAG_BYTES) throw new Error('The content is cut off');
  decipher.setAuthTag(held);
  yield decipher.final();

  function decipherOf(nonce: Buffer) {
    const opened = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    return opened.setAAD(contextOf(id, place));
  }
}

function contextOf(keyId: string, place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(['drover-stream:1', keyId, ...place]));
}
