import { expect, it } from '@jest/globals';
import { parseTokens } from './tokens.js';

it.each([
  ['500000', '500000'],
  ['1,000,000', '1000000'],
  ['1 000 000', '1000000'],
  ['500k', '500000'],
  ['1.5M', '1500000'],
  ['9007199254740993', '9007199254740993'],
])('%s is read as %s tokens', (text, tokens) => {
  expect(parseTokens(text)).toBe(tokens);
});

it.each(['', 'many', '-1', '1.5', '1,5', '1,00', '1e6', '1.2345k', '1M1'])(
  'the text %j is no number of tokens',
  (text) => {
    expect(parseTokens(text)).toBeUndefined();
  },
);
