import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../../test/support/any-text.js';
import { fit } from './fit.js';

const sizeOf = (value: unknown) => JSON.stringify(value).length;

it('a value that fits is unchanged', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => expect(fit(value, 1e6)).toEqual(value)));
});

it('any value is shrunk to the limit', () => {
  const texts = anyText({ maxLength: 600 });
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('any'), { maxLength: 12 }),
      fc.dictionary(texts, tie('any'), { maxKeys: 12 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, fc.integer({ min: 200, max: 1_000 }), (any, room) => {
      expect(sizeOf(fit(any, room))).toBeLessThanOrEqual(room);
    }),
  );
});

describe('fit', () => {
  it('a long text loses its end', () => {
    const cut = fit('x'.repeat(1_000), 200) as string;
    expect(cut).toMatch(/^x{100,} \[omitted: \d+ more characters\]$/);
  });

  it('a long list loses its last items', () => {
    const list = Array.from({ length: 100 }, (_, at) => ({ at }));
    const cut = fit(list, 200) as unknown[];
    expect(cut.slice(0, 3)).toEqual([{ at: 0 }, { at: 1 }, { at: 2 }]);
    expect(cut.at(-1)).toBe(`[omitted: ${100 - (cut.length - 1)} more items]`);
  });

  it('lists without room for an item name only the number of items', () => {
    const nested = [Array.from({ length: 3 }, () => [['x'.repeat(600)], 'y'.repeat(600)])];
    expect(fit(nested, 110)).toEqual(['[omitted: 1 more items]']);
    for (const room of [60, 110, 150, 200]) {
      expect(sizeOf(fit(nested, room))).toBeLessThanOrEqual(room);
      expect(sizeOf(fit({ nested, more: nested }, room))).toBeLessThanOrEqual(room);
    }
  });

  it('an object loses its largest member first', () => {
    const cut = fit({ id: 'a', large: 'x'.repeat(1_000), title: 'b' }, 300);
    const large = expect.stringContaining('[omitted:');
    expect(cut).toEqual({ id: 'a', large, title: 'b' });
    expect(Object.keys(cut as object)).toEqual(['id', 'large', 'title']);
  });

  it('an object with too many members counts the omitted ones', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`name${at}`, 'x']));
    const cut = fit(many, 300) as Record<string, unknown>;
    expect(cut['…']).toBe(`[omitted: ${500 - (Object.keys(cut).length - 1)} more members]`);
  });

  it('a cut never splits a character', () => {
    const cut = fit('😀'.repeat(1_000), 201) as string;
    expect(cut.isWellFormed()).toBe(true);
  });
});
