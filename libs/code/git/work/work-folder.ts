import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, type GitCall } from '../process/git.js';
import type { Setting } from '../process/hardened.js';
import { writeAlternates } from '../repository/folders.js';

/** A person or program as the author of a commit. */
export interface Identity {
  name: string;
  email: string;
}

export interface WorkFolder {
  /** The folder. It exists and is empty. */
  folder: string;
  branch: string;
  /** The commit of the branch. */
  commit: string;
  /** A commit whose files are there as changes that are not committed yet. */
  files?: string;
  target: { branch: string; commit: string };
  /** The folders of the objects on this host, and their paths for the session. */
  objects: readonly { here: string; inside: string }[];
  /** The address of the repository for the session, and a header for it. */
  origin: string;
  header?: string;
  author: Identity;
  /** The folder of a monorepo, without `..`: only it and the files above it are checked out. */
  path?: string;
  /** Paths that git ignores there. */
  ignored?: readonly string[];
}

/** Git takes two processes for a large folder. */
const PARALLEL: readonly Setting[] = [
  ['checkout.workers', '0'],
  ['checkout.thresholdForParallelism', '500'],
];

/**
 * Makes a working folder with a git folder of its own for one session. The session can change both,
 * so no git of this host reads them afterwards, except in a jail.
 *
 * @param seed the path for a copy of the index, from which snapshots of the folder begin
 * @throws GitError
 */
export async function makeWorkFolder(work: WorkFolder, seed: string): Promise<void> {
  const { folder, branch, commit, target, objects } = work;
  const gitDir = join(folder, '.git');
  const call: GitCall = {
    gitDir,
    workTree: folder,
    cwd: folder,
    objects: objects.map(({ here }) => here),
  };
  await git(['init', '-q', '--template=', `--initial-branch=${branch}`, '--', folder]);
  for (const [name, value] of settingsOf(work)) await git(['config', name, value], call);
  await git(['update-ref', '--stdin'], {
    ...call,
    input: [
      `create refs/heads/${branch} ${commit}\n`,
      `create refs/remotes/origin/${target.branch} ${target.commit}\n`,
    ].join(''),
  });
  await checkOut(work.files ?? commit, { ...call, config: PARALLEL }, work.path);
  await mkdir(join(gitDir, 'info'), { recursive: true });
  await writeExcludes(gitDir, work.ignored ?? []);
  await copyFile(join(gitDir, 'index'), seed);
  if (work.files !== undefined) await git(['reset', '-q', '--mixed', commit], call);
  await writeAlternates(
    gitDir,
    objects.map(({ inside }) => inside),
  );
}

/**
 * Checks a commit out into an empty folder without a git folder.
 *
 * @param call the git folder of the host with the commit
 * @throws GitError
 */
export async function checkOutClean(
  commit: string,
  { folder, indexFile, ...call }: GitCall & { folder: string; indexFile: string },
): Promise<void> {
  await git(['read-tree', '--reset', '-u', commit], {
    ...call,
    workTree: folder,
    cwd: folder,
    indexFile,
    config: PARALLEL,
  });
}

async function checkOut(commit: string, call: GitCall, path: string | undefined): Promise<void> {
  if (path !== undefined) {
    await git(['sparse-checkout', 'set', '--cone', '--end-of-options', path], call);
  }
  await git(['reset', '-q', '--hard', commit], call);
}

function settingsOf({ branch, origin, header, author }: WorkFolder): Setting[] {
  return [
    ['remote.origin.url', origin],
    ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
    [`branch.${branch}.remote`, 'origin'],
    [`branch.${branch}.merge`, `refs/heads/${branch}`],
    ['push.default', 'current'],
    ['user.name', author.name],
    ['user.email', author.email],
    ['gc.auto', '0'],
    ['advice.detachedHead', 'false'],
    ...(header === undefined ? [] : [[`http.${origin}.extraHeader`, header] as const]),
  ];
}

async function writeExcludes(gitDir: string, ignored: readonly string[]): Promise<void> {
  await writeFile(join(gitDir, 'info/exclude'), ignored.map((path) => `/${path}\n`).join(''));
}
