import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { admitsHost, HOST_AND_PORT, isHostList, toHost } from './host-patterns.js';
import {
  admitsEverywhere,
  reachOf,
  reachWanted,
  strictestNetwork,
  strictestReach,
} from './networks.js';

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const port = fc.constantFrom(80, 443, 8443);
const pattern = fc
  .tuple(fc.constantFrom('', '*.'), name, fc.option(port))
  .map(([wild, of, at]) => `${wild}${of}${at === null ? '' : `:${at}`}`);
const patterns = fc.array(pattern, { maxLength: 4 });
const level = fc
  .tuple(fc.constantFrom('none', 'allow', 'host' as const), patterns)
  .map(([network, list]) => reachOf(network as 'none' | 'allow' | 'host', list));

describe('the pattern of a host', () => {
  test.each([
    ['example.com', 'example.com', 443, true],
    ['example.com', 'example.com', 80, true],
    ['example.com', 'example.com', 22, false],
    ['example.com:22', 'example.com', 22, true],
    ['example.com:22', 'example.com', 443, false],
    ['example.com', 'a.example.com', 443, false],
    ['example.com', 'example.com.evil.org', 443, false],
    ['*.example.com', 'a.example.com', 443, true],
    ['*.example.com', 'a.b.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'notexample.com', 443, false],
    ['*.example.com:8443', 'a.example.com', 8443, true],
    ['*', 'example.com', 443, true],
    ['*', 'example.com', 25, false],
    ['*:25', 'example.com', 25, true],
    ['*:*', 'example.com', 25, true],
    ['example.com:*', 'example.com', 25, true],
    ['example.com:*', 'a.example.com', 25, false],
    ['*.0.0.1', '127.0.0.1', 80, false],
    ['127.0.0.1:80', '127.0.0.1', 80, true],
  ])('%s for %s and port %i: %p', (one, host, at, admitted) => {
    expect(admitsHost([one], host, at)).toBe(admitted);
  });

  test('a name admits itself alone, a wildcard every name below it, and both their ports alone', () => {
    fc.assert(
      fc.property(name, name, port, port, (own, other, ownPort, at) => {
        const isSame = own === other && ownPort === at;
        expect(admitsHost([`${own}:${ownPort}`], other, at)).toBe(isSame);
        const isBelow = other.endsWith(`.${own}`) && ownPort === at;
        expect(admitsHost([`*.${own}:${ownPort}`], other, at)).toBe(isBelow);
        expect(admitsHost([`*.${own}:${ownPort}`], `${other}.${own}`, ownPort)).toBe(true);
      }),
    );
  });

  test.each([
    [['example.com', '*.a.b', '*', '*:*', 'a.b:*', '10.0.0.1:8443', '_dmarc.a-b.c']],
    [Array.from({ length: 100 }, (_, n) => `h${n}.example.com`)],
  ])('a list of hosts is valid', (list) => expect(isHostList(list)).toBe(true));

  test.each([
    'Example.com',
    'https://example.com',
    'example.com/',
    'a.*.com',
    '*example.com',
    '**',
    '*.',
    '.a',
    'a.',
    'a:0',
    'a:65536',
    'a:',
    'a b',
    'a\n',
    '-a',
    '[::1]:80',
    '',
    7,
    null,
  ])('%j is no pattern of a host', (text) => expect(isHostList([text])).toBe(false));

  test('a list has at most 100 hosts', () => {
    expect(isHostList(Array.from({ length: 101 }, () => 'a.b'))).toBe(false);
    expect(isHostList('a.b')).toBe(false);
  });

  test('the host of an exception has a port and no wildcard', () => {
    const valid = ['registry.corp:443', '10.0.0.1:80', '*.corp:443', '*:443', 'registry.corp'];
    expect(valid.map((text) => HOST_AND_PORT.test(text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

test.each([
  ['EXAMPLE.com', 'example.com'],
  ['example.com.', 'example.com'],
  ['b\u00fccher.example', 'xn--bcher-kva.example'],
  ['0x7f.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['[::FFFF:127.0.0.1]', '::ffff:7f00:1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['a%2eb', undefined],
  ['user@example.com', undefined],
  ['example.com:80', undefined],
  ['a/b', undefined],
  ['a#b', undefined],
  ['a\\b', undefined],
  ['a b', undefined],
  ['', undefined],
  ['.', undefined],
])('the host %j is spelled %j', (text, host) => expect(toHost(text)).toBe(host));

describe('the reach of several levels', () => {
  test('the strictest network applies, and an unset one is none', () => {
    expect(strictestNetwork('host', 'allow', 'host')).toBe('allow');
    expect(strictestNetwork('host', 'allow', 'none')).toBe('none');
    expect(strictestNetwork('host', undefined)).toBe('none');
    expect(strictestNetwork('host', 'host')).toBe('host');
  });

  test('no level adds a host that another level refuses', () => {
    fc.assert(
      fc.property(
        fc.array(level, { minLength: 1, maxLength: 4 }),
        name,
        port,
        (levels, host, at) => {
          const { network, allowedHosts } = strictestReach(...levels);
          const reached = network === 'host' || admitsEverywhere(allowedHosts, host, at);
          const expected = levels.every(
            (one) => one.network === 'host' || admitsEverywhere(one.allowedHosts, host, at),
          );
          expect(reached).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('the order of the levels and their grouping change nothing', () => {
    fc.assert(
      fc.property(level, level, level, name, port, (a, b, c, host, at) => {
        const one = strictestReach(a, strictestReach(b, c));
        const other = strictestReach(strictestReach(c, a), b);
        expect(one.network).toBe(other.network);
        expect(admitsEverywhere(one.allowedHosts, host, at)).toBe(
          admitsEverywhere(other.allowedHosts, host, at),
        );
      }),
    );
  });

  test('a task without a list narrows nothing, and with a malformed one it reaches nothing', () => {
    const above = reachOf('allow', ['example.com:22']);
    const reached = (allowedHosts: unknown) => {
      const reach = strictestReach(above, reachWanted('allow', allowedHosts)!);
      return admitsEverywhere(reach.allowedHosts, 'example.com', 22);
    };
    expect([undefined, null, ['*'], ['*:22'], [], 'x', ['A']].map(reached)).toEqual([
      true,
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(reachWanted('on', [])).toBeUndefined();
  });

  test('without a list no host is reached', () => {
    expect(admitsEverywhere([], 'example.com', 443)).toBe(false);
    expect(admitsEverywhere([[]], 'example.com', 443)).toBe(false);
    expect(admitsEverywhere([['*'], []], 'example.com', 443)).toBe(false);
  });
});
