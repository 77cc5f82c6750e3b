import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import type * as Client from '#lib/api-client';
import { readPage } from '../docs/page.js';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { chromiumOptions } from '../../tools/shared/chromium.js';
import { olderNode } from '../support/older-node.js';

/** Tests the package @drover/client in a project that has no other packages. */

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const blocks = [...readPage('client.md').matchAll(/```ts\n([^]*?)```/g)].map(([, text]) => text);

let server: TestServer;
let project: string;

beforeAll(async () => {
  server = await sharedServer();
  project = mkdtempSync(join(tmpdir(), 'drover-client-'));
  await run(process.execPath, [join(root, 'scripts/generate.mjs'), 'client']);
  await run('npm', ['pack', '--silent', join(root, 'dist/client-package')], { cwd: project });
  const [tarball = ''] = readdirSync(project);
  const manifest = { name: 'empty', private: true, type: 'module' };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  const known = ['openapi-fetch', 'openapi-typescript-helpers'];
  const packages = [`./${tarball}`, ...known.map((name) => join(root, 'node_modules', name))];
  const flags = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, ...packages], { cwd: project });
});
afterAll(async () => {
  rmSync(project, { recursive: true, force: true });
  await server.stop();
});

it('the client package has its version, its licence and one dependency', () => {
  const folder = join(project, 'node_modules/@drover/client');
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const { version } = read(join(root, 'package.json'));
  const manifest = read(join(folder, 'package.json'));
  expect(manifest).toMatchObject({ name: '@drover/client', version, license: 'Apache-2.0' });
  expect(Object.keys(manifest['dependencies'] as object)).toEqual(['openapi-fetch']);
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'index.d.ts', 'index.js']),
  );
});

it("the page's example compiles in strict TypeScript, and its first program runs in Node 20", async () => {
  blocks.forEach((text, index) => writeFileSync(join(project, `shown-${index}.ts`), text ?? ''));
  const compilerOptions = {
    strict: true,
    target: 'ES2023',
    module: 'nodenext',
    lib: ['ES2023', 'DOM'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    rootDir: '.',
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [compiler, '-p', project]).catch((error) => error);
  expect(said.stdout).toBe('');

  for (const node of [process.execPath, await olderNode(20)]) {
    const env = { ...process.env, DROVER_URL: server.url, DROVER_API_KEY: await aKey() };
    const { stdout } = await run(node, [join(project, 'shown-0.js')], { env });
    expect(stdout).toBe('created PENDING\nwaiting Write the report\nrefused task_not_found\n');
  }
});

it('the client package works in a browser, including streams', async () => {
  const browser = await chromium.launch(await chromiumOptions());
  try {
    const page = await browser.newPage();
    await page.route(`${server.url}/a-page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: PAGE }),
    );
    await page.route(`${server.url}/modules/**`, (route) => {
      const path = new URL(route.request().url()).pathname.replace('/modules/', '');
      return route.fulfill({ path: join(project, 'node_modules', path) });
    });
    await page.goto(`${server.url}/a-page`);
    const seen = await page.evaluate(inPage, { baseUrl: server.url, key: await aKey() });
    expect(seen).toEqual(['PENDING', 'task.created', 'task_not_found']);
  } finally {
    await browser.close();
  }
}, 300_000);

/** An API key of a new workspace. */
async function aKey(): Promise<string> {
  const { id, api } = await server.newWorkspace();
  const wanted = { name: 'client', role: 'MEMBER', scopes: ['tasks:write', 'tasks:read'] };
  const { body } = await api.post(`/workspaces/${id}/api-keys`, wanted);
  return String(body['key']);
}

const PAGE = `<!doctype html><script type="importmap">${JSON.stringify({
  imports: {
    '@drover/client': '/modules/@drover/client/index.js',
    'openapi-fetch': '/modules/openapi-fetch/dist/index.mjs',
  },
})}</script>`;

/** Creates a task while it listens, and requests one that does not exist. Runs in the browser. */
async function inPage({ baseUrl, key }: { baseUrl: string; key: string }): Promise<unknown[]> {
  const name = '@drover/client';
  const { bearer, createClient, streamEvents } = (await import(name)) as typeof Client;
  const credentials = bearer(key);
  const drover = createClient({ baseUrl, credentials });
  const create = () =>
    drover.post('/api/v1/agent-tasks', { body: { title: 'A task', taskType: 'writing' } });
  let task: ReturnType<typeof create> | undefined;
  const onState = (state: string) => void (state === 'open' && (task ??= create()));
  for await (const { event } of streamEvents({ baseUrl, credentials, onState })) {
    const path = { id: '00000000-0000-7000-8000-000000000000' };
    const refused = await drover
      .get('/api/v1/agent-tasks/{id}', { params: { path } })
      .catch(({ code }: { code: string }) => code);
    return [(await task)?.status, event, refused];
  }
  return [];
}

it('the client package imports no module of Node', () => {
  const folder = join(project, 'node_modules/@drover/client');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => path.endsWith('.js'));
  const imported = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/from '([^']+)'/g)].map(
      ([, from]) => from,
    ),
  );
  expect(imported).toContain('openapi-fetch');
  expect(imported.filter((from) => !from?.startsWith('.'))).toEqual(['openapi-fetch']);
});
