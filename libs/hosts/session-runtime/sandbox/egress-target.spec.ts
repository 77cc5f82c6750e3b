import { expect, test } from '@jest/globals';
import {
  asAsked,
  type Target,
  targetOfConnect,
  targetOfRequest,
  withCredential,
} from './egress-target.js';

const credential = (host: string, scheme: 'https' | 'http' = 'https') => ({
  host,
  scheme,
  header: 'authorization',
  value: 'x',
});
const asked = (url: string, ...all: ReturnType<typeof credential>[]) =>
  withCredential(targetOfRequest(url) as Target, all);

test.each([
  ['http://a.example/x', credential('a.example'), 443, 'a.example'],
  ['http://A.example.:443/', credential('a.example'), 443, 'a.example'],
  ['http://a.example:8443/', credential('a.example:8443'), 8443, 'a.example:8443'],
  ['http://a.example/', credential('a.example', 'http'), 80, 'a.example'],
  ['http://a.example:8080/', credential('a.example:8080', 'http'), 8080, 'a.example:8080'],
  ['http://a.example/', credential('a.example:443'), 443, 'a.example'],
])('%s has the credential of %j', (url, one, port, authority) => {
  expect(asked(url, credential('b.example'), one)).toMatchObject({
    credential: one,
    port,
    authority,
  });
});

test.each([
  ['http://b.example/', credential('a.example')],
  ['http://x.a.example/', credential('a.example')],
  ['http://a.example.evil/', credential('a.example')],
  ['http://a.example:8080/', credential('a.example')],
  ['http://a.example/', credential('a.example:8443')],
  ['http://a.example:443/', credential('a.example', 'http')],
])('%s has no credential of %j', (url, one) => {
  const target = asked(url, one);
  expect(target).toEqual(targetOfRequest(url));
});

test('a tunnel names the host and port of its credential', () => {
  const target = targetOfConnect('a.example:443') as Target;
  expect(withCredential(target, [credential('a.example')]).credential).toBeDefined();
});

test.each([
  ['https://a.example/x?y', 'http://a.example/x?y'],
  ['HTTPS://A.example', 'http://a.example'],
  [
    '<https://a.example/2>; rel=next, <https://b.example/>',
    '<http://a.example/2>; rel=next, <https://b.example/>',
  ],
  ['https://a.example.evil/', 'https://a.example.evil/'],
  ['https://a.example:8443/', 'https://a.example:8443/'],
  ['https://axexample/', 'https://axexample/'],
  ['/x', '/x'],
])('the address %s in an answer becomes %s', (text, expected) => {
  expect(asAsked(text, asked('http://a.example/', credential('a.example')))).toBe(expected);
});

test('an answer of a host without a credential, or without TLS, is not changed', () => {
  const text = 'https://a.example/';
  expect(asAsked(text, asked('http://a.example/'))).toBe(text);
  expect(asAsked(text, asked('http://a.example/', credential('a.example', 'http')))).toBe(text);
});
