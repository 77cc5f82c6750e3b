import { describe, expect, it } from '@jest/globals';
import { redactSecrets } from './secret-walk.js';
import { hasRoomForSecret, SecretValues } from './secret-values.js';

const HIDDEN = '[redacted]';
const hide = (document: unknown, text: string) => SecretValues.in(document).hide(text);

describe('SecretValues', () => {
  it.each([
    ['as it is', { apiKey: 'hunter22' }, 'a hunter22!', `a ${HIDDEN}!`],
    ['more than once', { apiKey: 'hunter22' }, 'hunter22hunter22', `${HIDDEN}${HIDDEN}`],
    ['with signs of patterns', { apiKey: 'a.b*c[d' }, 'axb a.b*c[d', `axb ${HIDDEN}`],
    ['below a secret name', { credentials: [{ x: 'hunter22' }] }, 'hunter22', HIDDEN],
    ['as a number', { apiKey: 123_456 }, 'is 123456', `is ${HIDDEN}`],
    ['the longest first', { apiKey: 'hunter22', token: 'hunter22-long' }, 'hunter22-long', HIDDEN],
    ['line by line', { privateKey: 'first line\nsecond line' }, 'at second line', `at ${HIDDEN}`],
    ['in a URL', { apiKey: 'hunter 22' }, 'q=hunter%2022', `q=${HIDDEN}`],
    ['in a header', { apiKey: 'hunter22' }, 'aHVudGVyMjI=', `${HIDDEN}=`],
    ['in JSON', { apiKey: 'hunt"22\t' }, '{"a":"hunt\\"22"}', `{"a":"${HIDDEN}"}`],
    ['out of a URL', { url: 'pg://u:hunter@host' }, 'hunter', HIDDEN],
    ['out of a URL in a text', { do: 'use pg://u:hunter@host !' }, 'hunter', HIDDEN],
    ['out of a secret URL', { secret: 'pg://u:hunter@host' }, 'hunter', HIDDEN],
    ['out of an argument', { args: ['--password=correcthorse'] }, 'correcthorse', HIDDEN],
    ['behind an option', { args: ['--password', 'correcthorse'] }, 'correcthorse', HIDDEN],
    ['out of a header', { headers: { authorization: 'Basic hunter22' } }, 'hunter22', HIDDEN],
    ['of a pair', { name: 'API_KEY', value: 'correcthorse' }, 'correcthorse', HIDDEN],
  ])('secret values are hidden %s', (_, document, text, hidden) =>
    expect(hide(document, text)).toBe(hidden),
  );

  it.each([
    ['short ones', { apiKey: 'abcde' }, 'abcde'],
    ['words of prose', { prompt: 'the password: required for all' }, 'required for all'],
    ['what stands in the place of one', { apiKey: HIDDEN }, HIDDEN],
    ['what has a harmless name', { tokenCount: 123_456, title: 'hunter22' }, '123456 hunter22'],
    ['counts', { totalTokens: 123_456 }, '123456'],
  ])('secret values do not hide %s', (_, document, text) =>
    expect(hide(document, text)).toBe(text),
  );

  it('secret values of any length and number are hidden', () => {
    const long = Array.from({ length: 20_000 }, (_, i) => i.toString(36)).join('');
    expect(hide({ apiKey: long }, `<${long}>`)).not.toContain(long.slice(-20));
    const many = Array.from({ length: 400 }, (_, i) => `secret number ${i + 100}`);
    expect(hide({ secrets: many }, `<${many[17]}>`)).toBe(`<${HIDDEN}>`);
  });

  it('secret values are hidden beside one of a thousand lines and one too long for a pattern', () => {
    const lines = Array.from({ length: 3_000 }, (_, i) => `line ${i} of a key`).join('\n');
    const long = Array.from({ length: 200_000 }, (_, i) => i.toString(36)).join('');
    const values = SecretValues.in({ privateKey: lines, blobToken: long, password: 'hunter22' });
    expect(values.hide('of hunter22')).toBe(`of ${HIDDEN}`);
    expect(SecretValues.in({ apiKey: `${'a1'.repeat(250)}info` }).hide('info')).toBe('info');
  });

  it('secret values are found in texts, numbers and names of documents', () => {
    const values = SecretValues.in({ apiKey: 'hunter22', pin: 1, password: 123_456 });
    const plain = { list: ['a', 1], deep: { more: null } };
    expect(redactSecrets(plain, values)).toBe(plain);
    const document = { ...plain, texts: ['x hunter22'], n: 123_456, names: { hunter22: [1] } };
    const hidden = { ...plain, texts: [`x ${HIDDEN}`], n: HIDDEN, names: HIDDEN };
    expect(redactSecrets(document, values)).toEqual(hidden);
    expect(redactSecrets('drover-sealed:1:a:b:hunter22', values)).toBe(HIDDEN);
  });
});

it('a document can contain a secret if anything in it is long enough', () => {
  const without = [null, undefined, {}, { ok: true, n: 12, list: ['abcde'] }, [undefined, '']];
  expect(without.map(hasRoomForSecret)).not.toContain(true);
  const having = ['abcdef', 123_456, { list: [{ x: 'abcdef' }] }, { abcdef: 1 }];
  expect(having.map(hasRoomForSecret)).not.toContain(false);
});
