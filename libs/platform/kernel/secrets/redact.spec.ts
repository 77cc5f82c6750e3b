import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hideKeys, maySeemSecret, redact, redactAnyText, redactText } from './redact.js';

/** The least of several times, in milliseconds, because others use the machine, too. */
function fastest(work: () => unknown): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  // Less says nothing: a square would take a minute.
  return Math.max(Math.min(...times), 2);
}

describe('redactText', () => {
  it.each([
    ['password=abcd1234', 'abcd1234'],
    ['DB_PASSWORD: "hunter22"', 'hunter22'],
    ['{"apiKey": "q1w2e3r4"}', 'q1w2e3r4'],
    ['export API_TOKEN=deadbeef', 'deadbeef'],
    [`pushing with ghp_${'a1'.repeat(18)}`, 'a1a1a1'],
    [`key sk-${'b2'.repeat(12)}`, 'b2b2b2'],
    ['id AKIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
    ['Authorization: Bearer abc.def', 'abc.def'],
    ['postgres://me:s3cret@host/db', 's3cret'],
    ['DB_PASS=hunter22', 'hunter22'],
    ['with API_KEY_2: hunter22, and more', 'hunter22'],
    ['{"connectionString":"hunter22"}', 'hunter22'],
    ['note=password=hunter22', 'hunter22'],
    ['GITHUB_TOKEN_PROD=hunter22 make', 'hunter22'],
    ['Proxy-Authorization: Bearer hunter22', 'hunter22'],
    ['X-Authorization: Basic hunter22', 'hunter22'],
    ['Basic QWxhZGRpbjpvcGVu', 'QWxh'],
  ])('the secret in %s is hidden', (text, secret) => {
    expect(redactText(text)).not.toContain(secret);
  });

  it.each([
    'Running tsc --noEmit',
    'the token has expired',
    '15 tokens of 20, password reset page',
    'sk-learn is a package',
    'secret: no',
    'Auth: fix the login page',
    'basic understanding of TypeScript',
    'first-pass: compile, second-pass: link',
    'Tests pass: everything, tokens: 4711, max_tokens=4096',
    'primaryKey: customer, keyboard: dvorak',
  ])('the text %s stays unchanged', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('a JSON web token after a dash or a dot is found', () => {
    const token = 'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl';
    expect(redactText(`old-${token} x`)).toBe('old-[redacted] x');
    expect(redactText(`somethinglong.${token}`)).toBe('somethinglong.[redacted]');
    expect(redactText(`eyJ-${token}`)).not.toContain('sdWIi');
  });

  // A pattern that restarts at each dash would take a quarter of an hour for a megabyte.
  it.each([
    ['eyJ', ''],
    ['eyJ-', ''],
    ['eyJ-', '.a.'],
    ['eyJabcdefgh.', ''],
    ['-eyJabcdefgh', '.a.'],
    ['eyJ.', ''],
    ['a-', '.a.'],
    ['token-', ''],
    ['a_', ''],
    ['password ', ''],
    ['://a:', ''],
    ['://', 'a:b@'],
    ['A', ''],
    ['a=', ''],
    ['token=', ''],
    ['a: ', ''],
    ['DB_PASS= ', ''],
    ['basic a', ''],
    ['authorization: basic ', ''],
    ['sk-', ''],
    [' ', '='],
    ['\n ', ':'],
  ])('the time for %j before %j grows with the length, not with its square', (unit, end) => {
    const text = (length: number) => `bearer${unit.repeat(length / unit.length)}${end}`;
    const [short, long] = [text(2 ** 16), text(2 ** 20)];
    const measure = (): number =>
      fastest(() => redactText(long)) / fastest(() => redactText(short));
    // Other programs can take the core during one measurement, but not during each.
    let growth = measure();
    for (let more = 0; more < 9 && growth >= 100; more += 1) growth = Math.min(growth, measure());
    // Sixteen times the length, and less of it in the caches. Its square is 256 times.
    expect(growth).toBeLessThan(100);
  });

  it('no text that a pattern would change is passed over', () => {
    // Pieces of all patterns, so that a part of the texts has secrets, and a part almost.
    const words =
      'eyJ eyJabcdefgh .ab. drv_ drv_01ab23cd_ ghp_ ghs_ github_pat_ glpat- xoxb- xox sk- sk-or-v1- ' +
      'AKIA ASIA AIza npm_ rk_live_ sk_test_ whsec_ ya29. Bearer basic Basic :// @ Authorization ' +
      'token DB_PASS apiKey " \' : = - _ 0123456789abcdef A1b2C3d4E5f6 ABCDEFGHIJKL / . x';
    const spaces = [' ', '  ', '\n', '\u00a0', '0f'.repeat(24)];
    const pieces = fc.constantFrom(...words.split(' '), ...spaces);
    const text = fc
      .array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 8 })
      .map((parts) => parts.join(''));
    let changed = 0;
    const property = fc.property(text, (given) => {
      const shown = redactAnyText(given);
      if (shown !== given) changed += 1;
      expect(maySeemSecret(given) || shown === given).toBe(true);
      expect(redactText(given)).toBe(shown);
    });
    fc.assert(property, { numRuns: 20_000 });
    expect(changed).toBeGreaterThan(1_000);
  });

  it.each([
    `eyJabcdefgh.ab.cd`,
    `drv_01ab23cd_${'0f'.repeat(24)}`,
    'drv_somekey1',
    `ghp_${'a1'.repeat(11)}`,
    `gho_${'a1'.repeat(11)}`,
    `ghu_${'a1'.repeat(11)}`,
    `ghs_${'a1'.repeat(11)}`,
    `ghr_${'a1'.repeat(11)}`,
    `github_pat_${'a1'.repeat(11)}`,
    `glpat-${'a1'.repeat(8)}`,
    'xoxa-0123456789',
    'xoxb-0123456789',
    'xoxs-0123456789',
    'sk-Ab1_Ab1-Ab1_Ab1-Ab1',
    'AKIA0123456789AB',
    'ASIA0123456789AB',
    `AIza${'a1'.repeat(15)}`,
    `npm_${'a1'.repeat(15)}`,
    'rk_live_0123456789',
    'sk_live_0123456789',
    'rk_test_0123456789',
    'sk_test_0123456789',
    `whsec_${'a1'.repeat(8)}`,
    `ya29.${'a1'.repeat(10)}`,
    'BEARER abc',
    'bearer\tabc',
    'Basic QWxhZGRpbjpvcGVu',
    'basic QWxhZGRpbjpvcGVu',
  ])('a text that is only %s is not passed over', (text) => {
    expect(redactAnyText(text)).not.toBe(text);
    expect(maySeemSecret(text)).toBe(true);
  });

  it('a second redaction changes nothing', () => {
    const once = redactText('password=abcd1234 and Bearer abcdef');
    expect(redactText(once)).toBe(once);
  });
});

it.each([
  'int drv_initialize(void);',
  '.sk-toggleable__content { color: red }',
  'sk-container-id-1-estimator-doc-link',
])('the source code %s of a file stays unchanged', (text) => {
  expect(hideKeys(text)).toBe(text);
});

it.each([
  `drv_0123abcd_${'0f'.repeat(24)}`,
  'sk-proj-Ab1_Ab1-Ab1_Ab1-Ab1',
  `sk-${'0f'.repeat(16)}`,
  `sk-or-v1-${'0f'.repeat(32)}`,
])('the key %s in a file is hidden', (key) => {
  expect(hideKeys(`key=${key}.`)).toBe('key=[redacted].');
});

it('redact hides fields by the words of their names, and fields that can hold anything', () => {
  const fields = {
    dbPass: 'x',
    apiKey2: 1,
    secrets: { A: 'x' },
    inputContext: {},
    maxTokens: 5,
    tokens: 7,
  };
  const hidden = '[redacted]';
  expect(redact({ ...fields, error: null, primaryKey: 'id', password: false })).toEqual({
    dbPass: hidden,
    apiKey2: hidden,
    secrets: hidden,
    inputContext: hidden,
    maxTokens: 5,
    tokens: 7,
    error: null,
    primaryKey: 'id',
    password: false,
  });
});

it('redact shows the id of a key, and hides an invalid one', () => {
  const id = '019a9f6c-41aa-7d02-8b52-000000000007';
  expect(redact({ apiKeyId: id, apiKey: id })).toEqual({ apiKeyId: id, apiKey: '[redacted]' });
  expect(redact({ apiKeyId: 'hunter22' })).toEqual({ apiKeyId: '[redacted]' });
});
