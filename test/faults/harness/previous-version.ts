import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
const MIGRATIONS = 'prisma/migrations';
const STOPS_SERVERS = 'stops-servers.txt';

const run = promisify(execFile);
const git = async (...words: string[]) => (await run('git', words, { cwd: ROOT })).stdout.trim();
const tryGit = (...words: string[]) => git(...words).catch(() => '');

/**
 * The oldest version whose servers must continue under today's migrations: the last release, unless
 * a migration since then stops older servers. Then it is the commit that added this migration.
 *
 * @returns undefined in a folder without a repository, such as an unpacked archive
 * @throws in a shallow clone, which has neither tags nor that commit
 */
export async function previousVersion(): Promise<string | undefined> {
  if ((await tryGit('rev-parse', '--show-toplevel')) === '') return undefined;
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true') {
    throw new Error('The clone is shallow: run `git fetch --unshallow --tags`, then test again.');
  }
  const first = await firstCompatible();
  // Not the tag of HEAD itself, if this is a release.
  const release = await tryGit('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD~1');
  return release !== '' && (await isAncestor(first, release)) ? release : first;
}

/** The first commit whose databases can be migrated while its servers run. */
async function firstCompatible(): Promise<string> {
  const last = async (filter: string, path: string) =>
    (await git('log', '-1', `--diff-filter=${filter}`, '--format=%H', '--', path)).trim();
  // Before the first release, migrations that developers had applied changed their text or name.
  const changed = await last('DMR', `${MIGRATIONS}/*/migration.sql`);
  const files = (await git('ls-files', MIGRATIONS)).split('\n');
  const reason = files.filter((path) => path.endsWith(`/${STOPS_SERVERS}`)).at(-1) ?? '';
  const added = await last('A', reason.replace(STOPS_SERVERS, 'migration.sql'));
  return (await isAncestor(added, changed)) ? changed : added;
}

async function isAncestor(commit: string, of: string): Promise<boolean> {
  return (await tryGit('rev-list', '-1', commit, `^${of}`)) === '';
}

export interface OldBuild {
  /** The folder that has its `dist`. */
  dist: string;
  /** What a start of its server needs in the environment. */
  env: Record<string, string>;
  migrations: string;
  remove(): Promise<void>;
}

/** Compiles the server of a version in a temporary folder, with the packages of this one. */
export async function buildServer(version: string): Promise<OldBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-previous-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'sources.tar');
    await git('archive', `--output=${archive}`, version);
    await run('tar', ['xf', archive, '-C', folder]);
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const node = async (script: string, words: string[]) => {
      // Prisma only asks whether there is an engine, and would download one.
      const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
      await run(process.execPath, [join('node_modules', script), ...words], { cwd: folder, env });
    };
    await node('prisma/build/index.js', ['generate', '--no-hints']);
    await generateClient(folder);
    const sources = ['apps/server', 'libs', '--extensions', '.ts,.mjs', '--config-file', '.swcrc'];
    await node('@swc/cli/bin/swc.js', [...sources, '--out-dir', 'dist', '--quiet']);
  } catch (error) {
    await remove();
    throw error;
  }
  // Its programs are not bundled, because that takes all apps.
  const env = { NODE_OPTIONS: '--conditions=unbundled' };
  return { dist: join(folder, 'dist'), env, migrations: join(folder, MIGRATIONS), remove };
}

/** Generates the client's modules with the version's own script, if it has one. */
async function generateClient(folder: string): Promise<void> {
  const script = './scripts/lib/client-types.mjs';
  if (!existsSync(join(folder, script))) return;
  const source = `const { generateClientTypes } = await import('${script}'); await generateClientTypes();`;
  const words = ['--input-type=module', '--eval', source];
  await run(process.execPath, words, { cwd: folder });
}
