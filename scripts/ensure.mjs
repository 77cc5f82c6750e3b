// Prepares a bare clone: installs dependencies and builds if they are missing or outdated. Uses
// only Node, because it runs before anything is installed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { libc } from './lib/libc.mjs';
import { withLock } from './lib/lock.mjs';
import { moveToNodeOfDrover, requireNode } from './lib/node.mjs';
import { BUILT, listFiles, root } from './lib/sources.mjs';
import { runStep, Sentence } from './lib/step.mjs';

const SOURCES = ['apps', 'libs', 'tools', 'test', 'prisma'];
const SETTINGS = [
  'package.json',
  'package-lock.json',
  '.swcrc',
  'nest-cli.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/lib/client-types.mjs',
  'scripts/lib/dashboard.mjs',
  'scripts/lib/programs.mjs',
];
const INSTALLED = join(root, 'node_modules', '.drover-installed');

/**
 * Checks Node, installs what is needed, continues under the Node from npm, and builds. Concurrent
 * calls in one clone wait for each other. On an error it prints one sentence and ends the process.
 *
 * @param forClient whether any Node that clients support suffices
 */
export async function ensureReady({ build = true, forClient = false } = {}) {
  try {
    requireNode();
    await once(isInstalled, install);
    if (!forClient) await moveToNodeOfDrover();
    if (build) await once(() => isBuilt(fingerprint()), buildAll);
  } catch (error) {
    process.stderr.write(`${error instanceof Sentence ? error.message : explain(error)}\n`);
    process.exit(1);
  }
}

/** Does missing work, unless another process does it meanwhile. */
async function once(isDone, work) {
  if (isDone()) return;
  await withLock(`making ${root} ready`, async () => {
    if (!isDone()) await work();
  });
}

function explain(error) {
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS') {
    return `${error.path ?? root} can't be written to: run as its owner, or in a clone of your own.`;
  }
  if (error.code === 'ENOSPC') return `The disk that holds ${root} is full: free some space there.`;
  return error.stack ?? String(error);
}

async function install() {
  await runStep(
    'installing the dependencies',
    npm('ci', '--include=dev', '--loglevel=error'),
    root,
  );
  writeFileSync(INSTALLED, installKey());
}

async function buildAll() {
  const sources = fingerprint();
  await runStep('building', [process.execPath, join(root, 'scripts', 'build.mjs')], root);
  writeFileSync(BUILT, sources);
}

// The npm that runs this script, if any, otherwise the one on the PATH.
function npm(...args) {
  const script = process.env.npm_execpath;
  const isNpm = script !== undefined && /npm-cli\.c?js$/.test(script) && existsSync(script);
  return isNpm ? [process.execPath, script, ...args] : ['npm', ...args];
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function installKey() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const platform = `${process.platform} ${process.arch} ${libc()}`;
  return createHash('sha256').update(lock).update(platform).digest('hex');
}

// npm writes this file last, so an interrupted installation has none.
function isInstalled() {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === installKey()) return true;
  return sameAsLock(readJson(hidden).packages);
}

/**
 * Tells after a manual installation whether all packages that this platform needs exist in their
 * versions.
 */
function sameAsLock(installed) {
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const needed = Object.keys(wanted).filter((path) => path !== '' && isForHere(wanted[path]));
  const complete = needed.every((path) =>
    installed[path] ? installed[path].version === wanted[path].version : wanted[path].optional,
  );
  // A folder copied from another kind of machine has that machine's binaries.
  const foreign = Object.values(installed).some((entry) => !isForHere(entry));
  const native = needed.filter((path) => wanted[path].os && wanted[path].cpu);
  return complete && !foreign && native.every((path) => existsSync(join(root, path)));
}

function isForHere({ os, cpu, libc: libcs }) {
  const fits = (wanted, value) => {
    const list = [wanted ?? []].flat();
    if (list.length === 0) return true;
    return list.some((x) => x === value || x[0] === '!') && !list.includes(`!${value}`);
  };
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libcs, libc());
}

function isBuilt(sources) {
  return existsSync(BUILT) && readFileSync(BUILT, 'utf8') === sources;
}

/** Changes when any file of the build is changed, added or removed. */
function fingerprint() {
  const hash = createHash('sha256');
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  };
  for (const path of SETTINGS) if (existsSync(join(root, path))) add(path);
  for (const path of SOURCES.flatMap(listFiles)) if (isSource(path)) add(path);
  return hash.digest('hex');
}

function isSource(path) {
  // Generated files are no sources.
  return (
    /\.(tsx?|mjs|prisma|sql|json|html|css)$/.test(path) &&
    !/(spec\.ts|queries\.sql)$|\/generated\//.test(path)
  );
}
