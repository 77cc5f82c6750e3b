import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { validate, version } from 'uuid';
import { idsWith, idWith, isUuid, newId } from './ids.js';

const MANY = 10_000;
const many = () => Array.from({ length: MANY }, () => newId());
const timeOf = (id: string) => parseInt(id.replace('-', '').slice(0, 12), 16);

describe('newId', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('ids are UUIDs of version 7 with their time', () => {
    const before = Date.now();
    const id = newId();
    expect([validate(id), version(id), isUuid(id)]).toEqual([true, 7, true]);
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
  });

  it('ids are unique and ordered, also when a millisecond has too many', () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    const ids = many();
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids.every((id) => version(id) === 7)).toBe(true);
  });

  it('ids stay ordered when the clock goes back', () => {
    const now = Date.now() + 120_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    const first = newId();
    clock.mockReturnValue(now - 5_000);
    const ids = [first, ...many()];
    expect(ids).toEqual([...ids].sort());
  });
});

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

it.each([
  ['0198', '01980000-0000-7000-8000-000000000000'],
  ['0198C0DE-7', '0198c0de-7000-7000-8000-000000000000'],
  ['0198c0de00007abc9', '0198c0de-0000-7abc-9000-000000000000'],
])('the digits %s begin an id that is valid', (prefix, id) => {
  expect(idWith(prefix)).toBe(id);
  expect(isUuid(id)).toBe(true);
});
