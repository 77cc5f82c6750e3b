import { transformSync } from '@swc/core';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const CACHE = join(root, '.cache', 'jest-modules');
const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const GLOBALS = new URL('./globals.mjs', import.meta.url).href;
mkdirSync(CACHE, { recursive: true });

const OPTIONS = {
  swcrc: false,
  sourceMaps: true,
  jsc: {
    parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
};

/** Files of source maps, by the address of the module, for the traces of errors. */
export const sourceMaps = { get: (address) => maps.get(address.split('?')[0]) };
const maps = new Map();

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
    if (specifier.startsWith('#lib/')) {
      const source = imports[specifier]?.replace('./dist/', '').replace(/js$/, 'ts');
      if (source) return { url: pathToFileURL(join(root, source)).href, shortCircuit: true };
    }
    if (specifier.startsWith('.') && specifier.endsWith('.js')) {
      const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
      if (existsSync(source)) return { url: source.href, shortCircuit: true };
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    const [address] = url.split('?');
    if (!address.startsWith('file:') || !address.endsWith('.ts')) return next(url, context);
    return { format: 'module', source: compiled(address), shortCircuit: true };
  },
});

function compiled(address) {
  const path = fileURLToPath(address);
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha1').update(path).update(source).digest('hex');
  const file = join(CACHE, `${key}.js`);
  maps.set(address, `${file}.map`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const { code, map } = transformSync(source, { ...OPTIONS, filename: path });
  replace(`${file}.map`, map);
  replace(file, code);
  return code;
}

function replace(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
