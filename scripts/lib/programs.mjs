// Bundles the compiled programs into dist/programs, because Node loads a few large files in half the
// time of some thousands of small ones.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles, root } from './sources.mjs';

/** The compiled entry of each program, by the name after `#program/`. */
export const PROGRAMS = {
  gateway: 'dist/apps/gateway/program.js',
  server: 'dist/apps/server/program.js',
  shim: 'dist/libs/hosts/session-runtime/process/shim-process.js',
  start: 'dist/tools/start/program.js',
  supervisor: 'dist/libs/hosts/session-runtime/process/supervisor-process.js',
  worker: 'dist/apps/worker/program.js',
};
/** A native module loads its binary from beside itself. */
const EXTERNAL = [/^@node-rs\/argon2$/];
const OUT = join(root, 'dist', 'programs');
const MADE_OF = join(OUT, '.made-of');
/** Its bundle is apart, because the package of the server has the other programs without it. */
const COMMAND_LINE = join(root, 'dist', 'command-line');

export async function buildPrograms() {
  if (!existsSync(join(root, PROGRAMS.server))) return;
  const key = stateOfCompiled();
  if (existsSync(MADE_OF) && readFileSync(MADE_OF, 'utf8') === key) return;
  await bundle(PROGRAMS, OUT);
  await bundle({ main: 'dist/apps/cli/main.js' }, COMMAND_LINE);
  writeFileSync(MADE_OF, key);
}

/** Then `scripts/drover.mjs` runs the compiled files, which `npm run dev` keeps current. */
export function removeCommandLine() {
  for (const path of [MADE_OF, COMMAND_LINE]) rmSync(path, { recursive: true, force: true });
}

/**
 * Bundles compiled files with their packages.
 *
 * @param inputs the files by their paths below `into`, without `.js`
 */
export async function bundle(inputs, into, options = {}) {
  const { sourcemap = true, strictExecutionOrder = false, plugins = [] } = options;
  const { rolldown } = await import('rolldown');
  const made = await rolldown({
    cwd: root,
    input: inputs,
    platform: 'node',
    external: EXTERNAL,
    plugins: [
      ...plugins,
      sourcesOfCompiled,
      requiresOfMappedTypes,
      noMapsOfPackages,
      asciiComments,
    ],
    onLog,
  });
  // A build that breaks off leaves the earlier bundle.
  const draft = `${into}.draft`;
  rmSync(draft, { recursive: true, force: true });
  await made.write({
    dir: draft,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    strictExecutionOrder,
    // Nest and the OpenAPI document use the names of classes.
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    minify: {
      compress: false,
      mangle: false,
      codegen: { removeWhitespace: false, asciiOnly: true },
    },
    sourcemap,
    sourcemapExcludeSources: true,
  });
  await made.close();
  rmSync(into, { recursive: true, force: true });
  renameSync(draft, into);
}

/** Compiled files keep their maps, so that a bundle's map leads to TypeScript. */
const sourcesOfCompiled = {
  name: 'sources-of-compiled',
  load: {
    filter: { id: /\/dist\/(apps|libs|tools)\/.*\.js$/ },
    handler: (id) => ({
      code: readFileSync(id, 'utf8'),
      map: JSON.parse(readFileSync(`${id}.map`, 'utf8')),
    }),
  },
};

/** Its own `require` would load a second class-transformer, which knows no decorated class. */
const requiresOfMappedTypes = {
  name: 'requires-of-mapped-types',
  transform: {
    filter: { id: /@nestjs\/mapped-types\/dist\/type-helpers/ },
    handler(code) {
      const text = 'const require = createRequire(import.meta.url);';
      if (!code.includes(text)) this.error(`@nestjs/mapped-types has no "${text}"`);
      return { code: code.replace(text, ''), map: null };
    },
  },
};

/** Node keeps all maps in memory. Those of packages would take 10 MB, and nobody mends their sources. */
const noMapsOfPackages = {
  name: 'no-maps-of-packages',
  transform: {
    filter: { id: /\/node_modules\/.*\.[cm]?js$/ },
    handler: (code) => ({ code, map: { version: 3, sources: [], names: [], mappings: '' } }),
  },
};

/**
 * Node keeps the text of a file with two bytes for each character if one is beyond ASCII. Only names
 * in licences are: they lose their accents.
 */
const asciiComments = {
  name: 'ascii-comments',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = file.code.normalize('NFD').replace(/\p{M}/gu, '');
    }
  },
};

/** Nest names packages that Drover does not have. It loads them on demand only. */
function onLog(level, log, next) {
  if (log.code === 'UNRESOLVED_IMPORT' && log.message.includes('node_modules/@nestjs/')) return;
  next(level, log);
}

function stateOfCompiled() {
  const hash = createHash('sha256');
  for (const path of ['package-lock.json', 'scripts/lib/programs.mjs'])
    hash.update(readFileSync(join(root, path)));
  for (const path of ['dist/apps', 'dist/libs', 'dist/tools'].flatMap(listFiles)) {
    if (!path.endsWith('.js')) continue;
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
