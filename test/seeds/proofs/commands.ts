import { afterAll, beforeAll, expect } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { type Ended, Terminal } from '../../e2e/terminal.js';
import { aSessionOf } from '../../support/factories.js';
import { sharedServer, type TestAgent, type TestServer } from '../../support/shared-server.js';
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
  rmSync(home, { recursive: true, force: true });
  await server.stop();
});

const drover = (line: string, own = env): Promise<Ended> =>
  new Terminal(line.split(' '), { env: own, cwd: tmpdir() }).ended;

const asAgent = (line: string): Promise<Ended> => {
  return drover(line, { ...env, DROVER_API_KEY: '', DROVER_AGENT_TOKEN: agent.token });
};

async function leaseMinutes(): Promise<number> {
  const { rows } = await scene.sql(
    `SELECT extract(epoch FROM lease_expires_at - now()) / 60 AS minutes FROM task_runs
     WHERE task_id = $1 AND ended_at IS NULL`,
    taskId,
  );
  return Number(rows[0]?.['minutes']);
}

const USAGE_ERROR = { code: 2 };

prove(WORKER_COMMANDS, {
  orchestratorStop: async () => {
    expect(await drover('orchestrator stop --graceful')).toMatchObject(USAGE_ERROR);
  },

  workerStart: async () => {
    const line = 'worker start --name my-worker --capabilities tx-implementer,tx-tester';
    expect(await drover(line)).toMatchObject(USAGE_ERROR);
  },

  workerStatus: async () => {
    expect(await drover('worker status')).toMatchObject({ code: 0, stdout: '' });
  },

  workerList: async () => {
    expect(await drover('worker list')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(agent.id),
    });
  },

  workerStop: async () => {
    expect(await drover('worker stop --graceful')).toMatchObject(USAGE_ERROR);
  },

  claim: async () => {
    expect(await asAgent(`claim ${taskId} --lease 30m`)).toMatchObject(USAGE_ERROR);
    expect(await asAgent(`claim ${agent.id} ${taskId} --lease 1800`)).toMatchObject({ code: 0 });
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
