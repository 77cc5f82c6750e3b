// Hooks of Node's loader in a Jest worker: TypeScript is compiled when it is loaded, and imports lead
// to sources instead of compiled files.
import { transformSync, version } from '@swc/core';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const GLOBALS = new URL('globals.mjs', import.meta.url).href;
const CACHE = join(root, '.cache', 'jest-modules');
mkdirSync(CACHE, { recursive: true });

const COMPILER = {
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

/** Another compiler makes other code. */
const MADE_BY = `${version} ${JSON.stringify(COMPILER)}`;
const maps = new Map();
/** The files of source maps by the addresses of modules, for traces of errors. */
export { maps as sourceMaps };

registerHooks({
  resolve(name, context, next) {
    const url = sourceOf(name, context.parentURL);
    return url === undefined ? next(name, context) : { url, shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
    return { format: 'module', source: compile(url), shortCircuit: true };
  },
});

/**
 * Returns the address of a source that replaces the module; undefined for any other module.
 *
 * @param importer the address of the importing module
 */
export function sourceOf(name, importer) {
  if (name === '@jest/globals') return GLOBALS;
  if (name.startsWith('#lib/') && imports[name])
    return pathToFileURL(join(root, imports[name].replace('./dist/', '').replace(/js$/, 'ts')))
      .href;
  if (!/^\.{1,2}\/.*\.js$/.test(name) || importer.includes('/node_modules/')) return undefined;
  const source = new URL(name.replace(/js$/, 'ts'), importer);
  return existsSync(source) ? source.href : undefined;
}

/** Returns the JavaScript of a source in TypeScript, and keeps it for later runs. */
export function compile(address) {
  const path = fileURLToPath(address);
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha1').update(`${MADE_BY}\n${path}\n${source}`);
  const file = join(CACHE, `${key.digest('hex')}.js`);
  maps.set(address, `${file}.map`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const { code, map } = transformSync(source, { ...COMPILER, filename: path });
  // The map is there first, because the code shows that both are.
  replace(`${file}.map`, map);
  replace(file, code);
  return code;
}

function replace(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
