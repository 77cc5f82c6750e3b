import { afterAll, beforeAll, expect } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { type Ended, Terminal } from '../../e2e/terminal.js';
import { aSessionOf } from '../../support/factories.js';
import { sharedServer, type TestAgent, type TestServer } from '../../support/shared-server.js';
import { waitFor } from '../../support/wait-for.js';
import { WORKER_COMMANDS } from '../promises/worker-orchestration.js';
import { prove } from './prove.js';

/** The command line of the document, with `drover` for `tx`. The tests build on each other. */

let server: TestServer;
let scene: Scene;
let home: string;
let env: Record<string, string>;
let agent: TestAgent;
let taskId: string;

beforeAll(async () => {
  server = await sharedServer('all');
  scene = await Scene.of(server);
  home = mkdtempSync(join(tmpdir(), 'drover-seeds-'));
  const { userId, id: workspaceId } = scene.workspace;
  const sessionId = await aSessionOf(server.db.owner, userId);
  const { token } = server.tokens.issueUserToken({ userId, sessionId, workspaceId });
  env = {
    HOME: home,
    DROVER_HOME: join(home, 'none'),
    DROVER_CONFIG: join(home, 'config.json'),
    DROVER_SANDBOX: 'off',
    DROVER_ACCOUNTS: 'off',
    DROVER_API_URL: server.url,
    DROVER_API_KEY: token,
    DROVER_WORKSPACE_ID: workspaceId,
  };
  agent = await scene.workspace.newAgent();
  taskId = await scene.task({ agentId: agent.id });
});
afterAll(async () => {
  await drover('worker stop');
  await waitFor('no worker', async () => (await drover('worker status')).stdout === '');
  rmSync(home, { recursive: true, force: true });
  await server.stop();
});

const drover = (line: string, own = env): Promise<Ended> =>
  new Terminal(line.split(' '), { env: own, cwd: tmpdir() }).ended;

const asAgent = (line: string): Promise<Ended> =>
  drover(line, { ...env, DROVER_API_KEY: '', DROVER_AGENT_TOKEN: agent.token });

async function leaseMinutes(): Promise<number> {
  const { rows } = await scene.sql(
    `SELECT extract(epoch FROM lease_expires_at - now()) / 60 AS minutes FROM task_runs
     WHERE task_id = $1 AND ended_at IS NULL`,
    taskId,
  );
  return Number(rows[0]?.['minutes']);
}

prove(WORKER_COMMANDS, {
  workerStart: async () => {
    const line = 'worker start --name my-worker --capabilities tx-implementer,tx-tester';
    // Without --daemon it runs in the foreground.
    expect(await drover(`${line} --daemon`)).toMatchObject({ code: 0, stderr: '' });
    const worker = await waitFor('the worker to be idle', async () => {
      const { body } = await scene.workspace.api.get<{ items: Record<string, unknown>[] }>(
        '/agents?limit=100',
      );
      // The list shows an agent without a heartbeat as such.
      return body.items.find(
        ({ name, status, hasSentHeartbeat }) =>
          name === 'my-worker' && status === 'IDLE' && hasSentHeartbeat === true,
      );
    });
    const capabilities = expect.arrayContaining(['tx-implementer', 'tx-tester']);
    expect(worker).toMatchObject({ status: 'IDLE', capabilities });
  },

  workerStatus: async () => {
    expect(await drover('worker status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('my-worker'),
    });
  },

  workerList: async () => {
    expect(await drover('worker list')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('my-worker\tIDLE'),
    });
  },

  workerStop: async () => {
    expect(await drover('worker stop --graceful')).toMatchObject({ code: 0 });
    expect(await drover('worker status')).toMatchObject({ code: 0, stdout: '' });
  },

  claim: async () => {
    const { code, stdout, stderr } = await asAgent(`claim ${taskId} --lease 30m`);
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining(taskId)]);
    expect(await leaseMinutes()).toBeGreaterThan(25);
    expect(await leaseMinutes()).toBeLessThanOrEqual(30);
  },

  claimRenew: async () => {
    const { code, stdout } = await asAgent(`claim:renew ${taskId}`);
    expect([code, stdout]).toEqual([0, expect.stringContaining('renewed until')]);
  },

  claimRelease: async () => {
    const { code } = await asAgent(`claim:release ${taskId}`);
    expect([code, (await scene.read(taskId))['status']]).toEqual([0, 'PENDING']);
  },
});
