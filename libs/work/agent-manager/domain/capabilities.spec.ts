import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CAPABILITY, capabilityKey, normalizeCapabilities } from './capabilities.js';

const capability = fc.stringMatching(CAPABILITY.pattern.regexp).map((text) => text.slice(0, 100));
const some = fc.array(capability, { maxLength: 12 });

describe('the key of a set of capabilities', () => {
  it('the key does not depend on order and repetitions', () => {
    fc.assert(
      fc.property(some, fc.infiniteStream(fc.nat()), (set, order) => {
        const rank = new Map(set.map((one) => [one, order.next().value as number]));
        const shuffled = [...set, ...set].sort(
          (a, b) => (rank.get(a) as number) - (rank.get(b) as number),
        );
        expect(capabilityKey(shuffled)).toBe(capabilityKey(set));
      }),
    );
  });

  it('different sets have different keys', () => {
    fc.assert(
      fc.property(some, some, (a, b) => {
        const same = normalizeCapabilities(a).join('\n') === normalizeCapabilities(b).join('\n');
        expect(capabilityKey(a) === capabilityKey(b)).toBe(same);
      }),
    );
  });

  it.each([
    [[], ''],
    [['typescript'], 'typescript'],
    [['nestjs', 'a:b', 'nestjs'], 'a:b,nestjs'],
    [['b', 'B', 'a'], 'B,a,b'],
  ])('the key of %j is %j', (set, key) => expect(capabilityKey(set)).toBe(key));

  it.each(['', ',', 'a,b', ' a', 'a b', '-a', 'ä'])('a key has no part like %j', (text) =>
    expect(CAPABILITY.pattern.regexp.test(text)).toBe(false),
  );
});
