import { describe, expect, it } from '@jest/globals';
import { reachOfRepository } from './run-script.js';
import type { RepositoryAccess } from './types.js';

const reachOf = (access: Partial<RepositoryAccess>) =>
  reachOfRepository(access as RepositoryAccess);

describe('the reach of a repository', () => {
  it('has the lists of all levels', () => {
    const hostLists = [['example.com', 'a.example'], ['*.example.com']];
    const access = { network: 'allow' as const, allowedHosts: [], hostLists };
    expect(reachOf(access)).toEqual({ network: 'allow', allowedHosts: hostLists });
  });

  it.each(['none', 'host'] as const)('has no lists with %s', (network) => {
    const access = { network, allowedHosts: ['example.com'], hostLists: [] };
    expect(reachOf(access)).toEqual({ network, allowedHosts: [] });
  });

  it("has the repository's own list if an older server sends no others", () => {
    const access = { network: 'allow' as const, allowedHosts: ['example.com'] };
    expect(reachOf(access)).toEqual({ network: 'allow', allowedHosts: [['example.com']] });
  });
});
