import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { readAtMost } from './read-at-most.js';

describe('readAtMost', () => {
  it('reads what is as long as the limit, characters that come in pieces too', async () => {
    const bytes = Buffer.from('wörds');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await readAtMost(Readable.from(pieces), 6)).toBe('wörds');
    expect(await readAtMost(Readable.from(pieces), 5)).toBeUndefined();
    expect(await readAtMost(Readable.from([]), 0)).toBe('');
  });

  it('leaves one that does not end, and closes it', async () => {
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
