import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSealed, keyIdOf, openValue, type Place, sealValue, shownOf } from './sealed-text.js';
import { holdsSecrets, openWhole, sealWhole } from './originals.js';
import { makeDataKey, unwrap } from './wrapping.js';

const masterKey = (id: string) => ({ id, key: createSecretKey(randomBytes(32)) });
const master = masterKey('m1');
const { key, stored } = makeDataKey('k1', master);
const place: Place = { workspaceId: 'w', table: 't', column: 'c', rowId: 'r' };

describe('a sealed value', () => {
  it('a sealed value opens to its original and shows its public form', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, shown) => {
        const sealed = sealValue(key, value, place, shown);
        expect(isSealed(sealed)).toBe(true);
        expect([keyIdOf(sealed), shownOf(sealed)]).toEqual(['k1', shown]);
        expect(openValue(key, sealed, place)?.value).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('a sealed value does not contain its original', () => {
    const sealed = sealValue(key, 'a very secret text', place, '[redacted]');
    expect(sealed).not.toContain('secret');
    expect(Buffer.from(sealed.split(':')[3] ?? '', 'base64url').includes('secret')).toBe(false);
  });

  it('a whole secret opens, and a text that is not sealed does not pass for one', () => {
    const id = '01a20d20-0000-7000-8000-000000000000';
    const column = { workspace_id: id, provider_id: id, column_name: 'secret' as const };
    const original = { ...column, key_id: 'k1' };
    const sealed = sealWhole(key, 'the key', column);
    expect(openWhole({ ...original, sealed }, key)).toEqual({ kind: 'opened', value: 'the key' });
    const plain = openWhole({ ...original, sealed: 'the key' }, key);
    expect(plain).toMatchObject({ kind: 'unreadable', why: 'altered' });
  });

  it('sealing twice gives different values', () => {
    expect(sealValue(key, 1, place, '')).not.toBe(sealValue(key, 1, place, ''));
  });

  it.each(['workspaceId', 'table', 'column', 'rowId'] as const)(
    'a sealed value opens only at its %s',
    (part) => {
      const sealed = sealValue(key, 'x', place, '');
      expect(openValue(key, sealed, { ...place, [part]: 'other' })).toBeUndefined();
    },
  );

  it('a sealed value does not open with another key', () => {
    const other = makeDataKey('k1', master).key;
    expect(openValue(other, sealValue(key, 'x', place, ''), place)).toBeUndefined();
  });

  it('a sealed value with any altered character does not open', () => {
    const sealed = sealValue(key, { token: 'x' }, place, 'shown');
    for (let at = 0; at < sealed.length; at++) {
      for (const other of ['A', 'z', ':']) {
        const altered = sealed.slice(0, at) + other + sealed.slice(at + 1);
        // The last character of base64url has bits without meaning.
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
  ])('a damaged value (%j) neither opens nor shows anything', (text) => {
    expect(isSealed(text)).toBe(true);
    expect(openValue(key, text, place)).toBeUndefined();
    expect(['[redacted]', '']).toContain(shownOf(text));
  });
});

describe('a data key', () => {
  it('only the master key opens a stored data key', () => {
    expect(stored).toMatchObject({ id: 'k1', masterKeyId: 'm1' });
    expect(stored.wrapped.includes(key.key.export())).toBe(false);
    const opened = unwrap(stored, [masterKey('m0'), master]);
    expect(opened?.key.export()).toEqual(key.key.export());
  });

  it('a data key does not open with another master key, under another id, or altered', () => {
    expect(unwrap(stored, [])).toBeUndefined();
    expect(unwrap(stored, [masterKey('m1')])).toBeUndefined();
    expect(unwrap({ ...stored, id: 'k2' }, [master])).toBeUndefined();
    const wrapped = Buffer.from(stored.wrapped);
    wrapped[20] = (wrapped[20] ?? 0) ^ 1;
    expect(unwrap({ ...stored, wrapped }, [master])).toBeUndefined();
  });
});

describe('holdsSecrets', () => {
  it.each([
    ['title', 'Use Bearer abcdefgh'],
    ['description', 'with DB_PASS=hunter22'],
    ['instructions', 'key AKIA0123456789AB'],
    ['input_context', { list: [{ apiKey: 'x' }] }],
    ['metadata', { args: ['--password', 'x'] }],
    ['secrets', { ANY: 'x' }],
    ['agent', { settings: { env: ['API_KEY=x'] } }],
    ['steps', ['a', 'clone https://me:hunter22@host/x']],
    ['acceptance', ['token: eyJabcdefgh.ab.cd']],
    ['answers', [{ answer: { password: '' } }]],
    ['output_result', { pin: 0 }],
    ['checkpoint_data', { text: sealValue(key, 'x', place, '') }],
  ])('a secret in %s is found', (column, document) => {
    const others = { title: 'Plain', description: null, instructions: undefined, steps: [] };
    expect(holdsSecrets({ ...others, [column]: document })).toBe(true);
  });

  it('a task without secrets holds none', () => {
    const documents = { title: 'Fix: the login page', metadata: { n: 1, list: [true, 'a'] } };
    expect(holdsSecrets({ ...documents, secrets: {}, agent: { kind: 'codex' } })).toBe(false);
  });
});
