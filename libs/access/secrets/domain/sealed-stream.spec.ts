import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { openStream, sealStream } from './sealed-stream.js';

const KEY = { id: 'key', key: createSecretKey(randomBytes(32)) };
const PLACE = ['workspace', 'task'];

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}

async function all(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

const seal = (text: string) => all(sealStream(KEY, pieces(Buffer.from(text), 5), PLACE));

it.each([1, 3, 28, 1_000])('a sealed content opens from pieces of %d bytes', async (size) => {
  const sealed = await seal('the state of an agent');
  expect(sealed.includes('state')).toBe(false);
  const opened = await all(openStream(KEY, pieces(sealed, size), PLACE));
  expect(opened.toString()).toBe('the state of an agent');
  expect(await all(openStream(KEY, pieces(await seal(''), size), PLACE))).toHaveLength(0);
});

it('an altered, cut or foreign content does not open', async () => {
  const sealed = await seal('the state of an agent');
  const altered = Buffer.from(sealed);
  altered[20]! ^= 1;
  const open = (bytes: Buffer, place = PLACE, key = KEY) =>
    all(openStream(key, pieces(bytes, 7), place));
  await expect(open(altered)).rejects.toThrow();
  await expect(open(sealed.subarray(0, -1))).rejects.toThrow();
  await expect(open(sealed.subarray(0, 9))).rejects.toThrow('cut off');
  await expect(open(sealed, ['workspace', 'another task'])).rejects.toThrow();
  await expect(open(sealed, PLACE, { ...KEY, id: 'another' })).rejects.toThrow();
});
