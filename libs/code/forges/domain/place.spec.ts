import { describe, expect, it } from '@jest/globals';
import { placeOf } from './place.js';

describe('the place of a repository', () => {
  it.each([
    ['github', 'https://github.com/team/shop.git', 'https://api.github.com'],
    ['github', 'https://code.example.com/team/shop', 'https://code.example.com/api/v3'],
    [
      'gitea',
      'https://code.example.com:3000/team/shop.git',
      'https://code.example.com:3000/api/v1',
    ],
    ['gitea', 'https://example.com/git/team/shop.git', 'https://example.com/git/api/v1'],
  ] as const)('%s has the API of %s at %s', (forge, url, api) => {
    expect(placeOf(forge, url, null)).toEqual({ api, owner: 'team', repo: 'shop' });
  });

  it('a setting replaces the usual address', () => {
    const place = placeOf('github', 'https://example.com/team/shop', 'https://api.example.com/');
    expect(place?.api).toBe('https://api.example.com');
  });

  it.each([
    'git@example.com:team/shop.git',
    '/srv/shop',
    'https://example.com/shop',
    'https://example.com/team/%zz',
    'https://example.com:99999/team/shop',
  ])('%s has none', (url) => expect(placeOf('gitea', url, null)).toBeUndefined());
});
