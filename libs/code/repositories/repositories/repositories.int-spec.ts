import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { aMember, aSessionOf } from '../../../../test/support/factories.js';
import {
  type TestServer,
  type TestWorkspace,
  sharedServer,
} from '../../../../test/support/shared-server.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import type { RepositoryView } from '../domain/repository.js';

const URL = 'https://example.com/team/shop.git';
const TOKEN = 'the-token-of-the-forge';
const WITH_TOKEN = { kind: 'token', token: TOKEN };
const KEY =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nbm90IGEga2V5\n-----END OPENSSH PRIVATE KEY-----\n';

let app: TestServer;
let own: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer('all');
  own = await app.newWorkspace();
});
afterAll(() => app?.stop());

let names = 0;
const aName = () => `shop-${++names}`;

async function aRepository(settings: object = {}, of = own): Promise<RepositoryView> {
  const { status, body } = await of.api.post<RepositoryView>('/repositories', {
    name: aName(),
    url: URL,
    ...settings,
  });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
}

describe('repositories', () => {
  it('a person reviews changes, and squashes land, by default', async () => {
    const repository = await aRepository();
    expect(repository).toMatchObject({
      defaultBranch: 'main',
      branchPattern: '{agent}/{task}',
      review: 'person',
      mergeMethod: 'squash',
      maxRevisions: 3,
      network: 'none',
      acceptance: null,
      credentials: null,
      version: 1,
    });
    expect((await own.api.get(`/repositories/${repository.id}`)).body).toEqual(repository);
    expect((await own.api.get<{ items: object[] }>('/repositories')).body.items).toContainEqual(
      repository,
    );
  });

  it('nobody reads its secrets, and a change leaves the others', async () => {
    const credentials = { kind: 'token', token: TOKEN };
    const secrets = { NPM_TOKEN: `${TOKEN}-npm`, OTHER: 'hunter22-long' };
    const { id, ...shown } = await aRepository({ credentials, secrets, signingKey: KEY });
    expect(shown).toMatchObject({
      credentials: 'token',
      hasSigningKey: true,
      secretNames: ['NPM_TOKEN', 'OTHER'],
    });
    expect(JSON.stringify(shown)).not.toContain(TOKEN);
    expect(await tablesWith(app, TOKEN)).toEqual([]);
    const path = `/repositories/${id}`;
    const change = { acceptance: 'npm test', cachePaths: ['/x'], secrets: { MORE: 'more-secret' } };
    const changed = await own.api.patch(path, { ...change, removedSecrets: ['OTHER'] });
    expect(changed.body).toMatchObject({ version: 2, secretNames: ['MORE', 'NPM_TOKEN'] });
    const removed = await own.api.patch(path, { credentials: null, signingKey: null });
    expect(removed.body).toMatchObject({ credentials: null, hasSigningKey: false });
    await app.db.owner.query('DELETE FROM repository_secrets WHERE repository_id = $1', [id]);
    expect((await own.api.patch(path, { setup: 'npm ci' })).body).toMatchObject({
      code: 'secrets_unreadable',
    });
  });

  it('its token gets to no other server', async () => {
    const credentials = { kind: 'token', token: TOKEN };
    const url = 'https://git.example.com/team/shop.git';
    const { id } = await aRepository({ url, forge: 'gitea', credentials });
    const change = (settings: object) => own.api.patch(`/repositories/${id}`, settings);
    const others = [
      { url: 'https://other.example.com/team/shop.git' },
      { forgeUrl: 'https://other.example.com/api/v1' },
    ];
    for (const other of others) {
      expect(await change(other)).toMatchObject({
        status: 400,
        body: { code: 'validation_failed', errors: [{ field: 'credentials' }] },
      });
    }
    const same = { url: 'https://git.example.com/team/store.git' };
    expect((await change({ ...same, forgeUrl: 'https://git.example.com/api' })).status).toBe(200);
    expect((await change({ ...others[0], credentials })).status).toBe(200);
  });

  it('a change needs the version that it saw', async () => {
    const { id } = await aRepository();
    const change = (review: string) =>
      own.api.patch(`/repositories/${id}`, { review }, { 'if-match': '"1"' });
    const both = await Promise.all([change('none'), change('none')]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it('an archived repository frees its name', async () => {
    const { id, name } = await aRepository();
    const again = { name, url: URL };
    expect((await own.api.post('/repositories', again)).body).toMatchObject({
      code: 'repository_exists',
    });
    const archived = await own.api.post(`/repositories/${id}/archive`);
    expect(archived.body).toMatchObject({ archivedAt: expect.any(String), version: 2 });
    expect((await own.api.post(`/repositories/${id}/archive`)).body).toEqual(archived.body);
    await aRepository(again);
    expect((await own.api.patch(`/repositories/${id}`, { setup: 'x' })).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ['no address', { url: 'shop' }, 'url'],
    ['a program as its address', { url: 'ext::sh -c id' }, 'url'],
    ['a password in its address', { url: 'https://a:b@example.com/x' }, 'url'],
    ['a folder outside the allowed ones', { url: '/etc' }, 'url'],
    ['an impossible branch', { defaultBranch: 'a..b' }, 'defaultBranch'],
    ['one branch for all tasks', { branchPattern: 'drover' }, 'branchPattern'],
    ['an unknown review', { review: 'everybody' }, 'review'],
    ['no reviewing agent', { review: 'agent' }, 'reviewer'],
    ['a path that leads out', { path: '../x' }, 'path'],
    ['a cache that leads out', { cachePaths: ['/../x'] }, 'cachePaths'],
    ['a path of git', { protectedPaths: ['.git/config'] }, 'protectedPaths'],
    [
      'an identity with a line break',
      { committer: { name: 'a\nb', email: 'x' } },
      'committer.name',
    ],
    ['a secret in a script', { setup: `export TOKEN=ghp_${'a1'.repeat(18)}` }, 'setup'],
    ['a secret in a variable', { variables: { A_TOKEN: 'hunter22' } }, 'variables.A_TOKEN'],
    ['a search path', { variables: { PATH: '/x' } }, 'variables'],
    ['a forge without a token', { forge: 'github' }, 'forge'],
    [
      'an impossible port of its forge',
      { url: 'https://example.com:99999/team/shop', forge: 'gitea', credentials: WITH_TOKEN },
      'url',
    ],
    [
      'an impossible name at its forge',
      { url: 'https://example.com/team/%zz', forge: 'gitea', credentials: WITH_TOKEN },
      'forge',
    ],
    ['a token that is missing', { credentials: { kind: 'token' } }, 'credentials.token'],
    [
      'a key for https',
      { credentials: { kind: 'ssh', privateKey: KEY, knownHosts: 'x' } },
      'credentials',
    ],
    ['a signing key in another format', { signingKey: 'x' }, 'signingKey'],
    ['an unknown field', { workspaceId: newId() }, 'workspaceId'],
  ])('a repository is not created with %s', async (_, settings, field) => {
    const body = { name: aName(), url: URL, ...settings };
    const refused = await own.api.post('/repositories', body);
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it('a project of another workspace is refused', async () => {
    const foreign = await app.newWorkspace();
    const project = await foreign.api.post<{ id: string }>('/projects', { name: 'P' });
    const body = { name: aName(), url: URL, projectId: project.body.id };
    expect((await own.api.post('/repositories', body)).body).toMatchObject({
      code: 'project_not_found',
    });
  });

  it('members read repositories, and admins change them', async () => {
    const { id } = await aRepository();
    const userId = await aMember(app.db.owner, own.id, 'MEMBER');
    const sessionId = await aSessionOf(app.db.owner, userId);
    const { token } = app.tokens.issueUserToken({ userId, sessionId, workspaceId: own.id });
    const member = apiClient(app.url, { authorization: `Bearer ${token}` });
    expect((await member.get(`/repositories/${id}`)).status).toBe(200);
    expect((await member.patch(`/repositories/${id}`, { setup: 'id' })).status).toBe(403);
    expect((await member.post('/repositories', { name: aName(), url: URL })).status).toBe(403);
    const foreign = await app.newWorkspace();
    expect((await foreign.api.get(`/repositories/${id}`)).status).toBe(404);
    expect((await foreign.api.patch(`/repositories/${id}`, { setup: 'id' })).status).toBe(404);
  });
});
