import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * Reads a request.
 *
 * @returns undefined for a longer one, whose rest is discarded
 */
export async function readRequest(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length']) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  // The iterator would end the connection that still needs its answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBytes) return undefined;
  }
  return Buffer.concat(chunks);
}

/** Reads the start of an answer, of which the rest is discarded. */
export async function readStart(answer: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
