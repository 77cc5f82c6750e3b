import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../libs/hosts/session-runtime/testing/processes.js';
import { filesIn } from '../../test/e2e/canary/dumps.js';
import { waitFor } from '../../test/support/wait-for.js';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { aSpawn, SECRET } from './testing/gateway-process.js';
import { gatewayForEach, oneGateway, type World } from './testing/world.js';

const ALLOWED = { ALLOW_UNSANDBOXED_TENANTS: 'true' };
const UNSANDBOXED = { DROVER_SANDBOX: 'off', ALLOW_UNSANDBOXED_TENANTS: 'false' };
const OTHER = 54_321;
const RANGE = '1900100000-1900100999';
const isRoot = process.getuid?.() === 0;
const sandbox = await testSandbox();

afterAll(killMarked);

/** The report of a run's end in the given workspace. */
async function endOf(world: World, workspaceId: string, script = 'exit 0', more: object = {}) {
  const body = aSpawn(script, { workspaceId, ...more });
  await world.gateway.spawn(body);
  return world.server.endOf(body.runId);
}

const refused = (why: RegExp) => ({
  event: 'failed',
  error: { class: 'setup', message: expect.stringMatching(why) },
});

describe('A gateway without sandboxes', () => {
  const world = gatewayForEach(UNSANDBOXED);

  test('a gateway without sandboxes warns, and serves only one workspace', async () => {
    expect(
      await world.gateway.said(
        'Sessions have no sandbox: they can read and change everything that their user can',
      ),
    ).toMatchObject({ serves: 'one workspace only', reason: 'DROVER_SANDBOX is "off"' });
    const [first, second] = [newId(), newId()];
    expect(await endOf(world, first)).toMatchObject({ exitCode: 0 });
    expect(await endOf(world, second)).toMatchObject(refused(/ALLOW_UNSANDBOXED_TENANTS/));
    expect(await endOf(world, first)).toMatchObject({ exitCode: 0 });
    await world.gateway.crash();
    await world.gateway.start();
    expect(await endOf(world, second)).toMatchObject(refused(/serves one workspace only/));
    expect(await endOf(world, first)).toMatchObject({ exitCode: 0 });
  });

  test('a gateway without sandboxes refuses a session without network', async () => {
    const metadata = { network: 'none' };
    expect(await endOf(world, newId(), 'exit 0', { metadata })).toMatchObject(
      refused(/Only a sandbox can keep a session from the network/),
    );
  });
});

const WRONG_LIMITS: [string, object, { field: string; message: string }][] = [
  [
    'a member too low',
    { metadata: { limits: { memoryMb: 127 } } },
    { field: 'metadata.limits.memoryMb', message: 'must be a whole number of at least 128' },
  ],
  [
    'an unknown member',
    { context: { taskTitle: 'T', inputContext: { limits: { cpus: 2 } } } },
    {
      field: 'context.inputContext.limits.cpus',
      message: 'is no limit: there are memoryMb, processes, diskMb, openFiles',
    },
  ],
  [
    'no object',
    { metadata: { limits: [] } },
    {
      field: 'metadata.limits',
      message: 'must be an object of memoryMb, processes, diskMb, openFiles',
    },
  ],
];

describe('A gateway asked for wrong settings', () => {
  const world = oneGateway();

  test.each(WRONG_LIMITS)('a gateway refuses limits with %s and starts nothing', async (...row) => {
    const [, more, error] = row;
    const answer = await world.gateway.ask('POST', '/api/agents/spawn', aSpawn('exit 0', more));
    expect(answer).toMatchObject({ status: 400, body: { errors: [error] } });
    const { body: sessions } = await world.gateway.ask('GET', '/api/sessions');
    expect(sessions).toEqual([]);
  });

  test.each<[object, object, string]>([
    [{ network: 'on' }, {}, 'metadata.network'],
    [{ network: 'off' }, {}, 'metadata.network'],
    [{ network: 'allow', allowedHosts: ['example.com'] }, {}, 'metadata.allowedHosts'],
    [{ network: 'allow', allowedHosts: [['https://a']] }, {}, 'metadata.allowedHosts'],
    [{}, { allowedHosts: [['a.b']] }, 'context.inputContext.allowedHosts'],
    [{}, { network: 'yes' }, 'context.inputContext.network'],
  ])(
    'a gateway refuses the network %j of a task with %j',
    async (metadata, inputContext, field) => {
      const { context, ...spawn } = aSpawn('exit 0');
      const body = { ...spawn, context: { ...context, inputContext }, metadata };
      const { status, body: problem } = await world.gateway.ask('POST', '/api/agents/spawn', body);
      expect({ status, problem }).toMatchObject({
        status: 400,
        problem: { errors: [{ field, message: expect.stringMatching(/^must be /) }] },
      });
    },
  );
});

describe('A gateway with allowed unsandboxed tenants', () => {
  const world = gatewayForEach({ ...UNSANDBOXED, ...ALLOWED });

  test('every workspace is served', async () => {
    expect(await endOf(world, newId())).toMatchObject({ exitCode: 0 });
    expect(await endOf(world, newId())).toMatchObject({ exitCode: 0 });
  });
});

describe('A gateway of certain workspaces', () => {
  const [mine, alsoMine] = [newId(), newId()];
  const world = gatewayForEach({ GATEWAY_WORKSPACES: `${mine}, ${alsoMine}` });

  test('only the named workspaces are served', async () => {
    expect(await endOf(world, mine)).toMatchObject({ exitCode: 0 });
    expect(await endOf(world, newId())).toMatchObject(refused(/GATEWAY_WORKSPACES/));
    expect(await endOf(world, alsoMine)).toMatchObject({ exitCode: 0 });
  });
});

describe('A gateway with its secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-gateway-secret-'));
  const file = join(folder, 'secret');
  writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
  const world = gatewayForEach({ GATEWAY_SECRET: '', GATEWAY_SECRET_FILE: file });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('the secret in the file is valid', async () => {
    expect(await endOf(world, newId())).toMatchObject({ exitCode: 0 });
  });
});

/** The users of sessions. Only root can start a process as another user. */
const USERS: [string, Record<string, string>][] = [
  ['the gateway’s user', { DROVER_ACCOUNTS: 'off' }],
  ['the workspace’s account', { DROVER_ACCOUNTS: RANGE }],
  ['another user', { GATEWAY_SESSIONS_USER: `${OTHER}:${OTHER}` }],
];

describe.each(sandbox === undefined ? [] : USERS.slice(0, isRoot ? undefined : 1))(
  'A gateway with sandboxes for %s',
  (_, user) => {
    const world = oneGateway({
      ...(sandbox && variablesOf(sandbox)),
      ...user,
      DROVER_SANDBOX_NETWORK: 'host',
      ALLOW_UNSANDBOXED_TENANTS: 'false',
    });
    let reach: string;

    beforeEach(() => {
      const { origin } = new URL(world.server.apiUrl);
      const code = `fetch('${origin}').then(() => process.exit(0), () => process.exit(7))`;
      reach = `exec node -e "${code}"`;
    });

    test('the gateway reports its sandboxes, and isolates the workspaces', async () => {
      await world.gateway.said('Each session has a sandbox of its own');
      const seconds = uniqueSeconds();
      const neighbour = aSpawn(`exec sleep ${seconds}`);
      await world.gateway.spawn(neighbour);
      await world.untilStatus(neighbour.runId, 'RUNNING');
      const { dataDir } = world.gateway;
      const script = `
      ls ${dataDir}/sessions | wc -l
      cat ${dataDir}/sessions/*/task.json | grep -c ${neighbour.runId}
      cat ${dataDir}/gateway.json ${dataDir}/records/*
      cat /proc/*/environ | grep -ac ${neighbour.runId}
      cat /proc/*/comm | grep -c sleep; id -u`;
      const { output } = await endOf(world, newId(), script);
      const uid = 'GATEWAY_SESSIONS_USER' in user ? OTHER : process.getuid?.();
      const expected = user['DROVER_ACCOUNTS'] === RANGE ? /^1900100\d{3}$/ : RegExp(`^${uid}$`);
      const lines = output?.split('\n').filter((line) => /^\d+$/.test(line));
      expect(lines).toEqual(['1', '0', '0', '0', expect.stringMatching(expected)]);
      expect(processesWith(seconds)).toHaveLength(1);
      await world.gateway.ask('DELETE', `/api/sessions/${neighbour.runId}`);
      await world.server.endOf(neighbour.runId);
    });

    test('sessions have the network only if the server says so', async () => {
      const host = { network: 'host' };
      const context = { taskTitle: 'A test', inputContext: host };
      const ends = [
        { metadata: host },
        { context, metadata: host },
        {},
        { context },
        { context, metadata: { network: 'none' } },
      ].map((more) => endOf(world, newId(), reach, more));
      expect((await Promise.all(ends)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 7, 7, 7]);
    });

    test('the proxy of a session adds a credential, which the session does not see', async () => {
      const received: (string | undefined)[] = [];
      const registry = createServer(({ headers: { authorization } }, answer) => {
        received.push(authorization);
        answer.end(`got ${authorization}`);
      });
      await once(registry.listen(0, '127.0.0.1'), 'listening');
      const host = `localhost:${(registry.address() as AddressInfo).port}`;
      await world.gateway.crash();
      await world.gateway.start({
        DROVER_SANDBOX_NETWORK: 'allow',
        DROVER_SANDBOX_ALLOWED_HOSTS: host,
        DROVER_SANDBOX_PRIVATE_HOSTS: host,
      });
      const value = 'Bearer credential-of-a-host';
      const ask = `const { hostname, port } = new URL(process.env.HTTP_PROXY);
        require('http').get({ hostname, port, path: 'http://${host}/', headers: { host: 'x' } },
          (answer) => answer.on('data', (part) => console.log(String(part))));`;
      const script = `cat /proc/*/environ "$DROVER_TASK_FILE" 2>/dev/null | grep -ac credential-of
        exec node -e "${ask.replaceAll('\n', ' ')}"`;
      const { output } = await endOf(world, newId(), script, {
        metadata: { network: 'allow', allowedHosts: [[host]] },
        credentials: [{ host, scheme: 'http', header: 'authorization', value }],
      });
      registry.close();
      expect(output?.split('\n').slice(-2)).toEqual(['0', 'got [redacted]']);
      expect(received).toEqual([value]);
      const sessions = join(world.gateway.dataDir, 'sessions');
      await waitFor('the folder to be removed', () => readdirSync(sessions).length === 0);
      const files = Object.values(filesIn(world.gateway.dataDir));
      expect(files.filter((text) => text.includes('credential-of'))).toEqual([]);
      // The next tests need its first settings.
      await world.gateway.crash();
      await world.gateway.start();
    });

    test('sessions reach the server while the gateway is away', async () => {
      const ask = `fetch(process.env.DROVER_API_URL).then(({ status }) => console.log('got', status))`;
      const body = aSpawn(`while [ ! -e go ]; do sleep 0.05; done; exec node -e "${ask}"`);
      await world.gateway.spawn(body);
      const { id, pid } = await world.untilStatus(body.runId, 'RUNNING');
      await world.gateway.crash();
      writeFileSync(join(world.gateway.dataDir, 'sessions', id, 'work/go'), '');
      await waitFor('the session to end', () => !existsSync(`/proc/${pid}`));
      await world.gateway.start();
      const { output } = await world.server.endOf(body.runId);
      expect(output).toMatch(/^got \d{3}$/);
    });

    test('a restarted gateway adopts a session, stops it, and reports its end', async () => {
      const seconds = uniqueSeconds();
      const body = aSpawn(`trap 'echo bye; exit 9' TERM; sleep ${seconds} & wait`);
      await world.gateway.spawn(body);
      const { pid } = await world.untilStatus(body.runId, 'RUNNING');
      await waitFor('it to sleep', () => processesWith(seconds).length > 0);
      await world.gateway.crash();
      await world.gateway.start();
      expect(await world.gateway.session(body.runId)).toMatchObject({ status: 'RUNNING', pid });
      await world.gateway.ask('DELETE', `/api/sessions/${body.runId}`);
      expect(await world.server.endOf(body.runId)).toMatchObject({ exitCode: 9, output: 'bye' });
      expect(processesWith(seconds)).toEqual([]);
    });

    test('a restarted gateway knows the end of a session meanwhile', async () => {
      const body = aSpawn('kill -9 $$');
      const waits = aSpawn(`sleep ${uniqueSeconds()}`);
      for (const one of [body, waits]) await world.gateway.spawn(one);
      const { pid } = await world.untilStatus(waits.runId, 'RUNNING');
      await world.gateway.crash();
      process.kill(pid ?? 0, 'SIGKILL');
      await world.gateway.start();
      for (const one of [body, waits]) {
        expect(await world.server.endOf(one.runId)).toMatchObject({ signal: 'SIGKILL' });
      }
    });
  },
);

(isRoot ? describe : describe.skip)('A gateway of root', () => {
  const world = gatewayForEach({ ...UNSANDBOXED, ...ALLOWED, DROVER_ACCOUNTS: RANGE });
  const ownerOf = async (workspaceId: string, script = 'id -u; id -G; stat -c %u:%a ..') =>
    (await endOf(world, workspaceId, script)).output?.trim().split('\n');

  test('each workspace keeps its account after a restart', async () => {
    const [mine, other] = [newId(), newId()];
    const [uid, groups, folder] = (await ownerOf(mine)) ?? [];
    expect(uid).toMatch(/^1900100\d{3}$/);
    expect([groups, folder]).toEqual([uid, `${uid}:700`]);
    const [otherUid] = (await ownerOf(other)) ?? [];
    expect(otherUid).toMatch(/^1900100\d{3}$/);
    expect(otherUid).not.toBe(uid);
    await world.gateway.crash();
    await world.gateway.start();
    expect((await ownerOf(other))?.[0]).toBe(otherUid);
    expect((await ownerOf(mine))?.[0]).toBe(uid);
  });
});
