import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { checkOutClean, git, gitText, JAIL_FOLDERS, mergeBase, withLock } from '#lib/git';
import { removeTree, type SessionSpec } from '#lib/session-runtime';
import type { CodeHost, HostRepository } from './code-host.js';
import { reachOfRepository, runScript, type ScriptEnd } from './run-script.js';

/** The files that decide what `setup` installs. */
export const LOCK_FILES = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'go.sum',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'requirements.txt',
  'Gemfile.lock',
  'composer.lock',
  'mix.lock',
  'gradle.lockfile',
  'flake.lock',
]);
/** A path of the working folder within the sandbox of every session with a repository. */
const WORK = '/run/agent/work';
const MAX_PATHS = 200;

/** The result of `setup`: paths of the working folder, and their places on this host. */
export interface SetupResult {
  paths: string[];
  /** The cache paths of the repository that it did not make. */
  missing: string[];
  borrowed: NonNullable<SessionSpec['borrowed']>;
}

/** `setup` failed. */
export class SetupFailed extends Error {
  constructor(readonly end: ScriptEnd) {
    super(`The setup of the repository ${end.how}`);
  }
}

const NOTHING: SetupResult = { paths: [], missing: [], borrowed: [] };

/** A commit that a session or a proof uses. */
export interface SetupCommit {
  commit: string;
  /** The git folder of the host with the commit. */
  gitDir: string;
  /** The branch on which the change lands. */
  target: string;
  signal?: AbortSignal;
}

/** The name of a result of `setup`. */
interface Source {
  /** The commit for which it runs; undefined: only a result that exists is used. */
  commit?: string;
  key: string;
}

/** The folder with the results of `setup` of a repository. */
export function setupsOf(repositoryFolder: string): string {
  return join(repositoryFolder, 'setup');
}

/** The start of the names of results that only some changes use. */
export const OWN = 'own-';
/** The list of the paths that a `setup` made. Its time is that of the last use. */
export const PATHS = 'paths.json';

/**
 * The result of `setup` for a commit. It runs once for each state of the lock files of the target,
 * and all sessions of the workspace share what it made, read-only.
 *
 * `setup` executes what a commit contains. So a result that others share is made from the tip of the
 * target, which was approved. Below it are commits that nobody approved: those within merged branches.
 * So the base of a change has a result of its own, and a commit with lock files of its own too.
 *
 * @throws SetupFailed, and the errors of git and of sessions
 */
export async function setupFor(
  host: CodeHost,
  repository: HostRepository,
  { commit, gitDir, target, signal }: SetupCommit,
): Promise<SetupResult> {
  const { setup } = repository.access;
  if (setup === null || setup === undefined || setup.trim() === '') return NOTHING;
  let folder = '';
  const isThere = async (source: Source): Promise<boolean> => {
    folder = join(setupsOf(repository.folder), source.key);
    const list = join(folder, PATHS);
    if (source.commit === undefined && !existsSync(list)) return false;
    const makeOrUse = async (): Promise<boolean> => {
      if (existsSync(list)) {
        await utimes(list, new Date(), new Date());
        return true;
      }
      if (source.commit === undefined) return false;
      await removeTree(folder);
      await mkdir(folder, { recursive: true });
      const making = { commit: source.commit, gitDir, folder, setup, signal };
      await make(host, repository, making).catch(async (error: unknown) => {
        await removeTree(folder);
        throw error;
      });
      return true;
    };
    return withLock(`${folder}.lock`, makeOrUse, signal);
  };
  for (const source of await sourcesOf(repository, commit, { gitDir, target })) {
    if (await isThere(source)) break;
  }
  const paths = JSON.parse(await readFile(join(folder, PATHS), 'utf8')) as string[];
  const fitting = await fittingPaths(paths, commit, gitDir);
  return {
    paths,
    missing: namedPaths(repository.access).filter((path) => !paths.includes(path)),
    borrowed: fitting.map((path) => ({
      from: join(folder, String(paths.indexOf(path))),
      to: join(WORK, path),
    })),
  };
}

/** The results that fit a commit. The last one can be made. */
async function sourcesOf(
  { access, mirror }: HostRepository,
  commit: string,
  { gitDir, target }: { gitDir: string; target: string },
): Promise<Source[]> {
  const { setup, variables, path, cachePaths } = access;
  const keyOf = (...from: string[]): string => {
    const reach = reachOfRepository(access);
    const parts = JSON.stringify([setup, variables, path, cachePaths, reach, ...from]);
    return createHash('sha256').update(parts).digest('hex').slice(0, 32);
  };
  const locks = await locksOf(commit, gitDir);
  const tip = await mirror.tip(target);
  const ofTarget = keyOf('target', locks);
  if ((await locksOf(tip, gitDir)) === locks) return [{ commit: tip, key: ofTarget }];
  // The target can have other lock files since the change began.
  const base = await mergeBase(tip, commit, { gitDir }).catch(() => undefined);
  if (base !== undefined && (await locksOf(base, gitDir)) === locks) {
    return [{ key: ofTarget }, { commit: base, key: `${OWN}${keyOf('base', base)}` }];
  }
  const tree = await gitText(['rev-parse', `${commit}^{tree}`], { gitDir });
  return [{ commit, key: `${OWN}${keyOf('tree', tree)}` }];
}

/** The lock files of a commit, with their hashes. */
async function locksOf(commit: string, gitDir: string): Promise<string> {
  const tree = await gitText(['ls-tree', '-r', '--full-tree', commit], {
    gitDir,
    maxBytes: 512 * 1024 * 1024,
  });
  return tree
    .split('\n')
    .filter((line) => LOCK_FILES.has(basename(line.slice(line.indexOf('\t') + 1))))
    .join('\n');
}

interface Making extends Omit<SetupCommit, 'target'> {
  folder: string;
  setup: string;
}

async function make(
  host: CodeHost,
  repository: HostRepository,
  { commit, gitDir, folder, setup, signal }: Making,
): Promise<void> {
  const { access } = repository;
  const indexFile = join(folder, 'index');
  const end = await runScript(host, {
    access,
    reach: reachOfRepository(access),
    text: inPath(setup, access.path),
    timeoutSeconds: access.setupTimeoutSeconds,
    workspaceId: host.options.workspaceId,
    signal,
    prepare: (work) => checkOutClean(commit, { gitDir, folder: work, indexFile }),
    onEnd: async (sessionId, exitCode) => {
      if (exitCode !== 0) return;
      const work = host.workOf(sessionId);
      const made = await pathsMade(host, { work, gitDir: folder, indexFile, access });
      const kept: string[] = [];
      for (const path of made) {
        if (!(await isPlain(work, path))) continue;
        await rename(join(work, path), join(folder, String(kept.length)));
        kept.push(path);
      }
      await writeFile(join(folder, 'paths.new'), JSON.stringify(kept));
    },
  });
  if (end.exitCode !== 0) throw new SetupFailed(end);
  await rename(join(folder, 'paths.new'), join(folder, PATHS));
}

/** The script in the folder of a monorepo on which the repository works. */
export function inPath(script: string, path: string | null | undefined): string {
  return path ? `cd -- '${path.replaceAll("'", "'\\''")}'\n${script}` : script;
}

/** The paths that the repository names, or all that are new. */
async function pathsMade(
  host: CodeHost,
  {
    work,
    gitDir,
    indexFile,
    access,
  }: { work: string; gitDir: string; indexFile: string; access: HostRepository['access'] },
): Promise<string[]> {
  const named = namedPaths(access);
  if (named.length > 0) return named;
  const jailGit = join(gitDir, 'jail.git');
  await git(['init', '-q', '--bare', '--template=', '--shared=0644', '--', jailGit]);
  const { stdout } = await git(
    ['ls-files', '--others', '--directory', '--no-empty-directory', '-z'],
    {
      gitDir: JAIL_FOLDERS.git,
      workTree: JAIL_FOLDERS.work,
      indexFile: JAIL_FOLDERS.index,
      config: [['core.bare', 'false']],
      jail: {
        program: host.program,
        user: host.user,
        chdir: JAIL_FOLDERS.work,
        readable: [
          [work, JAIL_FOLDERS.work],
          [jailGit, JAIL_FOLDERS.git],
          [indexFile, JAIL_FOLDERS.index],
        ],
        writable: [],
      },
    },
  );
  return stdout.toString().split('\0').filter(Boolean).map(trimmed).slice(0, MAX_PATHS);
}

/** Cache paths count from the folder in which setup runs. With a slash in front they count from the root. */
function namedPaths({ cachePaths, path }: HostRepository['access']): string[] {
  return cachePaths.map((each) => trimmed(each.startsWith('/') ? each : `${path ?? ''}/${each}`));
}

function trimmed(path: string): string {
  return path.split('/').filter(Boolean).join('/');
}

/** True for a folder or file whose way has no link: the session could lead it elsewhere. */
async function isPlain(work: string, path: string): Promise<boolean> {
  const parts = path.split('/');
  if (parts.includes('..') || parts.includes('.git')) return false;
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const found = await lstat(join(work, ...parts.slice(0, depth))).catch(() => undefined);
    const isLast = depth === parts.length;
    if (found === undefined || !(found.isDirectory() || (isLast && found.isFile()))) return false;
  }
  return true;
}

/** The paths that another commit has not, below folders that it has or that are new. */
async function fittingPaths(paths: string[], commit: string, gitDir: string): Promise<string[]> {
  if (paths.length === 0) return [];
  const above = (path: string) =>
    path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  const asked = [...new Set(paths.flatMap(above))];
  const found = await gitText(['ls-tree', '-z', '--full-tree', commit, '--', ...asked], { gitDir });
  const entries = found.split('\0').filter(Boolean);
  const modes = new Map(
    entries.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)] as const),
  );
  return paths.filter((path) =>
    above(path).every((each) => {
      const mode = modes.get(each);
      return each === path ? mode === undefined : mode === undefined || mode === '040000';
    }),
  );
}
