import { describe, expect, it } from '@jest/globals';
import { readFaultTimes } from './fault-times.js';

describe('the times of faults', () => {
  it('the times of faults are longer in a soak', () => {
    const [short, long] = [readFaultTimes('short'), readFaultTimes('long')];
    for (const name of Object.keys(long) as (keyof typeof long)[])
      expect(long[name]).toBeGreaterThan(short[name]);
  });

  it('an unknown choice of times is refused', () => {
    expect(() => readFaultTimes('longer')).toThrow('short or long, and not longer');
  });
});
