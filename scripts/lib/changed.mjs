// Finds the specs that a change can reach. Jest's graph of imports finds some, the table below the
// rest.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './sources.mjs';

const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
const isSpec = (path) => /(\.|-)spec\.ts$/.test(path);

/** Changes that reach specs without an import: a pattern of changed files and one of specs. */
const WITHOUT_IMPORT = [
  // Packages, the schema and the set-up of tests reach everything.
  [/^(package(-lock)?\.json|jest\.config\.mjs|\.swcrc|prisma\/|test\/support\/.*\.mjs)/, /./],
  // These specs start built programs.
  [/^(apps|libs|tools|scripts)\//, /(e2e|fault|load)-spec\.ts$/],
  [/^test\/(e2e|faults|load)\//, /^test\/faults\/.*(fault|load)-spec\.ts$/],
  // These specs read files of the repository.
  [/\.(md|json|ya?ml|sql|html|css|cjs|mjs|sh|py)$|^[^/]+$/, /^test\/(?!e2e|faults|support)/],
  [/^(apps|libs|tools|test)\/.*\.tsx?$/, /^test\/(architecture|scripts)\//],
];

/** The specs that the change since main can reach, uncommitted and untracked files included. */
export async function changedSpecs() {
  const changed = changedFiles();
  const imported = changed.filter((path) => /\.tsx?$/.test(path) && existsSync(join(root, path)));
  const byImport = imported.length === 0 ? [] : listTests('--findRelatedTests', ...imported);
  return [...new Set([...byImport, ...specsWithoutImport(changed, listTests())])].sort();
}

/**
 * @param changed paths from the root
 * @param specs the paths of all specs
 */
export function specsWithoutImport(changed, specs) {
  const sources = changed.filter((path) => !isSpec(path));
  const reached = WITHOUT_IMPORT.filter(([source]) => sources.some((path) => source.test(path)));
  return specs.filter((spec) => reached.some(([, target]) => target.test(spec)));
}

function changedFiles() {
  const base = git('merge-base', mainBranch(), 'HEAD')[0];
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return [...git('diff', '--name-only', '--no-renames', base), ...untracked];
}

/** A clone of one branch knows main as that of its origin alone. */
function mainBranch() {
  const names = git('for-each-ref', '--format=%(refname:short)');
  return names.includes('main') ? 'main' : 'origin/main';
}

function git(...args) {
  return run('git', args);
}

function listTests(...args) {
  return run(process.execPath, [...JEST, '--listTests', ...args]).map((path) =>
    relative(root, path),
  );
}

function run(file, args) {
  const stdio = ['ignore', 'pipe', 'ignore'];
  const options = { cwd: root, encoding: 'utf8', stdio, maxBuffer: 2 ** 26 };
  return execFileSync(file, args, options).split('\n').filter(Boolean);
}
