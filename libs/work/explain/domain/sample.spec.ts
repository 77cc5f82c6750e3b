import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { draw, lasting, type Sample, sampleOf } from './sample.js';

function seen(...values: number[]): Sample {
  const sample = sampleOf(values);
  if (!sample) throw new Error('Nothing was seen');
  return sample;
}

describe('a guess at the next value', () => {
  it.each([
    // Four parts of a quarter: below 10, to 20, to 30, above.
    [[30, 10, 20], 0.25, 10],
    [[30, 10, 20], 0.375, 15],
    [[30, 10, 20], 0.5, 20],
    [[30, 10, 20], 0.75, 30],
    // Above: the deviation is 10, and the last quarter is cut in half.
    [[30, 10, 20], 0.875, 30 + 10 * Math.LN2],
    [[30, 10, 20], 0.125, 10 - 10 * Math.LN2],
    [[5, 5, 5], 0.01, 5],
    [[5, 5, 5], 0.99, 5],
    // For one value the deviation is the value.
    [[100], 0.5, 100],
    [[100], 0.75, 100 + 100 * Math.LN2],
    [[100], 0.01, 0],
  ])('after %j, with the chance %d: %d', (values, share, expected) => {
    expect(draw(seen(...values), share)).toBeCloseTo(expected, 6);
  });

  it('no observation gives no prediction', () => {
    expect(sampleOf([])).toBeNull();
  });

  it('a negative duration counts as zero', () => {
    expect(seen(-5).values).toEqual([0]);
  });

  it('a value that exceeded some observations is predicted from the others', () => {
    const left = lasting(seen(10, 20, 30, 40), 25);
    expect(left?.values).toEqual([30, 40]);
    expect(left && draw(left, 0.0001, 25)).toBe(25);
    expect(lasting(seen(10, 20), 20)).toBeNull();
  });

  it('the prediction grows with its chance', () => {
    const share = fc.double({ min: 0.001, max: 0.999, noNaN: true });
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, share, share, (of, one, other) => {
        const sample = seen(...of);
        const [less, more] = one < other ? [one, other] : [other, one];
        expect(draw(sample, less)).toBeGreaterThanOrEqual(0);
        expect(draw(sample, more)).toBeGreaterThanOrEqual(draw(sample, less) - 1e-6);
      }),
    );
  });
});
