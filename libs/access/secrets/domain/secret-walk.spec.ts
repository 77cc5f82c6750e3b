import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepHidden, REDACTED, redactSecrets } from './secret-walk.js';

describe('redactSecrets', () => {
  const cases: [string, unknown, unknown][] = [
    ['a field', { password: 'x' }, { password: REDACTED }],
    ['deep inside', { a: [{ b: { apiKey: 'x' } }] }, { a: [{ b: { apiKey: REDACTED } }] }],
    ['a whole object', { credentials: { user: 'u', pin: 1 } }, { credentials: REDACTED }],
    ['a number', { password: 1234 }, { password: REDACTED }],
    ['not a count of tokens', { maxTokens: 4000, tokens: 7 }, { maxTokens: 4000, tokens: 7 }],
    ['not how many passed', { pass: 12, user: 'x' }, { pass: 12, user: 'x' }],
    ['not null or a flag', { token: null, secret: false }, { token: null, secret: false }],
    ['a pair', { name: 'API_KEY', value: 'x' }, { name: 'API_KEY', value: REDACTED }],
    ['an assignment', ['env', 'API_KEY=abc'], ['env', `API_KEY=${REDACTED}`]],
    ['an option', ['--password', 'abc'], ['--password', REDACTED]],
    ['an option with =', ['--token=abc'], [`--token=${REDACTED}`]],
    ['not the next option', ['--token', '--verbose'], ['--token', '--verbose']],
    ['a bearer token', 'Bearer abc.def', `Bearer ${REDACTED}`],
    ['a header', 'Authorization: Basic abc', `Authorization: ${REDACTED}`],
    ['a password in a URL', 'postgres://u:pw@h/db', `postgres://u:${REDACTED}@h/db`],
    ['not a plain text', 'Count the tokens: all', 'Count the tokens: all'],
  ];
  it.each(cases)('redactSecrets hides %s', (_, value, shown) =>
    expect(redactSecrets(value)).toEqual(shown),
  );

  it('redactSecrets shows no secret at any depth, and changes nothing else', () => {
    const wrap = fc.array(fc.oneof(fc.constant('list'), fc.constant('object')), { maxLength: 40 });
    fc.assert(
      fc.property(wrap, fc.string({ minLength: 12 }), (layers, text) => {
        const value = layers.reduce<unknown>(
          (inner, layer) => (layer === 'list' ? [inner] : { inner }),
          { password: `hidden-${text}`, kept: 7 },
        );
        const shown = JSON.stringify(redactSecrets(value));
        expect(shown).not.toContain('hidden-');
        expect(shown).toContain('"kept":7');
      }),
    );
  });

  it('redactSecrets returns JSON without secrets unchanged', () => {
    const plain = fc
      .jsonValue()
      .map((value) => JSON.parse(JSON.stringify(value, letters)) as unknown);
    fc.assert(fc.property(plain, (value) => expect(redactSecrets(value)).toEqual(value)));
  });
});

describe('keepHidden', () => {
  it('keepHidden restores the values of a document that is sent back', () => {
    const key = fc.constantFrom('a', 'token', 'apiKey', 'list', 'name', 'value');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>('text', 'Bearer abcdefgh', 'API_KEY=abcdef', 7, null, true),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const shown = redactSecrets(value);
        expect(keepHidden(shown, value, shown)).toEqual(value);
      }),
    );
  });

  it.each([
    ['another option', ['--password', '12'], ['--page', REDACTED]],
    ['no option', ['--password', '12'], ['page', REDACTED]],
    ['another name of a pair', { name: 'PASSWORD', value: 12 }, { name: 'PAGE', value: REDACTED }],
    ['a pair by its key', { key: 'PASSWORD', value: 'ab' }, { key: 'PAGE', value: REDACTED }],
    ['no name of a pair', [{ name: 'PASSWORD', value: 'ab' }], [{ value: REDACTED }]],
  ])('keepHidden restores nothing under %s, where it would be visible', (_, value, given) => {
    const shown = redactSecrets(value);
    expect(JSON.stringify(shown)).toContain(REDACTED);
    expect(keepHidden(given, value, shown)).toEqual(given);
  });

  it('keepHidden restores the values beside it', () => {
    const value = ['--password', '12', '--page', 'TOKEN=ab', '7'];
    const given = ['--password', REDACTED, '--side', `TOKEN=${REDACTED}`, '7'];
    const kept = keepHidden(given, value, redactSecrets(value));
    expect(kept).toEqual(['--password', '12', '--side', 'TOKEN=ab', '7']);
  });

  it('keepHidden keeps a literal that hid nothing', () => {
    expect(keepHidden({ a: '[redacted]' }, {}, {})).toEqual({ a: '[redacted]' });
  });
});

/** Turns every key and text into one that cannot look like a secret. */
function letters(_: string, value: unknown): unknown {
  if (typeof value === 'string') return 'x'.repeat(value.length % 7);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.values(value).map((child, index) => [`field${index}`, child]));
}
