import { describe, expect, it } from '@jest/globals';
import { isDay, requestedDays, wholeMonths } from './days.js';

const NOW = Date.parse('2026-11-22T23:59:59Z');

describe('The period of a request', () => {
  it.each([
    [{}, '2026-10-24', '2026-11-22'],
    [{ to: '2026-03-01' }, '2026-01-31', '2026-03-01'],
    [{ from: '2026-11-01' }, '2026-11-01', '2026-11-22'],
    [{ from: '2027-01-01' }, '2027-01-01', '2027-01-01'],
    [{ from: '2026-01-01', to: '2026-01-01' }, '2026-01-01', '2026-01-01'],
  ])('%j', (asked, from, to) => {
    expect(requestedDays(asked, NOW)).toEqual({ from, to });
  });

  it('today is the day of the time zone', () => {
    expect(requestedDays({}, NOW, 'Asia/Tokyo').to).toBe('2026-11-23');
  });
});

describe('The whole months of a period', () => {
  it.each([
    ['2026-01-01', '2026-01-31', '2026-01-01', '2026-02-01'],
    ['2026-01-02', '2026-01-31', '2026-01-02', '2026-01-02'],
    ['2026-01-01', '2026-01-30', '2026-01-01', '2026-01-01'],
    ['2025-12-15', '2026-03-15', '2026-01-01', '2026-03-01'],
    ['2024-02-01', '2024-02-29', '2024-02-01', '2024-03-01'],
    ['2026-01-31', '2026-02-27', '2026-01-31', '2026-01-31'],
    ['2026-01-10', '2026-01-12', '2026-01-10', '2026-01-10'],
    ['2999-11-02', '2999-12-31', '2999-12-01', '3000-01-01'],
  ])('from %s to %s', (from, to, first, end) => {
    expect(wholeMonths({ from, to })).toEqual({ first, end });
  });
});

it.each([
  '2026-02-29',
  '2026-13-01',
  '1969-12-31',
  '3000-01-01',
  '2026-1-1',
  '2026-01-01T00:00Z',
  '',
])('%s is no day', (text) => {
  expect(isDay(text)).toBe(false);
});
