import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { request, type Server } from 'node:http';
import { promisify } from 'node:util';
import { apiClient } from '../../../../test/support/api-client.js';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { ClaimService } from './claim.service.js';

let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent();
});
afterAll(() => server.stop());

const claims = () => server.app.get(ClaimService, { strict: false });

/** So long that only the revocation can end the wait. */
const waitMs = 30_000;

const refused = { status: 401, body: { code: 'token_revoked' } };

async function aWaitingClaim(): Promise<Promise<unknown>[]> {
  const claim = agent.api.post(`/agents/${agent.id}/claim`, { waitMs });
  await waitFor('the claim to wait', () => claims().waiting === 1);
  return [claim];
}

it.each([
  [
    'rotation of its token',
    () => workspace.api.post(`/agents/${agent.id}/token`, { rotate: true }),
  ],
  ['revocation of its token', () => workspace.api.delete(`/agents/${agent.id}/token`)],
  ['archive of its workspace', () => workspace.api.post(`/workspaces/${workspace.id}/archive`)],
])('a waiting claim ends with the %s and gets nothing', async (_, end) => {
  const [claim] = await aWaitingClaim();
  expect((await end()).status).toBeLessThan(300);
  expect(await claim).toMatchObject(refused);
  const task = await aTask(server.db.owner, workspace.id);
  const { rows } = await server.db.owner.query('SELECT status FROM agent_tasks WHERE id = $1', [
    task,
  ]);
  expect(rows).toEqual([{ status: 'PENDING' }]);
});

it('a wait for signals ends with the token', async () => {
  const signals = agent.api.post(`/agents/${agent.id}/signals`, { runIds: [], waitMs });
  await agent.api.post(`/agents/${agent.id}/signals`, { runIds: [] });
  await workspace.api.delete(`/agents/${agent.id}/token`);
  expect(await signals).toMatchObject(refused);
});

it('the wait of another agent continues', async () => {
  const other = await workspace.newAgent();
  const [claim] = await aWaitingClaim();
  await workspace.api.delete(`/agents/${other.id}/token`);
  await workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
  expect(await claim).toMatchObject({ status: 200, body: { tasks: [{ task: { title: 'T' } }] } });
});

/** Runs `meanwhile` when the claim has begun, and waits for the lock of its agent's row. */
async function duringClaim<T>(claim: () => Promise<T>, meanwhile: () => Promise<void>) {
  const { owner } = server.db;
  const holding = await owner.connect();
  try {
    await holding.query('BEGIN');
    await holding.query('SELECT FROM agents WHERE id = $1 FOR UPDATE', [agent.id]);
    const claiming = claim();
    await waitFor('the claim to wait for the lock', async () => {
      const { rowCount } = await owner.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await meanwhile();
    await holding.query('ROLLBACK');
    return await claiming;
  } finally {
    holding.release();
  }
}

async function endOf(task: string) {
  const { rows } = await server.db.owner.query(
    `SELECT t.status, r.state, r.end_reason FROM agent_tasks t JOIN task_runs r ON r.task_id = t.id
     WHERE t.id = $1`,
    [task],
  );
  return rows;
}

it('a claim whose token is revoked meanwhile returns its task', async () => {
  const { owner } = server.db;
  const task = await aTask(owner, workspace.id);
  const claim = () => agent.api.post(`/agents/${agent.id}/claim`, {});
  const claimed = await duringClaim(claim, async () => {
    await owner.query(
      `INSERT INTO token_revocations (kind, subject, expires_at)
       VALUES ('agent', $1, now() + interval '1 day')`,
      [`${agent.id}<2`],
    );
    await waitFor('the revocation to be heard', async () => {
      const { status } = await agent.api.get(`/agents/${agent.id}`);
      return status === 401;
    });
  });
  expect(claimed).toMatchObject(refused);
  expect(await endOf(task)).toEqual([
    { status: 'PENDING', state: 'RELEASED', end_reason: 'token_revoked' },
  ]);
});

it('a claim whose client disconnects meanwhile returns its task', async () => {
  const task = await aTask(server.db.owner, workspace.id);
  const http = server.app.getHttpServer() as Server;
  const connections = () => promisify(http.getConnections.bind(http))();
  const before = await connections();
  const call = request(`${server.url}/api/v1/agents/${agent.id}/claim`, {
    agent: false,
    method: 'POST',
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
  });
  call.on('error', () => undefined);
  await duringClaim(
    async () => call.end('{}'),
    async () => {
      call.destroy();
      await waitFor('the server to notice', async () => (await connections()) <= before);
    },
  );
  const released = { status: 'PENDING', state: 'RELEASED', end_reason: 'client_gone' };
  await waitFor('the release', async () => (await endOf(task))[0]?.state === 'RELEASED');
  expect(await endOf(task)).toEqual([released]);
});

it("a run's token ends with the tokens of its agent", async () => {
  await aTask(server.db.owner, workspace.id);
  const { body } = await agent.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${agent.id}/claim`,
    {},
  );
  const { id, token } = body.tasks[0]?.run ?? { id: '', token: '' };
  const run = apiClient(server.url, { authorization: `Bearer ${token}` });
  expect((await run.post(`/runs/${id}/start`)).status).toBe(200);
  const rotated = await workspace.api.post<{ token: string }>(`/agents/${agent.id}/token`, {
    rotate: true,
  });
  expect(await run.patch(`/runs/${id}/progress`, { progressPercent: 5 })).toMatchObject(refused);
  const next = apiClient(server.url, { authorization: `Bearer ${rotated.body.token}` });
  expect((await next.post(`/runs/${id}/complete`)).status).toBe(200);
});
