import { describe, expect, it } from '@jest/globals';
import { ScanFloor } from './scan-floor.js';

describe('ScanFloor', () => {
  it('starts at the beginning', () => {
    const floor = new ScanFloor(0);
    floor.passed('500', 0);
    expect(floor.next(1)).toBe('0');
    expect(floor.next(2)).toBe('0');
  });

  it('trails what was passed by at least five seconds', () => {
    const floor = new ScanFloor(0);
    floor.next(0);
    floor.passed('500', 1_000);
    floor.passed('1000', 5_000);
    expect(floor.next(5_001)).toBe('500');
    floor.passed('1500', 9_000);
    expect(floor.next(9_001)).toBe('500');
  });

  it('looks from the beginning every ten seconds', () => {
    const floor = new ScanFloor(0);
    floor.next(0);
    floor.passed('500', 1_000);
    floor.passed('1000', 6_000);
    expect([9_999, 10_000, 10_001].map((now) => floor.next(now))).toEqual(['500', '0', '500']);
  });

  it('never goes back, and compares ids as numbers', () => {
    const floor = new ScanFloor(0);
    floor.next(0);
    floor.passed('1000', 0);
    floor.passed('999', 1);
    floor.passed('2000', 5_001);
    expect(floor.next(5_002)).toBe('1000');
  });
});
