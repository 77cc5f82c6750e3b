import { describe, expect, it } from '@jest/globals';
import { TargetGuard } from './target.js';

const guard = new TargetGuard([]);
const lenient = new TargetGuard(['127.0.0.0/8', '10.1.0.0/16', 'fd00:1::/32', '192.0.2.7']);

const verdict = (of: TargetGuard, url: string) => {
  const judgement = of.judgeUrl(url);
  return judgement.kind === 'accepted' ? 'accepted' : judgement.why;
};

describe('the URL of a webhook', () => {
  it.each([
    'https://example.com/hook',
    'https://example.com:443/hook?token=1',
    'https://example.com:8443/',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
  ])('the URL can be %s', (url) => {
    expect(verdict(guard, url)).toBe('accepted');
  });

  it.each([
    ['', 'malformed'],
    ['example.com/hook', 'malformed'],
    ['https://', 'malformed'],
    ['https://exa mple.com', 'malformed'],
    ['https://[fe80::1%25eth0]/', 'malformed'],
    ['ftp://example.com', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://example.com/', 'scheme'],
    ['https://user@example.com/', 'userinfo'],
    ['https://user:pass@example.com/', 'userinfo'],
    ['https://example.com/#part', 'fragment'],
    ['https://example.com:22/', 'port'],
    ['https://example.com:80/', 'port'],
    ['https://example.com:6379/', 'port'],
    ['https://localhost/', 'internal_name'],
    ['https://localhost./', 'internal_name'],
    ['https://LOCALHOST/', 'internal_name'],
    ['https://a.localhost/', 'internal_name'],
    ['https://valkey/', 'internal_name'],
    ['https://metadata.google.internal/', 'internal_name'],
    ['https://printer.local/', 'internal_name'],
  ])('the URL cannot be %s: %s', (url, why) => {
    expect(verdict(guard, url)).toBe(why);
  });

  it.each([
    '127.0.0.1',
    '127.1',
    '127.0.0.1.',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '0',
    '127.0.0.1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
  ])('the URL cannot name this machine as %s', (host) => {
    expect(verdict(guard, `https://${host}/`)).toBe('internal_address');
  });
});

const INTERNAL = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1'],
  'link-local': ['169.254.1.1', 'fe80::1', 'febf::1', 'fec0::1'],
  metadata: ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  reserved: ['192.0.0.1', '198.18.0.1', '198.19.255.255', '240.0.0.1', '100::1', '5f00::1'],
  'relay anycast': ['192.88.99.1', '192.175.48.1', '192.52.193.1'],
  'IPv4-mapped': ['::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8'],
  'IPv4-compatible': ['::10.0.0.1', '::8.8.8.8'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
  unassigned: ['4000::1', 'e000::1', '100:0:0:1::1'],
};

describe('an address', () => {
  const url = new URL('https://example.com/');

  it.each(Object.entries(INTERNAL).flatMap(([kind, all]) => all.map((one) => [kind, one])))(
    'the address %s is refused: %s',
    (_, address) => {
      expect(guard.admits(url, address)).toBe(false);
    },
  );

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1', '2a00:1450::1'])(
    'the public address is allowed: %s',
    (address) => {
      expect(guard.admits(url, address)).toBe(true);
    },
  );

  it.each(['', 'example.com', '1.2.3.4.5', '::1%lo'])('%p is no address', (text) => {
    expect(guard.admits(url, text)).toBe(false);
  });
});

describe('allowed networks', () => {
  it.each([
    'http://127.0.0.1:8080/hook',
    'https://10.1.2.3:9000/',
    'http://[fd00:1::5]/',
    'http://192.0.2.7/',
    'http://localhost:3000/',
    'https://93.184.215.14/',
  ])('allowed networks can contain %s', (url) => {
    expect(verdict(lenient, url)).toBe('accepted');
  });

  it.each([
    ['http://10.2.0.1/', 'internal_address'],
    ['https://10.2.0.1/', 'internal_address'],
    ['http://192.0.2.8/', 'internal_address'],
    // Plain HTTP and other ports are only for these networks.
    ['http://93.184.215.14/', 'internal_address'],
    ['https://93.184.215.14:22/', 'internal_address'],
    // A mapped form of an allowed address is not allowed.
    ['http://[::ffff:127.0.0.1]/', 'internal_address'],
    ['http://u@127.0.0.1/', 'userinfo'],
  ])('allowed networks cannot contain %s: %s', (url, why) => {
    expect(verdict(lenient, url)).toBe(why);
  });

  it.each([
    ['http://receiver.example/', '10.1.0.1', true],
    ['http://receiver.example/', '93.184.215.14', false],
    ['https://receiver.example:9000/', '93.184.215.14', false],
    ['https://receiver.example/', '93.184.215.14', true],
    ['https://receiver.example/', '10.2.0.1', false],
  ])('allowed networks apply to a resolved name: %s at %s: %s', (url, address, admitted) => {
    expect(lenient.admits(new URL(url), address)).toBe(admitted);
  });
});

describe('a guard of a kind with hosts of its own', () => {
  const hosts = ['hooks.slack.com'];

  it.each([
    ['https://hooks.slack.com/services/a', undefined],
    ['https://hooks.slack.com.example.com/', 'host'],
    ['https://example.com/', 'host'],
    ['http://hooks.slack.com/', 'scheme'],
    ['https://hooks.slack.com:8080/', 'port'],
    ['https://hooks.slack.com@example.com/', 'userinfo'],
  ])('the guard judges %s: %s', (url, why) => {
    const judgement = new TargetGuard([], hosts).judgeUrl(url);
    expect('why' in judgement ? judgement.why : undefined).toBe(why);
  });

  it.each([
    ['https://hooks.slack.com/', '93.184.215.14', true],
    ['https://hooks.slack.com/', '10.0.0.1', false],
    // A name can be internal. Its resolution decides.
    ['https://chat.example.com/', '93.184.215.14', false],
    ['http://chat.example.com/', '127.0.0.1', true],
  ])('the guard lets %s connect to %s: %s', (url, address, admitted) => {
    const guard = new TargetGuard(['127.0.0.0/8'], hosts);
    expect(guard.judgeUrl(url).kind).toBe('accepted');
    expect(guard.admits(new URL(url), address)).toBe(admitted);
  });
});
