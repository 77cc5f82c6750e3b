import { expect, it } from '@jest/globals';
import { barsOf, type CostGroup, parseCostSearch } from './change-costs.js';

const group = (p10: string, p50: string, p90: string) =>
  ({ ranges: { tokens: { p10, p50, p90 } } }) as CostGroup;

it('bars share the scale of the largest range, and groups without changes have none', () => {
  const groups = [group('10', '20', '50'), { ranges: null } as CostGroup, group('0', '100', '200')];
  expect(barsOf(groups, 'tokens')).toEqual([
    { start: 5, median: 10, end: 25 },
    null,
    { start: 0, median: 50, end: 100 },
  ]);
  expect(barsOf([group('0', '0', '0')], 'tokens')).toEqual([{ start: 0, median: 0, end: 0 }]);
});

it('an address names known groups and periods', () => {
  expect(parseCostSearch({ groupBy: 'model', days: '90' })).toEqual({ groupBy: 'model', days: 90 });
  expect(parseCostSearch({ groupBy: 'toString', days: 8 })).toEqual({});
});
