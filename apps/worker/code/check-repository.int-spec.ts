import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ForgeLimits } from '#lib/forges';
import { Drivers } from '#lib/session-runtime';
import { plainGit, TestPlace } from '../../../libs/code/git/testing/repositories.js';
import { testSandbox } from '../../../libs/hosts/session-runtime/testing/sandboxes.js';
import { checkRepository } from './check-repository.js';
import { CodeHost } from './code-host.js';
import type { RepositoryAccess } from './types.js';

const sandbox = await testSandbox({ network: 'none' });

let place: TestPlace;
let folder: string;

beforeEach(() => {
  place = new TestPlace();
  folder = place.repository('shop', { 'a.txt': 'one\n', 'package-lock.json': '{}\n' }).path;
});
afterEach(() => place.remove());

async function found(more: Partial<RepositoryAccess> = {}): Promise<Record<string, string>> {
  const sessions = place.path('sessions');
  const host = new CodeHost({
    folder: place.path('code'),
    roots: [join(folder, '..')],
    workspaceId: 'w',
    isolation: { sandbox: sandbox!, accounts: undefined },
    drivers: new Drivers({ dir: sessions }, {}),
    sessions,
    scripts: place.path('scripts'),
    keepDays: 14,
    worker: 'worker-auth',
    writesState: true,
  });
  const access = {
    id: 'r',
    url: folder,
    defaultBranch: 'main',
    credentials: null,
    setup: 'npm ci',
    acceptance: 'npm test',
    path: null,
    forge: 'none',
    ...more,
  } as unknown as RepositoryAccess;
  const { signal } = new AbortController();
  const findings = await checkRepository(host, access, { limits: new ForgeLimits(), signal });
  for (const { outcome, advice } of findings) {
    expect((advice === undefined) === (outcome === 'ok')).toBe(true);
  }
  return Object.fromEntries(findings.map(({ name, outcome }) => [name, outcome]));
}

(sandbox === undefined ? describe.skip : describe)('the check of a repository', () => {
  it('finds nothing wrong with one on which agents can work, and changes nothing', async () => {
    const fine = { reachable: 'ok', branch: 'ok', push: 'ok', setup: 'ok', acceptance: 'ok' };
    expect(await found()).toEqual({ host: 'ok', ...fine });
    expect(plainGit(folder, 'branch', '--format=%(refname:short)').trim()).toBe('main');
  });

  it('names what would fail', async () => {
    expect(await found({ defaultBranch: 'trunk' })).toMatchObject({ branch: 'failed' });
    expect(await found({ setup: null, acceptance: ' ' })).toMatchObject({
      setup: 'warning',
      acceptance: 'warning',
    });
    expect(await found({ path: 'packages/a' })).toMatchObject({ path: 'failed' });
    const elsewhere = await found({ url: '/etc' });
    expect(elsewhere).toMatchObject({ reachable: 'failed' });
    expect(elsewhere).not.toHaveProperty('push');
    expect(await found({ url: 'https://127.0.0.1:1/shop.git' })).toMatchObject({
      reachable: 'failed',
    });
    expect(await found({ forge: 'gitea' })).toMatchObject({ forge: 'failed' });
    const lfs = place.repository('lfs', { '.gitattributes': '*.bin filter=lfs\n' });
    expect(await found({ url: lfs.path })).toMatchObject({ content: 'failed' });
    const outer = place.repository('outer');
    outer.git('update-index', '--add', '--cacheinfo', `160000,${outer.head()},lib/s`);
    outer.git('commit', '-q', '-m', 'submodule');
    expect(await found({ url: outer.path })).toMatchObject({ content: 'failed' });
    writeFileSync(join(folder, 'a.txt'), 'two\n');
    expect(await found()).toMatchObject({ push: 'ok', folder: 'warning' });
  });
});
