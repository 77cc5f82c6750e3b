import { describe, expect, it } from '@jest/globals';
import { isWebAddress, readRepositoryUrl } from './repository-url.js';

const ROOTS = ['/srv/code', '/home/ada/'];

describe('readRepositoryUrl', () => {
  it.each([
    ['https://example.com/team/shop.git', 'https'],
    ['https://example.com:8443/shop', 'https'],
    ['http://127.0.0.1:4000/shop.git', 'http'],
    ['ssh://git@example.com:2222/team/shop.git', 'ssh'],
    ['git@example.com:team/shop.git', 'ssh'],
    ['example.com:shop', 'ssh'],
    ['/srv/code/shop', 'local'],
    ['/srv/code', 'local'],
    ['/home/ada/shop', 'local'],
  ])('%s is reached by %s', (url, transport) => {
    expect(readRepositoryUrl(url, ROOTS)).toEqual({ transport });
  });

  it.each([
    '',
    'shop',
    './shop',
    '../shop',
    '/etc',
    '/srv/codex/shop',
    '/srv/code/../../etc',
    '/srv/code/./shop',
    '/srv/code/shop/',
    'http://example.com/shop',
    'https://example.com',
    'https://user:secret@example.com/shop',
    'https://example.com/shop?token=1',
    'https://example.com/shop#x',
    'file:///srv/code/shop',
    'git://example.com/shop',
    'ext::sh -c id',
    'ext::id',
    'fd::7',
    '--upload-pack=id:shop',
    'ssh://-oProxyCommand=id/shop',
    'ssh://git:secret@example.com/shop',
    'git@-oProxyCommand=id:shop',
    '-oProxyCommand=id@example.com:shop',
    'git@example.com:-u',
    'https://example.com/a b',
    'https://example.com/a\nb',
  ])('%j is refused', (url) => {
    expect(readRepositoryUrl(url, ROOTS)).toEqual({ why: expect.any(String) });
  });

  it('no path is allowed without a setting', () => {
    expect(readRepositoryUrl('/srv/code/shop', [])).toEqual({
      why: expect.stringContaining('DROVER_REPOSITORY_PATHS'),
    });
  });
});

describe('isWebAddress', () => {
  it.each([
    'https://api.example.com',
    'https://api.example.com/',
    'https://example.com/api/v3',
    'http://127.0.0.1:3000/api/v1',
  ])('%s can be the API of a forge', (url) => expect(isWebAddress(url)).toBe(true));

  it.each([
    'example.com/api',
    'http://example.com/api',
    'https://user:secret@example.com/api',
    'https://example.com/api?key=1',
    'https://example.com:99999/api',
    'https://example.com/a b',
    'ssh://git@example.com/api',
    'git@example.com:api',
    '/srv/code',
  ])('%s cannot', (url) => expect(isWebAddress(url)).toBe(false));
});
