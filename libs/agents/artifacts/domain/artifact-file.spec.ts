import { expect, test } from '@jest/globals';
import { digestOf, dispositionOf, partOf, requireMediaType, requireName } from './artifact-file.js';

test.each(['haiku.txt', 'report/index.html', 'größe.txt', '.env.example', 'a..b', 'x'.repeat(255)])(
  '%s is a name',
  (name) => {
    expect(requireName(name)).toBe(name);
  },
);

test.each([
  '',
  '/etc/passwd',
  '..',
  '../a',
  'a/../b',
  'a//b',
  'a/',
  './a',
  'a\\b',
  'a\nb',
  'a\u0000b',
  'a\u202eb',
  'a\ud800',
  'x'.repeat(256),
  `${'x/'.repeat(250)}x`,
])('%j is no name', (name) => {
  expect(() => requireName(name)).toThrow('not valid');
});

test('a type is stored in lower case, and none means bytes', () => {
  expect(requireMediaType('Text/HTML; charset=UTF-8')).toBe('text/html; charset=utf-8');
  expect(requireMediaType(undefined)).toBe('application/octet-stream');
  for (const type of ['html', 'a/b, c/d', 'text/html\r\nX: y', `a/${'b'.repeat(80)}`]) {
    expect(() => requireMediaType(type)).toThrow();
  }
});

test('the digest of a header is read, among others too', () => {
  const hash = Buffer.alloc(32, 7);
  const header = `sha-256=:${hash.toString('base64')}:`;
  expect(digestOf(header)).toBe(hash.toString('hex'));
  expect(digestOf(`md5=:eA==:, ${header}`)).toBe(hash.toString('hex'));
  expect(digestOf(undefined)).toBeUndefined();
  for (const wrong of ['', 'sha-256=abc', 'sha-512=:eA==:']) {
    expect(() => digestOf(wrong)).toThrow();
  }
});

test.each([
  [undefined, undefined],
  ['bytes=0-3', { start: 0, end: 3 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-30', { start: 0, end: 9 }],
  ['bytes=8-99', { start: 8, end: 9 }],
  ['bytes=10-', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=5-2', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,4-5', undefined],
  ['lines=1-2', undefined],
])('of ten bytes %s names %j', (header, part) => {
  expect(partOf(header, 10)).toEqual(part);
});

test('a browser stores the last part of the name', () => {
  expect(dispositionOf('a/b.txt')).toBe(`attachment; filename="b.txt"; filename*=UTF-8''b.txt`);
  expect(dispositionOf(`a/"ü';x`)).toBe(
    `attachment; filename="____x"; filename*=UTF-8''%22%C3%BC%27%3Bx`,
  );
});
