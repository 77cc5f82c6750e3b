import { describe, expect, it } from '@jest/globals';
import { defaultParseSearch } from '@tanstack/react-router';
import { nameInPath, parseId, stringifySearch } from './addresses.js';
import { parseFilter } from './task-filter.js';

const ID = '0199ab34-0000-7000-8000-00000000c0de';

describe('the address of a thing', () => {
  it.each([
    ['Fix: the date-parser!', `/tasks/fix-the-date-parser-${ID}`],
    ['Überprüfen', `/tasks/uberprufen-${ID}`],
    ['日本語', `/tasks/${ID}`],
    ['x'.repeat(300), `/tasks/${'x'.repeat(50)}-${ID}`],
    ['</a>?#%2f', `/tasks/a-2f-${ID}`],
  ])('has the words of %j and the id', (title, path) => {
    expect(nameInPath(`/tasks/${ID}`, title)).toBe(path);
    expect(nameInPath(path, title)).toBe(path);
    expect(parseId(path.slice('/tasks/'.length))).toBe(ID);
  });

  it('stays as it is without a whole id', () => {
    expect(nameInPath('/tasks/new', 'New')).toBeUndefined();
    expect(nameInPath(`/reviews/${ID}/compare`, 'Compare')).toBeUndefined();
    expect(parseId('0199ab34')).toBe('0199ab34');
  });
});

it.each([
  [{ status: ['PAUSED', 'FAILED'], priority: 8 }, '?priority=8&status=PAUSED&status=FAILED'],
  [{ status: ['FAILED'], text: 'a b' }, '?text=a+b&status=FAILED'],
  [{ text: '12345678-9' }, '?text=12345678-9'],
  [{}, ''],
] as const)('the filter %j is the address %s, which gives the filter', (filter, address) => {
  expect(stringifySearch(filter)).toBe(address);
  expect(parseFilter(defaultParseSearch(address))).toEqual(filter);
});
