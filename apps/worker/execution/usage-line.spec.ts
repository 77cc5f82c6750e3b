import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readUsage } from './usage-line.js';

const least = { model: 'claude-sonnet-4', inputTokens: 1, outputTokens: 2 };
const whole = {
  ...least,
  cacheReadTokens: '3',
  cacheWriteTokens: 0,
  operation: 'planning',
  costUsd: '0.0042',
  id: 'call-1',
};

describe('The usage of a protocol line', () => {
  test.each<[string, unknown, unknown[]]>([
    ['one report', least, [least]],
    ['with all members', whole, [whole]],
    ['a list', [whole, least], [whole, least]],
    ['the most tokens', { ...least, inputTokens: 10 ** 12 }, [{ ...least, inputTokens: 10 ** 12 }]],
    ['members of a later version', { ...least, later: [1] }, [least]],
    ['a cost as a number', { ...least, costUsd: 0.5 }, [{ ...least, costUsd: 0.5 }]],
    ['as many as one request may have', Array(100).fill(least), Array(100).fill(least)],
  ])('the usage can be %s', (_, value, expected) => {
    expect(readUsage(value)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['nothing', []],
    ['too many', Array(101).fill(least)],
    ['text', 'ten tokens'],
    ['null', null],
    ['a list with something else', [least, 7]],
    ['a list in a list', [[least]]],
    ['without a model', { inputTokens: 1, outputTokens: 2 }],
    ['without tokens', { model: 'm' }],
    ['of a model with a blank', { ...least, model: 'a model' }],
    ['of a model without a name', { ...least, model: '' }],
    ['with a long id', { ...least, id: 'x'.repeat(101) }],
    ['with a number for an id', { ...least, id: 7 }],
    ['with a long operation', { ...least, operation: 'x'.repeat(101) }],
    ['with null for an operation', { ...least, operation: null }],
    ['with a cost of words', { ...least, costUsd: 'a cent' }],
    ['with a negative cost', { ...least, costUsd: -0.1 }],
    ['with a cost without end', { ...least, costUsd: Infinity }],
    ['with an absurd cost', { ...least, costUsd: '1000001' }],
    ...[-1, 0.5, NaN, 10 ** 12 + 1, 2 ** 53, '-1', '1.5', '', '1e3', ' 1', null, true].map(
      (tokens): [string, unknown] => [
        `of ${String(tokens)} tokens`,
        { ...least, inputTokens: tokens },
      ],
    ),
  ])('the usage cannot be %s', (_, value) => {
    expect(readUsage(value)).toBeNull();
  });

  test('arbitrary JSON is either valid usage or none', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reports = readUsage(value) ?? [];
        return reports.every(({ model }) => typeof model === 'string');
      }),
    );
  });
});
