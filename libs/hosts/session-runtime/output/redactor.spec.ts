import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { looksSecret } from '#lib/kernel';
import { Redactor, secretsIn } from './redactor.js';

describe('Text that looks like a credential', () => {
  test.each([
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '[redacted]'],
    ['key drv_0123456789abcdef used', 'key [redacted] used'],
    ['ghp_0123456789012345678901234567890123456', '[redacted]'],
    [`sk-${'a1'.repeat(12)}`, '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['Authorization: Bearer abcdefgh12345', 'Authorization: Bearer [redacted]'],
    ['postgres://user:hunter22@db/x', 'postgres://user:[redacted]@db/x'],
    ['DB_PASSWORD=hunter22 next', 'DB_PASSWORD=[redacted] next'],
    ['{"apiKey": "hunter22"}', '{"apiKey": "[redacted]"}'],
  ])('the credential %s is hidden', (text, expected) => {
    expect(new Redactor([]).redact(text)).toBe(expected);
  });

  test.each([
    'Compiled 12 files in 3.4 s',
    'https://example.com:8080/path?x=1',
    'commit 1234567890abcdef1234567890abcdef12345678',
    'the token count is 512',
    'task-list and risk-based',
  ])('the harmless text %s stays visible', (text) => {
    expect(new Redactor([]).redact(text)).toBe(text);
  });
});

// A pattern that restarts at each dash needs 15 minutes for one of these texts.
test.each(['eyJ-', '-eyJabcdefgh', 'eyJabcdefgh.', 'a-', 'token-', 'password ', '//a:', 'xoxb-'])(
  'a megabyte of %j is redacted in time',
  (unit) => {
    const text = unit.repeat(2 ** 20 / unit.length);
    expect(new Redactor(['hunter22']).redact(text).length).toBeGreaterThan(0);
  },
);

describe('A secret of the task', () => {
  const secret = fc
    .string({ minLength: 8, maxLength: 40 })
    .filter((text) => !/^[\s[\]redacted]+$/.test(text));

  test('a secret appears in no line, neither plain nor in a URL nor in base64', () => {
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
        const redactor = new Redactor([hidden]);
        const base64 = Buffer.from(hidden).toString('base64');
        const shown = [hidden.trim(), encodeURIComponent(hidden), base64]
          .filter((form) => form.length >= 8)
          .map((form) => [form, redactor.redact(`${before}${form}${after}`)] as const);
        // The text around a secret can spell the secret again together with the mark.
        return shown.every(([form, text]) => !text.replaceAll('[redacted]', '\n').includes(form));
      }),
    );
  });

  test('a secret is hidden in JSON, which escapes it', () => {
    const hidden = 'pa"ss\\word';
    const json = JSON.stringify({ key: hidden });
    expect(new Redactor([hidden]).redact(json)).toBe('{"key":"[redacted]"}');
  });

  test('a long secret is hidden completely', () => {
    const long = Array.from({ length: 400 }, (_, index) => `k${index}`).join('');
    expect(new Redactor([long]).redact(`a ${long} b`)).toBe('a [redacted][redacted][redacted] b');
  });

  test('a secret is hidden beside one with 1,000 lines and one of 1 MB', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index} of a key`).join('\n');
    const long = Array.from({ length: 200_000 }, (_, index) => index.toString(36)).join('');
    expect(new Redactor([lines, long, 'hunter22']).redact('of hunter22')).toBe('of [redacted]');
    expect(new Redactor([`${'a1'.repeat(250)}info`]).redact('an info')).toBe('an info');
  });

  test('a nested value counts as a secret by its name', () => {
    const input = {
      env: { API_TOKEN: 'one', PATH: '/bin', DATABASE_URL: 'postgres://me:two@db' },
      list: [{ password: 'three' }],
      credentials: { user: 'four', deep: ['five'] },
      maxTokens: 512,
    };
    expect(secretsIn(input).sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
  });

  test.each(['password', 'DB_PASSWD', 'apiKey', 'API-KEY', 'aws_secret_access_key', 'authToken'])(
    'the name %s marks a secret',
    (name) => expect(looksSecret(name)).toBe(true),
  );

  test.each(['path', 'keyboard', 'author', 'passage', 'monkey'])(
    'the name %s marks no secret',
    (name) => expect(looksSecret(name)).toBe(false),
  );

  test('a secret of several lines is hidden line by line', () => {
    const redactor = new Redactor(['first-line\nsecond-line']);
    expect(redactor.redact('a first-line')).toBe('a [redacted]');
    expect(redactor.redact('a second-line')).toBe('a [redacted]');
  });

  test('a secret that is a common word hides nothing', () => {
    expect(new Redactor(['true', 'ab', '']).redact('true ab')).toBe('true ab');
  });
});

test('a private key is hidden from its first line to its last', () => {
  const redactorOf = new Redactor([]).forLines();
  const lines = [
    'before',
    '-----BEGIN RSA PRIVATE KEY-----',
    'MIIEpAIBAAKCAQEA',
    '-----END RSA PRIVATE KEY-----',
    'after',
  ];
  const shown = lines.map((line) => redactorOf(line)(line));
  expect(shown).toEqual(['before', '[redacted]', '[redacted]', '[redacted]', 'after']);
});
