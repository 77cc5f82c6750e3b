import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { aSessionOf } from '../support/factories.js';

/** A client generated from the document compiles in strict TypeScript, and works. */

const root = join(import.meta.dirname, '../..');
const types = join(root, 'dist', 'api-types');

// A literal name would fail to compile, because the types of the program do not exist then.
const program: string = './typed-client/a-task.js';
const { completeATask, codeOfAMissingTask } = (await import(program)) as Record<
  string,
  (access: object) => Promise<unknown>
>;

let server: TestServer;
let access: object;

beforeAll(async () => {
  server = await sharedServer();
  const { id: workspaceId, userId, newAgent } = await server.newWorkspace();
  const sessionId = await aSessionOf(server.db.owner, userId);
  const tokens = server.tokens;
  const { token: userToken } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
  const { id, token } = await newAgent();
  access = { url: server.url, userToken, workspaceId, agent: { id, token } };
});
afterAll(() => server.stop());

/** Runs a program with this Node and returns its output after its exit code. */
async function node(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return `${code}: ${code === 0 ? '' : said}`;
}

it('the generated client compiles in strict TypeScript', async () => {
  mkdirSync(types, { recursive: true });
  const document = await fetch(`${server.url}/docs/openapi.json`);
  writeFileSync(join(types, 'openapi.json'), await document.text());
  const generator = 'node_modules/openapi-typescript/bin/cli.js';
  const into = join(types, 'api.ts');
  expect(await node(generator, join(types, 'openapi.json'), '--output', into)).toBe('0: ');
  const compiler = 'node_modules/typescript/bin/tsc';
  expect(await node(compiler, '--project', 'test/api/typed-client')).toBe('0: ');
});

it('the generated client creates, lists, claims, completes and reads a task', async () => {
  expect(await completeATask?.(access)).toMatchObject({ title: 'Typed', status: 'COMPLETED' });
});

it('the generated client decides by the code of a refusal', async () => {
  expect(await codeOfAMissingTask?.(access)).toBe('task_not_found');
});
