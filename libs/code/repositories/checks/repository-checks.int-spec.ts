import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

interface Check {
  state: string | null;
  findings: { name: string; message: string }[];
}
interface Work {
  check: { repositoryId: string; generation: number };
  repository: {
    url: string;
    credentials: { token: string };
    network: string;
    hostLists: string[][];
  };
}

const TOKEN = 'token-of-the-repository';

let server: TestServer;
let workspace: TestWorkspace;
let id: string;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  const settings = {
    name: 'shop',
    url: 'https://example.com/shop.git',
    credentials: { kind: 'token', token: TOKEN },
  };
  id = (await workspace.api.post<{ id: string }>('/repositories', settings)).body.id;
});
afterAll(() => server.stop());

const host = () => workspace.newAgent({ capabilities: ['git'] });
const check = () => workspace.api.post<Check>(`/repositories/${id}/check`);
const last = async () => (await workspace.api.get<Check>(`/repositories/${id}/check`)).body;
const claim = ({ api }: TestAgent, waitSeconds = 0) =>
  api.post<Work>('/change-steps/claim', { checks: true, waitSeconds });
const report = ({ api }: TestAgent, { check: { generation } }: Work, message = 'Fine') => {
  const findings = [{ name: 'push', outcome: 'ok', message }];
  return api.post<Check>(`/repositories/${id}/check/report`, { generation, findings });
};

it('a host that waits gets the check, and its findings have no secret', async () => {
  expect(await last()).toMatchObject({ state: null, findings: [] });
  const agent = await host();
  const waiting = claim(agent, 20);
  expect(await check()).toMatchObject({ status: 200, body: { state: 'waiting' } });
  const { body: work } = await waiting;
  expect(work).toMatchObject({
    check: { repositoryId: id },
    repository: { url: 'https://example.com/shop.git', credentials: { token: TOKEN } },
  });
  expect(await last()).toMatchObject({ state: 'running' });
  // It goes on.
  expect((await check()).body).toMatchObject({ state: 'running' });
  expect((await report(agent, work, `Refused: ${TOKEN}`)).status).toBe(200);
  expect(await last()).toMatchObject({
    state: 'finished',
    findings: [{ name: 'push', message: 'Refused: [redacted]' }],
  });
  expect((await report(agent, work)).status).toBe(409);
});

it('scripts get no network that the workspace or the project refuses', async () => {
  const agent = await host();
  const networkNow = async () => {
    await check();
    const { body: work } = await claim(agent);
    expect((await report(agent, work)).status).toBe(200);
    return [work.repository.network, work.repository.hostLists];
  };
  const own = { network: 'allow', allowedHosts: ['npm.example.com'] };
  const path = `/repositories/${id}`;
  expect((await workspace.api.patch(path, own)).body).toMatchObject(own);
  expect(await networkNow()).toEqual(['none', []]);
  expect(await last()).toMatchObject({ findings: [{ name: 'push' }, { name: 'network' }] });
  const above = { network: 'allow', allowedHosts: ['*.example.com'] };
  expect((await workspace.api.patch(`/workspaces/${workspace.id}`, above)).status).toBe(200);
  expect(await networkNow()).toEqual(['allow', [['npm.example.com'], ['*.example.com']]]);
  const { body: shop } = await workspace.api.post<{ id: string }>('/projects', { name: 'Shop' });
  expect((await workspace.api.patch(path, { projectId: shop.id })).status).toBe(200);
  expect(await networkNow()).toEqual(['none', []]);
  const ofProject = { network: 'host' };
  expect((await workspace.api.patch(`/projects/${shop.id}`, ofProject)).status).toBe(200);
  expect(await networkNow()).toEqual(['allow', [['npm.example.com'], ['*.example.com']]]);
  expect(await last()).toMatchObject({ findings: [{ name: 'push' }] });
  expect((await workspace.api.patch(path, { network: 'host' })).status).toBe(200);
  expect(await networkNow()).toEqual(['allow', [['*.example.com']]]);
});

it('only hosts with git that ask for checks get one, and a lost one is given again', async () => {
  await check();
  const agent = await host();
  expect((await agent.api.post('/change-steps/claim', {})).status).toBe(204);
  expect((await claim(await workspace.newAgent())).status).toBe(204);
  const first = (await claim(agent)).body;
  const other = await host();
  expect((await claim(other)).status).toBe(204);
  await server.db.owner.query(`UPDATE repositories SET check_until = now() WHERE id = $1`, [id]);
  const second = (await claim(other)).body;
  expect(await report(agent, first)).toMatchObject({ status: 409, body: { code: 'stale_step' } });
  expect((await report(other, second)).status).toBe(200);
});

it('a host renews its check for a minute, and releases it to others at once', async () => {
  await check();
  const [agent, other] = [await host(), await host()];
  const { body: first } = await claim(agent);
  const { generation } = first.check;
  const tell = ({ api }: TestAgent, verb: 'renew' | 'release') =>
    api.post<{ until: string }>(`/repositories/${id}/check/${verb}`, { generation });
  const until = Date.parse((await tell(agent, 'renew')).body.until);
  const { rows } = await server.db.owner.query<{ now: Date }>('SELECT now()');
  expect(until - rows[0]!.now.getTime()).toBeGreaterThan(40_000);
  expect(until - rows[0]!.now.getTime()).toBeLessThanOrEqual(60_000);
  expect((await tell(other, 'release')).status).toBe(409);
  const waiting = claim(other, 20);
  expect((await tell(agent, 'release')).status).toBe(200);
  const { body: second } = await waiting;
  expect(second).toMatchObject({ check: { repositoryId: id } });
  for (const verb of ['renew', 'release'] as const) {
    expect(await tell(agent, verb)).toMatchObject({ status: 409, body: { code: 'stale_step' } });
  }
  expect((await report(other, second)).status).toBe(200);
});

it('a pause holds checks back, and an archived repository has none', async () => {
  const agent = await host();
  await check();
  const pause = { scope: 'workspace', reason: 'Stop', endRuns: true };
  const { body } = await workspace.api.post<{ id: string }>('/pauses', pause);
  expect((await claim(agent)).status).toBe(204);
  await workspace.api.delete(`/pauses/${body.id}`);
  const work = (await claim(agent)).body;
  expect((await report(agent, work)).status).toBe(200);
  await check();
  await workspace.api.post(`/repositories/${id}/archive`);
  expect((await claim(agent)).status).toBe(204);
  expect(await check()).toMatchObject({ status: 409, body: { code: 'repository_archived' } });
});
