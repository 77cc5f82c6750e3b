// Generates the Prisma client and the client's types, compiles every app, library and tool into
// dist/, bundles the programs (not with `--unbundled`), and builds the dashboard, each only if its
// sources changed. Nest's own build cannot compile single files.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { generateClientTypes } from './lib/client-types.mjs';
import { buildDashboard } from './lib/dashboard.mjs';
import { withLock } from './lib/lock.mjs';
import { buildPrograms, removeCommandLine } from './lib/programs.mjs';
import { BUILT, hashOf, listFiles, root } from './lib/sources.mjs';

const DIST = join(root, 'dist');
const FOLDERS = ['apps', 'libs', 'tools', 'test'];
const CLIENT = join(root, 'libs', 'platform', 'database', 'generated');
/** The compiled files with the state of their sources. */
const COMPILED = join(DIST, '.compiled.json');

// Two concurrent builds would remove each other's output.
await withLock(`building ${root}`, async () => {
  generatePrismaClient();
  await generateClientTypes();
  await compile();
  if (process.argv.includes('--unbundled')) removeCommandLine();
  else await buildPrograms().catch(fail);
  await buildDashboard().catch(fail);
});

function fail(error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

function generatePrismaClient() {
  const made = join(CLIENT, '.made-of');
  const key = hashOf('prisma/schema.prisma', 'node_modules/prisma/package.json');
  if (existsSync(made) && readFileSync(made, 'utf8') === key) return;
  // `generate` needs no schema engine, but the CLI insists on finding one and would download it.
  // Any executable satisfies the look-up.
  const env = {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  };
  run('node_modules/prisma/build/index.js', ['generate', '--no-hints'], env);
  writeFileSync(made, key);
}

function run(script, args, env = {}) {
  const result = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (result.status === 0) return;
  process.stderr.write(result.stdout + result.stderr);
  process.exit(result.status ?? 1);
}

async function compile() {
  const compiler = hashOf(
    '.swcrc',
    'nest-cli.json',
    'tsconfig.build.json',
    'scripts/build.mjs',
    'node_modules/@swc/core/package.json',
  );
  const before = readCompiled(compiler);
  const sources = Object.fromEntries(FOLDERS.flatMap(listFiles).filter(isCompiled).map(stateOf));
  for (const path of Object.keys(before)) {
    if (sources[path] === undefined)
      for (const file of outputsOf(path)) rmSync(file, { force: true });
  }
  const changed = Object.keys(sources).filter(
    (path) => sources[path] !== before[path] || !outputsOf(path).every(existsSync),
  );
  if (changed.length > 0) rmSync(BUILT, { force: true });
  if (Object.keys(before).length === 0) run('node_modules/@nestjs/cli/bin/nest.js', ['build']);
  else if (changed.length > 0) await compileFiles(changed);
  mkdirSync(DIST, { recursive: true });
  writeFileSync(`${COMPILED}.draft`, JSON.stringify({ compiler, sources }));
  renameSync(`${COMPILED}.draft`, COMPILED);
}

/** Empty after a change of the compiler, or if it is damaged. Then nothing old is reused. */
function readCompiled(compiler) {
  try {
    const known = JSON.parse(readFileSync(COMPILED, 'utf8'));
    if (known.compiler === compiler) return known.sources;
  } catch (error) {
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  rmSync(DIST, { recursive: true, force: true });
  return {};
}

function isCompiled(path) {
  if (path.startsWith('apps/dashboard/')) return false;
  return /\.(ts|mjs)$/.test(path) && !/(\.|-)spec\.ts$|\.d\.ts$/.test(path);
}

function stateOf(path) {
  const { size, mtimeMs } = statSync(join(root, path));
  return [path, `${size} ${mtimeMs}`];
}

function outputsOf(path) {
  const file = join(DIST, path.replace(/\.(ts|mjs)$/, '.js'));
  return [file, `${file}.map`];
}

async function compileFiles(paths) {
  const { transformFile } = await import('@swc/core');
  const results = await Promise.allSettled(
    paths.map(async (path) => {
      const [file, map] = outputsOf(path);
      const source = join(root, path);
      const made = await transformFile(source, {
        cwd: root,
        sourceFileName: relative(dirname(file), source),
      });
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(map, made.map);
      writeFileSync(file, `${made.code}\n//# sourceMappingURL=${file.split('/').at(-1)}.map`);
    }),
  );
  const failures = results.filter(({ status }) => status === 'rejected');
  if (failures.length === 0) return;
  for (const { reason } of failures) process.stderr.write(`${reason.message ?? reason}\n`);
  process.exit(1);
}
