import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  DroverError,
  encodeCursor,
  idOfCursor,
  newId,
  numberOfCursor,
  positionOfCursor,
} from '#lib/kernel';
import { anyText } from '../../../../test/support/any-text.js';

describe('cursors', () => {
  it('a cursor returns the key of its page', () => {
    const id = newId();
    expect(idOfCursor(encodeCursor([id]))).toBe(id);
    expect(numberOfCursor(encodeCursor(['42']))).toBe('42');
    expect(positionOfCursor(encodeCursor([42]))).toBe(42);
  });

  it('the first page has no cursor', () => {
    expect(idOfCursor(undefined)).toBeNull();
    expect(numberOfCursor(undefined)).toBeNull();
    expect(positionOfCursor(undefined)).toBeNull();
  });

  const wrong = [
    '',
    'x',
    encodeCursor(['not an id']),
    encodeCursor([1.5]),
    encodeCursor([1e30]),
    encodeCursor([newId(), newId()]),
    `${encodeCursor([newId()])}=`,
    Buffer.from('[null]').toString('base64url'),
    Buffer.from('{"length":1}').toString('base64url'),
  ];
  it.each(wrong)('the cursor %j is refused by its field', (cursor) => {
    for (const read of [idOfCursor, numberOfCursor, positionOfCursor]) {
      expect(() => read(cursor)).toThrow(
        expect.objectContaining({
          code: 'malformed_cursor',
          extras: expect.objectContaining({
            errors: [expect.objectContaining({ field: 'cursor' })],
          }),
        }),
      );
    }
  });

  it('no cursor causes another error', () => {
    const any = fc.oneof(
      anyText(),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    );
    fc.assert(
      fc.property(any, (cursor) => {
        for (const read of [idOfCursor, numberOfCursor, positionOfCursor]) {
          try {
            read(cursor);
          } catch (error) {
            expect(error).toBeInstanceOf(DroverError);
          }
        }
      }),
    );
  });
});
