import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#lib/agent-host';
import type { Network } from '#lib/kernel';
import { Drivers, type Sandbox, type SessionUser } from '#lib/session-runtime';
import { testSandbox } from '../../../libs/hosts/session-runtime/testing/sandboxes.js';
import { makeJob, type TestJob } from '../testing/job.js';
import { startExecution } from './execution.js';

const sandbox = await testSandbox();
const jobs: TestJob[] = [];
let server: Server;
let allowed: string;
let reach: string;

beforeAll(async () => {
  allowed = realpathSync(mkdtempSync(join(tmpdir(), 'drover-allowed-')));
  server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  reach = `fetch('http://127.0.0.1:${port}').then(() => process.exit(0), () => process.exit(7))`;
});

afterEach(() => {
  for (const job of jobs.splice(0)) job.remove();
});

afterAll(() => {
  server.close();
  rmSync(allowed, { recursive: true });
});

async function finish(
  inputContext: JsonObject,
  within?: Sandbox,
  { account, ofWorkspace }: { account?: SessionUser; ofWorkspace?: Network } = {},
) {
  const made = makeJob(inputContext);
  made.job.run.network = ofWorkspace;
  jobs.push(made);
  const searchPath = process.env['PATH'] ?? '';
  const drivers = new Drivers(
    { dir: made.workDir },
    { process: { searchPath, sandbox: within, accounts: account && (() => account) } },
  );
  try {
    const options = {
      drivers,
      allowedDirs: [allowed],
      passedEnv: {},
      learn: () => undefined,
    };
    const execution = await startExecution(made.job, options);
    const outcome = await execution.exit;
    return { outcome, lines: made.entries.map(({ message }) => message) };
  } finally {
    for (const driver of drivers.all) driver.close();
  }
}

/** No account of the machine has these numbers. */
const ACCOUNT = { uid: 1_900_200_003, gid: 1_900_200_003 };
const isRoot = process.getuid?.() === 0;

const node = (script: string): JsonObject => ({ command: [process.execPath, '-e', script] });

test('without a sandbox a task is refused unless it can have the network', async () => {
  for (const network of ['none', 'allow', 'host']) {
    await expect(finish({ ...node(''), network })).rejects.toThrow(
      'Only a sandbox can keep a session from the network, and there is none here',
    );
  }
  const { outcome } = await finish({ ...node(reach), network: 'host' }, undefined, {
    ofWorkspace: 'host',
  });
  expect(outcome).toMatchObject({ kind: 'succeeded' });
});

test.each(['on', 'off', 7])('a task with the network %j is refused', async (network) => {
  await expect(finish({ ...node(''), network }, sandbox)).rejects.toThrow(
    'inputContext.network must be "none", "allow" or "host"',
  );
});

test.each<[unknown, unknown, string]>([
  ['allow', 'example.com', 'inputContext.allowedHosts must be a list of at most 100 items'],
  ['allow', ['https://example.com'], 'inputContext.allowedHosts must be a list'],
  ['host', ['example.com'], 'inputContext.allowedHosts needs the network "allow"'],
  [undefined, ['example.com'], 'inputContext.allowedHosts needs the network "allow"'],
])('a task with the network %j and the hosts %j is refused', async (network, hosts, why) => {
  const inputContext = { ...node(''), network, allowedHosts: hosts };
  await expect(finish(inputContext, sandbox)).rejects.toThrow(why);
});

(isRoot ? describe : describe.skip)('An account', () => {
  test.each([
    ['without a sandbox', undefined],
    ['in a sandbox', sandbox],
  ])('an account reads its task’s input and leaves a result %s', async (_, within) => {
    const script = 'grep -o taskType "$DROVER_INPUT_FILE" | head -1; umask 077';
    const result = `printf '{"uid": %s}' "$(id -u)" > new && mv new "$DROVER_OUTPUT_FILE"`;
    const command = ['sh', '-c', `${script}; ${result}`];
    const { outcome, lines } = await finish({ command }, within, { account: ACCOUNT });
    expect(lines).toEqual(['taskType']);
    expect(outcome).toMatchObject({ kind: 'succeeded', result: { uid: ACCOUNT.uid } });
  });
});

(sandbox === undefined ? describe.skip : describe)('A task in a sandbox', () => {
  test.each<[Network | undefined, Network | undefined, Network, boolean]>([
    ['host', 'host', 'host', true],
    [undefined, 'host', 'host', false],
    ['none', 'host', 'host', false],
    ['host', 'none', 'host', false],
    ['host', undefined, 'host', false],
    ['host', 'host', 'none', false],
  ])(
    'with %j in a workspace with %j on a worker with %j, a task reaches the network: %j',
    async (...levels) => {
      const [network, ofWorkspace, ofWorker, reaches] = levels;
      const within = { ...sandbox!, network: ofWorker };
      const { outcome } = await finish({ ...node(reach), network }, within, { ofWorkspace });
      if (reaches) expect(outcome).toMatchObject({ kind: 'succeeded' });
      else expect(outcome).toMatchObject({ kind: 'failed', error: { exitCode: 7 } });
    },
  );

  test('a task in a sandbox reads its input and writes its result', async () => {
    const script = `
      const { readFileSync, writeFileSync } = require('node:fs');
      const { DROVER_INPUT_FILE, DROVER_OUTPUT_FILE, DROVER_RUN_ID } = process.env;
      const { run, inputContext } = JSON.parse(readFileSync(DROVER_INPUT_FILE, 'utf8'));
      const same = run.id === DROVER_RUN_ID;
      writeFileSync(DROVER_OUTPUT_FILE, JSON.stringify({ same, page: inputContext.page }));`;
    const { outcome } = await finish({ ...node(script), page: 7 }, sandbox);
    expect(outcome).toMatchObject({ kind: 'succeeded', result: { same: true, page: 7 } });
  });

  test('a task in a sandbox sees an allowed directory only if it works there', async () => {
    writeFileSync(join(allowed, 'given'), 'given');
    const command = ['sh', '-c', 'cat given; cp given made'];
    const { lines } = await finish({ command, cwd: allowed }, sandbox);
    expect(lines).toEqual(['given']);
    expect(readFileSync(join(allowed, 'made'), 'utf8')).toBe('given');
    const blind = await finish({ command: ['cat', join(allowed, 'given')] }, sandbox);
    expect(blind.outcome).toMatchObject({ kind: 'failed', error: { exitCode: 1 } });
  });
});
