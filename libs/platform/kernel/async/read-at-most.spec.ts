import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { readAtMost } from './read-at-most.js';

describe('readAtMost', () => {
  it('a stream as long as the limit is read, also with characters in pieces', async () => {
    const bytes = Buffer.from('wörds');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await readAtMost(Readable.from(pieces), 6)).toBe('wörds');
    expect(await readAtMost(Readable.from(pieces), 5)).toBeUndefined();
    expect(await readAtMost(Readable.from([]), 0)).toBe('');
  });

  it('a stream that does not end is abandoned and closed', async () => {
    let closed = false;
    function* endless() {
      try {
        for (;;) yield Buffer.alloc(100);
      } finally {
        closed = true;
      }
    }
    expect(await readAtMost(Readable.from(endless()), 1_000)).toBeUndefined();
    expect(closed).toBe(true);
  });
});
