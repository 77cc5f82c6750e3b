import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A build compiles changed files only, and removes the output of removed ones. */

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-build-'));
  const settings = ['.swcrc', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const path of ['scripts', 'prisma', ...settings]) {
    cpSync(path, join(folder, path), { recursive: true });
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['a', 'b']) write(`apps/${name}.ts`, `export const ${name}: number = 1;`);
  // The client was generated from this schema.
  const made = ['prisma/schema.prisma', 'node_modules/prisma/package.json'].map((path) =>
    readFileSync(join(folder, path)),
  );
  const key = made.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
  write('libs/platform/database/generated/.made-of', key);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function build() {
  const script = join(folder, 'scripts', 'build.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  return { status, stderr };
}

const built = (path: string) => join(folder, 'dist', path);
const writtenAt = (path: string) => statSync(built(path)).mtimeMs;

it('a build compiles only the changed file', () => {
  expect(build()).toEqual({ status: 0, stderr: '' });
  const before = writtenAt('apps/b.js');
  write('apps/a.ts', 'export const a: number = 22;');
  expect(build()).toEqual({ status: 0, stderr: '' });
  expect(readFileSync(built('apps/a.js'), 'utf8')).toContain('const a = 22;');
  expect(writtenAt('apps/b.js')).toBe(before);
});

it('a build reports an error in a file until it is corrected', () => {
  write('apps/a.ts', 'export const a: = 1;');
  const refused = { status: 1, stderr: expect.stringContaining('a.ts') };
  expect([build(), build()]).toEqual([refused, refused]);
  write('apps/a.ts', 'export const a: number = 4444;');
  expect(build().status).toBe(0);
  expect(readFileSync(built('apps/a.js'), 'utf8')).toContain('4444');
});

it('a build compiles a missing output, whatever the record of its source says', () => {
  const before = writtenAt('apps/b.js');
  rmSync(built('apps/a.js'));
  writeFileSync(built('.drover-built'), 'of what was built before');
  expect(build()).toEqual({ status: 0, stderr: '' });
  expect(existsSync(built('apps/a.js'))).toBe(true);
  expect(writtenAt('apps/b.js')).toBe(before);
  expect(existsSync(built('.drover-built'))).toBe(false);
});

it('a build compiles everything if its record is damaged', () => {
  const before = writtenAt('apps/b.js');
  writeFileSync(built('.compiled.json'), '{"compiler":');
  expect(build()).toEqual({ status: 0, stderr: '' });
  expect(writtenAt('apps/b.js')).toBeGreaterThan(before);
});

it('a build removes the output of a deleted source', () => {
  rmSync(join(folder, 'apps/b.ts'));
  expect(build().status).toBe(0);
  expect(
    ['apps/b.js', 'apps/b.js.map', 'apps/a.js'].map((path) => existsSync(built(path))),
  ).toEqual([false, false, true]);
});

it('a build with other compiler settings compiles everything', () => {
  const before = writtenAt('apps/a.js');
  write('.swcrc', readFileSync(join(folder, '.swcrc'), 'utf8').replace('es2022', 'es2023'));
  expect(build().status).toBe(0);
  expect(writtenAt('apps/a.js')).toBeGreaterThan(before);
});

it('the types of the client follow the OpenAPI document', () => {
  const library = 'libs/clients/api-client';
  const types = join(folder, library, 'generated/api.ts');
  const writeDocument = (name: string) => {
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} };
    const components = { schemas: { [name]: { type: 'string' } } };
    write(`${library}/openapi.json`, JSON.stringify({ ...document, components }));
  };
  writeDocument('Task');
  expect(build()).toEqual({ status: 0, stderr: '' });
  expect(readFileSync(types, 'utf8')).toContain('Task: string;');
  const { mtimeMs } = statSync(types);
  expect(build()).toEqual({ status: 0, stderr: '' });
  expect(statSync(types).mtimeMs).toBe(mtimeMs);
  writeDocument('Job');
  expect(build()).toEqual({ status: 0, stderr: '' });
  expect(readFileSync(types, 'utf8')).not.toContain('Task');
});
