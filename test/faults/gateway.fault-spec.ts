import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { SECRET, TestGateway } from '../../apps/gateway/testing/gateway-process.js';
import { StandInGateway } from '../../libs/work/runs/sessions/testing/stand-in-gateway.js';
import { TestFleet } from '../support/fleet.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { expectInvariants } from './harness/verdict.js';

const AT_ONCE = 4;

/**
 * Records its birth, waits for its release, and completes. A refused report ends it, because the
 * run belongs to another agent then.
 */
const SESSION = `
const fs = require('fs');
const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token, DROVER_TASK_FILE: file } = process.env;
const { task, run } = JSON.parse(fs.readFileSync(file, 'utf8'));
fs.appendFileSync(task.inputContext.births, run.id + ' ' + process.pid + '\\n');
const complete = () => fetch(url + '/runs/' + run.id + '/complete', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
  body: '{}',
});
(async () => {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (!fs.existsSync(task.inputContext.gate)) continue;
    const answer = await complete().catch(() => undefined);
    if (answer && answer.status < 500) process.exit(0);
  }
})();`;

let fleet: TestFleet;
/** The coordinator's proxy to Postgres. */
let service: PostgresProxy;
let files: { births: string; gate: string };

beforeEach(async () => {
  fleet = await TestFleet.create();
  service = await PostgresProxy.to(fleet.db.serviceUrl);
  files = { births: join(fleet.folder, 'births'), gate: join(fleet.folder, 'gate') };
});
afterEach(async () => {
  service.mend();
  await fleet.stop();
  await service.close();
});

/**
 * The seconds of silence after which a gateway, its agent and a session that has not started count
 * as lost.
 */
interface Missed {
  gateway: number;
  agent: number;
  session: number;
  /** Calls of a gateway for one session. */
  attempts: number;
}
const SOON: Missed = { gateway: 4, agent: 4, session: 5, attempts: 3 };
/** Limits that a gateway never exceeds, however long it takes to return. */
const LATE: Missed = { gateway: 600, agent: 600, session: 600, attempts: 20 };

const env = (url: string, { gateway, session, attempts }: Missed) => ({
  GATEWAY_URL: url,
  GATEWAY_SECRET: SECRET,
  GATEWAY_TIMEOUT_MS: '500',
  GATEWAY_STALE_SECONDS: String(gateway),
  SPAWN_ATTEMPTS: String(attempts),
  SPAWN_DEADLINE_SECONDS: String(session),
});

async function aPushAgent({ agent }: Missed): Promise<void> {
  const { status } = await fleet.api.put(`/agents/${newId()}`, {
    name: 'Pushed',
    mode: 'push',
    maxConcurrentTasks: AT_ONCE,
    heartbeatIntervalSeconds: 1,
    staleThresholdSeconds: agent,
    command: [process.execPath, '-e', SESSION],
  });
  expect(status).toBe(201);
}

function submit(count: number): Promise<string[]> {
  const values = { inputContext: files, maxRetries: 20 };
  return Promise.all(Array.from({ length: count }, () => fleet.submit('', values)));
}

/** Returns the runs whose sessions have started, once for each session. */
function births(): { runId: string; pid: number }[] {
  if (!existsSync(files.births)) return [];
  const lines = readFileSync(files.births, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [runId = '', pid] = line.split(' ');
    return { runId, pid: Number(pid) };
  });
}

const letGo = () => writeFileSync(files.gate, '');
/** On a slow machine the gateway may have stopped a session before. */
function killSessions(): void {
  for (const { pid } of births()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

const born = (count: number) => waitFor(`${count} sessions`, () => births().length >= count);

async function statusesOf(ids: readonly string[]): Promise<string[]> {
  const tasks = await Promise.all(ids.map((id) => fleet.task(id)));
  return tasks.map((task) => String(task['status']));
}

async function spawnStates(): Promise<string[]> {
  const { rows } = await fleet.db.owner.query<{ state: string }>(
    'SELECT state FROM session_spawns',
  );
  return rows.map(({ state }) => state);
}

/** Checks that one run completed every task, and that no run had two sessions. */
async function expectEachDoneOnce(ids: readonly string[]): Promise<void> {
  await waitFor('all tasks to be completed', async () =>
    (await statusesOf(ids)).every((status) => status === 'COMPLETED'),
  );
  const { rows } = await fleet.db.owner.query<{ completions: number }>(
    `SELECT count(*) FILTER (WHERE state = 'COMPLETED')::int AS completions
     FROM task_runs GROUP BY task_id`,
  );
  expect(rows.map(({ completions }) => completions)).toEqual(ids.map(() => 1));
  const runs = births().map(({ runId }) => runId);
  expect(new Set(runs).size).toBe(runs.length);
  await expectInvariants(fleet.db);
}

describe('the gateway', () => {
  let gateway: TestGateway;

  async function startAll(missed: Missed): Promise<void> {
    const port = await freePort();
    const urls = { DATABASE_SERVICE_URL: service.url };
    const starting = new TestGateway({
      DROVER_API_URL: `http://127.0.0.1:${fleet.port}`,
      PORT: String(port),
      SHUTDOWN_DEADLINE_SECONDS: '5',
      GATEWAY_GRACE_SECONDS: '1',
    }).start();
    [gateway] = await Promise.all([
      starting,
      fleet.startServer({ ...env(`http://127.0.0.1:${port}`, missed), ...urls }),
    ]);
    await aPushAgent(missed);
  }
  afterEach(async () => {
    gateway.kill('SIGCONT');
    await gateway.dispose();
  });

  it('a gateway frozen until its agents count as dead continues without a second session', async () => {
    await startAll(SOON);
    const ids = await submit(3 * AT_ONCE);
    await born(AT_ONCE);
    gateway.kill('SIGSTOP');
    await waitFor('the agent to be taken for dead', async () => {
      const { body } = await fleet.api.get<{ items: { status: string }[] }>('/agents');
      return body.items[0]?.status === 'ERROR';
    });
    await waitFor(
      'its runs to be recovered',
      async () => !(await statusesOf(ids)).includes('RUNNING'),
    );
    gateway.kill('SIGCONT');
    letGo();
    await expectEachDoneOnce(ids);
  });

  it('sessions of a gateway that died right after their start are found again', async () => {
    await startAll(LATE);
    const settled = service.catch({ at: 'before', statement: 'settle_spawn' });
    const ids = await submit(1);
    await Promise.all([settled.reached, born(1)]);
    await gateway.crash();
    expect(await spawnStates()).toEqual(['PENDING']);
    // The open session is never written to the database.
    settled.drop();
    await gateway.start();
    letGo();
    await expectEachDoneOnce(ids);
    expect(births()).toHaveLength(1);
  });

  it('the tasks of a gateway that returns without its sessions are retried at once', async () => {
    await startAll(LATE);
    const ids = await submit(AT_ONCE);
    await born(AT_ONCE);
    await waitFor('all to run', async () =>
      (await statusesOf(ids)).every((status) => status === 'RUNNING'),
    );
    await gateway.crash();
    killSessions();
    await gateway.start();
    await born(2 * AT_ONCE);
    letGo();
    await expectEachDoneOnce(ids);
  });

  it('tasks of a lost gateway wait with a reason, and another gateway takes them', async () => {
    await startAll(SOON);
    const ids = await submit(2 * AT_ONCE);
    await born(AT_ONCE);
    await gateway.crash();
    killSessions();
    await waitFor('its runs to be recovered', async () => {
      const statuses = await statusesOf(ids);
      return statuses.every((status) => status === 'PENDING' || status === 'ABORTED');
    });
    await gateway.start({ GATEWAY_DATA_DIR: join(fleet.folder, 'another-gateway') });
    letGo();
    await expectEachDoneOnce(ids);
  });
});

describe('a gateway that fails', () => {
  it('a gateway that fails every call gets no more calls, and its tasks wait', async () => {
    const gateway = await StandInGateway.start();
    gateway.behaviour = { kind: 'refuse', status: 500, code: 'internal' };
    try {
      await fleet.startServer({
        ...env(gateway.url, SOON),
        GATEWAY_SECRET: gateway.env.GATEWAY_SECRET ?? '',
      });
      await aPushAgent(SOON);
      await heartbeatFor(gateway);
      const ids = await submit(AT_ONCE);
      await waitFor('a spawn to be given up', async () => {
        await heartbeatFor(gateway);
        const { lastError } = await fleet.task(ids[0] as string);
        return String(lastError).includes('No session');
      });
      await expectInvariants(fleet.db);
      gateway.behaviour = { kind: 'spawn' };
      await waitFor('all to run', async () => {
        await heartbeatFor(gateway);
        return (await statusesOf(ids)).every((status) => status === 'RUNNING');
      });
      await expectInvariants(fleet.db);
    } finally {
      await gateway.stop();
    }
  });
});

/** The stand-in reports its presence and its current sessions. */
async function heartbeatFor(gateway: StandInGateway): Promise<void> {
  const sessions = [...gateway.sessions].map(([runId, { sessionKey }]) => ({
    runId,
    sessionKey,
    status: 'RUNNING',
  }));
  const answer = await fetch(`http://127.0.0.1:${fleet.port}/api/v1/gateway/heartbeat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.token()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...gateway.nextHeartbeat(),
      capacity: 10,
      running: sessions.length,
      queued: 0,
      sessions,
    }),
  });
  expect(answer.status).toBe(200);
}
