import { expect, it } from '@jest/globals';
import { idsWith } from './task-filter.js';

it.each([
  ['0198', '01980000-0000-0000-0000-000000000000', '0198ffff-ffff-ffff-ffff-ffffffffffff'],
  ['0198C0DE-7', '0198c0de-7000-0000-0000-000000000000', '0198c0de-7fff-ffff-ffff-ffffffffffff'],
  [
    '0198c0de-7000-7000-8000-00000000000a',
    '0198c0de-7000-7000-8000-00000000000a',
    '0198c0de-7000-7000-8000-00000000000a',
  ],
])('the ids with %s lie between two ids', (prefix, from, to) => {
  expect(idsWith(prefix)).toEqual({ from, to });
});

it('no id has more than 32 digits', () => {
  expect(idsWith('0'.repeat(33))).toBeUndefined();
});
