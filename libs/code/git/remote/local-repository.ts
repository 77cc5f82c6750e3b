import { lstat, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { UnusableRepository } from './unusable.js';

/** A repository in a folder of this machine. Others wrote its files. */
export interface LocalRepository {
  gitDir: string;
  /** The folder of its checked-out files. Undefined: it is bare. */
  workTree: string | undefined;
}

const HEAD = /^ref: (refs\/heads\/\S+)\n?$/;

/**
 * The repository at a path below one of the roots. Every part of it must lie there: a link or a
 * list of further objects would lead to files of others.
 *
 * @throws UnusableRepository
 */
export async function findLocal(path: string, roots: readonly string[]): Promise<LocalRepository> {
  const real = await resolved(path);
  const above = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  const isBelow = (file: string): boolean =>
    above.some((root) => root !== undefined && (file === root || file.startsWith(root + sep)));
  if (real === undefined || !isBelow(real)) {
    throw new UnusableRepository(`${path} is no folder below DROVER_REPOSITORY_PATHS`);
  }
  const inside = join(real, '.git');
  const found = await lstat(inside).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    throw new UnusableRepository(
      `${path} borrows its repository from another folder: name that one instead`,
    );
  }
  const gitDir = found === undefined ? real : inside;
  for (const part of ['HEAD', 'config', 'objects', 'refs']) {
    const file = await lstat(join(gitDir, part)).catch(() => undefined);
    if (file === undefined) throw new UnusableRepository(`${path} is no repository of git`);
    if (file.isSymbolicLink()) {
      throw new UnusableRepository(`${path} has a link in place of ${part}`);
    }
  }
  for (const part of ['commondir', 'objects/info/alternates', 'objects/info/http-alternates']) {
    if ((await lstat(join(gitDir, part)).catch(() => undefined)) === undefined) continue;
    throw new UnusableRepository(
      `${path} borrows objects from another folder: run \`git repack -a -d\` there and remove ${part}`,
    );
  }
  return { gitDir, workTree: found === undefined ? undefined : real };
}

/** The branch that is checked out, by its full name. */
export async function checkedOutBranch({ gitDir }: LocalRepository): Promise<string | undefined> {
  const head = await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '');
  return HEAD.exec(head)?.[1];
}

function resolved(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}
