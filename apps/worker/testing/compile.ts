import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCES = ['apps/worker', 'libs/kernel', 'libs/runtime'];

export interface CompiledWorker {
  /** The path of a compiled file, such as `executor/process/warden-process.js`. */
  path: (file: string) => string;
  remove: () => void;
}

/** Compiles the worker into a folder of its own, for tests that start parts of it as processes. */
export function compileWorker(): CompiledWorker {
  const out = mkdtempSync(join(tmpdir(), 'drover-worker-test-'));
  for (const file of SOURCES.flatMap((dir) => sourcesIn(join(ROOT, dir)))) compile(file, out);
  const imports = { '#lib/*': './libs/*/index.js' };
  writeFileSync(join(out, 'package.json'), JSON.stringify({ type: 'module', imports }));
  symlinkSync(join(ROOT, 'node_modules'), join(out, 'node_modules'));
  return {
    path: (file) => join(out, 'apps/worker', file),
    remove: () => rmSync(out, { recursive: true, force: true }),
  };
}

function sourcesIn(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return entries
    .filter((name) => name.endsWith('.ts') && !/spec\.ts$|(^|\/)testing\//.test(name))
    .map((name) => join(dir, name));
}

function compile(file: string, out: string): void {
  const { code } = transformFileSync(file, {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  const target = join(out, relative(ROOT, file)).replace(/\.ts$/, '.js');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}
