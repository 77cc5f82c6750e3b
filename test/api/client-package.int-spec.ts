import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readPage } from '../docs/page.js';
import { startTestApp, type TestApp } from '../support/app.js';

/** What is packed as @drover/client, in a project that has nothing else. */

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const blocks = [...readPage('client.md').matchAll(/```ts\n([^]*?)```/g)].map(([, text]) => text);

let server: TestApp;
let project: string;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  project = mkdtempSync(join(tmpdir(), 'drover-client-'));
  await run(process.execPath, [join(root, 'scripts/client.mjs')]);
  await run('npm', ['pack', '--silent', join(root, 'dist/client-package')], { cwd: project });
  const [tarball = ''] = readdirSync(project);
  const manifest = { name: 'empty', private: true, type: 'module' };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  const known = ['openapi-fetch', 'openapi-typescript-helpers'];
  const packages = [`./${tarball}`, ...known.map((name) => join(root, 'node_modules', name))];
  const flags = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, ...packages], { cwd: project });
}, 120_000);
afterAll(async () => {
  rmSync(project, { recursive: true, force: true });
  await server.stop();
});

it('has its version, its licence and one dependency', () => {
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

it('compiles what the page shows in strict TypeScript, and runs its first program', async () => {
  blocks.forEach((text, index) => writeFileSync(join(project, `shown-${index}.ts`), text ?? ''));
  const compilerOptions = {
    ...{ strict: true, target: 'ES2023', module: 'nodenext', lib: ['ES2023', 'DOM'] },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')], rootDir: '.' },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [compiler, '-p', project]).catch((error) => error);
  expect(said.stdout).toBe('');

  const { id, api } = await server.newWorkspace();
  const wanted = { name: 'client', role: 'MEMBER', scopes: ['tasks:write'] };
  const { body } = await api.post(`/workspaces/${id}/api-keys`, wanted);
  const env = { ...process.env, DROVER_URL: server.url, DROVER_API_KEY: String(body['key']) };
  const { stdout } = await run(process.execPath, [join(project, 'shown-0.js')], { env });
  expect(stdout).toBe('created PENDING\nwaiting Write the report\nrefused task_not_found\n');
}, 120_000);

it('asks for no module of Node', () => {
  const folder = join(project, 'node_modules/@drover/client');
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const imported = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/from '([^']+)'/g)].map(
      ([, from]) => from,
    ),
  );
  expect(imported).toContain('openapi-fetch');
  expect(imported.filter((from) => !from?.startsWith('./'))).toEqual(['openapi-fetch']);
});
