import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedServer, type TestServer, type TestWorkspace } from '../support/shared-server.js';
import { createKey, claimRun, DROVER } from './clients.js';

/** `drover mcp` as an MCP client starts it, without a sign-in. */

const home = mkdtempSync(join(tmpdir(), 'drover-mcp-'));

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer();
  workspace = await app.newWorkspace();
});
afterAll(async () => {
  rmSync(home, { recursive: true });
  await app.stop();
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the program with an input that ends at once. */
async function run(env: Record<string, string>, input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [DROVER, 'mcp'], {
    cwd: home,
    stdio: 'pipe' as const,
    env: { PATH: process.env['PATH'], HOME: home, ...env },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

const request = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const client = { name: 'tests', version: '1' };
const hello = request(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: client,
});

it('calls before the end of the input are answered, and stdout has messages only', async () => {
  const held = await claimRun(workspace);
  const env = { DROVER_API_URL: `${app.url}/`, DROVER_RUN_TOKEN: held.token };
  const call = request(2, 'tools/call', { name: 'complete', arguments: { summary: 'done' } });
  const { code, out, err } = await run(env, `${hello}${call}this is no message\n`);
  const answers = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number });
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { body } = await workspace.api.get(`/agent-tasks/${held.taskId}`);
  expect(body).toMatchObject({ status: 'COMPLETED', summary: 'done' });
});

it('a run token takes precedence over an API key', async () => {
  const held = await claimRun(workspace);
  const env = { DROVER_API_URL: app.url, DROVER_API_KEY: await createKey(workspace) };
  const call = request(2, 'tools/call', { name: 'get_task', arguments: {} });
  const { out } = await run({ ...env, DROVER_RUN_TOKEN: held.token }, hello + call);
  expect(out).toContain(held.taskId);
});

describe('a start that fails', () => {
  it.each<[string, () => Record<string, string>, string]>([
    ['no settings', () => ({}), 'No server is configured.'],
    ['no credentials', () => ({ DROVER_API_URL: app.url }), 'no DROVER_API_KEY'],
    [
      'an invalid token',
      () => ({ DROVER_API_URL: app.url, DROVER_RUN_TOKEN: 'nonsense' }),
      'The token is not valid',
    ],
    [
      'an unreachable server',
      () => ({ DROVER_API_URL: 'http://127.0.0.1:1', DROVER_RUN_TOKEN: 'x' }),
      'http://127.0.0.1:1 cannot be reached',
    ],
  ])('a start with %s fails with a message', async (_, env, words) => {
    const { code, out, err } = await run(env());
    expect({ failed: code !== 0, out }).toEqual({ failed: true, out: '' });
    expect(err).toContain(words);
    expect(err).not.toContain('\n    at ');
  });

  it('a start with an agent token fails', async () => {
    const { token } = await workspace.newAgent();
    const { code, out, err } = await run({ DROVER_API_URL: app.url, DROVER_AGENT_TOKEN: token });
    expect({ failed: code !== 0, out }).toEqual({ failed: true, out: '' });
    expect(err).toContain('An agent token has no tools.');
  });
});
