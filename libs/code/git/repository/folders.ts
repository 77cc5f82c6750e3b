import { mkdir, writeFile } from 'node:fs/promises';
import { git, type GitCall } from '../process/git.js';

/** A commit, by its id. */
export const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * Makes a bare git folder that this host owns. Sessions can have another user: the files in it can
 * be read by everybody who can enter its folder.
 */
export async function makeBare(folder: string, objects: readonly string[] = []): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const template = '--template=';
  await git(['init', '-q', '--bare', template, '--shared=0644', '--', folder], { cwd: folder });
  if (objects.length > 0) await writeAlternates(folder, objects);
}

/** Borrows objects from other folders. */
export async function writeAlternates(gitDir: string, objects: readonly string[]): Promise<void> {
  await mkdir(`${gitDir}/objects/info`, { recursive: true });
  await writeFile(`${gitDir}/objects/info/alternates`, objects.map((path) => `${path}\n`).join(''));
}

/** The commit of a name, if there is one. @throws GitError */
export async function commitOf(name: string, call: GitCall): Promise<string | undefined> {
  const { exitCode, stdout } = await git(
    ['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`],
    { ...call, codes: [1, 128] },
  );
  const found = stdout.toString().trim();
  return exitCode === 0 && COMMIT.test(found) ? found : undefined;
}
