import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSealed, keyIdOf, openValue, type Place, sealValue, shownOf } from './sealed-text.js';
import { makeDataKey, unwrap } from './wrapping.js';

const masterKey = (id: string) => ({ id, key: createSecretKey(randomBytes(32)) });
const master = masterKey('m1');
const { key, stored } = makeDataKey('k1', master);
const place: Place = { workspaceId: 'w', table: 't', column: 'c', rowId: 'r' };

describe('a sealed value', () => {
  it('opens to what it was, and shows what it may', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, shown) => {
        const sealed = sealValue(key, value, place, shown);
        expect(isSealed(sealed)).toBe(true);
        expect([keyIdOf(sealed), shownOf(sealed)]).toEqual(['k1', shown]);
        expect(openValue(key, sealed, place)?.value).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('does not contain it', () => {
    const sealed = sealValue(key, 'a very secret text', place, '[redacted]');
    expect(sealed).not.toContain('secret');
    expect(Buffer.from(sealed.split(':')[3] ?? '', 'base64url').includes('secret')).toBe(false);
  });

  it('is another one each time', () => {
    expect(sealValue(key, 1, place, '')).not.toBe(sealValue(key, 1, place, ''));
  });

  it.each(['workspaceId', 'table', 'column', 'rowId'] as const)('opens at its %s only', (part) => {
    const sealed = sealValue(key, 'x', place, '');
    expect(openValue(key, sealed, { ...place, [part]: 'other' })).toBeUndefined();
  });

  it('does not open with another key', () => {
    const other = makeDataKey('k1', master).key;
    expect(openValue(other, sealValue(key, 'x', place, ''), place)).toBeUndefined();
  });

  it('does not open when any character was altered', () => {
    const sealed = sealValue(key, { token: 'x' }, place, 'shown');
    for (let at = 0; at < sealed.length; at++) {
      for (const other of ['A', 'z', ':']) {
        const altered = sealed.slice(0, at) + other + sealed.slice(at + 1);
        // The last character of base64url has bits that mean nothing.
        const same = Buffer.from(altered.split(':')[3] ?? '', 'base64url').equals(
          Buffer.from(sealed.split(':')[3] ?? '', 'base64url'),
        );
        if (altered === sealed || (same && altered.endsWith(':shown') && keyIdOf(altered) === 'k1'))
          continue;
        expect([altered, openValue(key, altered, place)]).toEqual([altered, undefined]);
      }
    }
  });

  it.each([
    'drover-sealed:1:',
    'drover-sealed:1:k1:',
    'drover-sealed:1:k1:!:',
    'drover-sealed:1:k1:AA:',
  ])('that is damaged (%j) neither opens nor shows anything', (text) => {
    expect(isSealed(text)).toBe(true);
    expect(openValue(key, text, place)).toBeUndefined();
    expect(['[redacted]', '']).toContain(shownOf(text));
  });
});

describe('a data key', () => {
  it('is stored so that its master key alone opens it', () => {
    expect(stored).toMatchObject({ id: 'k1', masterKeyId: 'm1' });
    expect(stored.wrapped.includes(key.key.export())).toBe(false);
    const opened = unwrap(stored, [masterKey('m0'), master]);
    expect(opened?.key.export()).toEqual(key.key.export());
  });

  it('does not open with another master key, under another id, or altered', () => {
    expect(unwrap(stored, [])).toBeUndefined();
    expect(unwrap(stored, [masterKey('m1')])).toBeUndefined();
    expect(unwrap({ ...stored, id: 'k2' }, [master])).toBeUndefined();
    const wrapped = Buffer.from(stored.wrapped);
    wrapped[20] = (wrapped[20] ?? 0) ^ 1;
    expect(unwrap({ ...stored, wrapped }, [master])).toBeUndefined();
  });
});
