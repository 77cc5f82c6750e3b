import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costOf, type TokenPrices } from './cost.js';
import type { TokenUsage } from '../../ledger/domain/token-usage.js';

const NO_TOKENS: TokenUsage = {
  inputTokens: 0n,
  outputTokens: 0n,
  cacheReadTokens: 0n,
  cacheWriteTokens: 0n,
};
const SONNET: TokenPrices = {
  inputUsd: '3',
  outputUsd: '15',
  cacheReadUsd: '0.3',
  cacheWriteUsd: '3.75',
};

describe('costOf', () => {
  it.each<[Partial<TokenUsage>, Partial<TokenPrices>, string]>([
    [{}, {}, '0'],
    [{ inputTokens: 1_000_000n }, {}, '3'],
    [{ inputTokens: 1_000n, outputTokens: 500n }, {}, '0.0105'],
    [{ inputTokens: 1n }, {}, '0.000003'],
    [{ inputTokens: 1n }, { inputUsd: '0.000001' }, '0.000000000001'],
    [{ inputTokens: 1n, outputTokens: 1n }, { inputUsd: '0.1', outputUsd: '0.2' }, '0.0000003'],
    [{ cacheReadTokens: 10_000_000n, cacheWriteTokens: 4_000_000n }, {}, '18'],
    [{ outputTokens: 5n }, { outputUsd: '0' }, '0'],
    [{ inputTokens: 9_223_372_036_854_775_807n }, { inputUsd: '0.000001' }, '9223372.036854775807'],
    [{ inputTokens: 12_000_000n }, { inputUsd: '0.800000' }, '9.6'],
  ])('%p at %p', (usage, prices, cost) => {
    expect(costOf({ ...NO_TOKENS, ...usage }, { ...SONNET, ...prices })).toBe(cost);
  });

  it('usage without a price has no cost', () => {
    expect(costOf({ ...NO_TOKENS, inputTokens: 1n }, undefined)).toBeNull();
  });

  it.each(['', '-1', '1e3', 'NaN', '.5', '1.', '0.1234567', ' 1', '1,5'])(
    '%p is not a price',
    (inputUsd) => {
      expect(() => costOf(NO_TOKENS, { ...SONNET, inputUsd })).toThrow(RangeError);
    },
  );

  const tokens = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  const usages = fc.record({
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  });
  const price = fc
    .tuple(fc.nat(999_999), fc.nat(999_999))
    .map(([whole, micros]) => `${whole}.${String(micros).padStart(6, '0')}`);
  const prices = fc.record({
    inputUsd: price,
    outputUsd: price,
    cacheReadUsd: price,
    cacheWriteUsd: price,
  });
  /** In units of the twelfth place. */
  const unitsOf = (cost: string) => {
    const [whole = '', fraction = ''] = cost.split('.');
    return BigInt(whole + fraction.padEnd(12, '0'));
  };

  it('a cost is exact and has no trailing zeros', () => {
    fc.assert(
      fc.property(usages, prices, (usage, price) => {
        const cost = costOf(usage, price);
        expect(cost).toMatch(/^(?:0|[1-9]\d*)(?:\.\d{0,11}[1-9])?$/);
        const micros = (text: string) => BigInt(text.replace('.', ''));
        expect(unitsOf(cost)).toBe(
          usage.inputTokens * micros(price.inputUsd) +
            usage.outputTokens * micros(price.outputUsd) +
            usage.cacheReadTokens * micros(price.cacheReadUsd) +
            usage.cacheWriteTokens * micros(price.cacheWriteUsd),
        );
      }),
    );
  });

  it('usage costs the same at once and in parts', () => {
    fc.assert(
      fc.property(usages, usages, prices, (one, other, price) => {
        const names = Object.keys(one) as (keyof TokenUsage)[];
        const sum = Object.fromEntries(names.map((name) => [name, one[name] + other[name]]));
        const together = costOf(sum as unknown as TokenUsage, price);
        expect(unitsOf(together)).toBe(unitsOf(costOf(one, price)) + unitsOf(costOf(other, price)));
      }),
    );
  });
});
