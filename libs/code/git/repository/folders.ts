import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, type GitCall } from '../process/git.js';

/** A commit, by its id. */
export const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** As `git init --bare --shared=0644` makes them. */
const FOLDERS = ['', 'objects', 'objects/info', 'objects/pack', 'refs', 'refs/heads', 'refs/tags'];
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tsharedrepository = 0644
[receive]
\tdenyNonFastforwards = true
`;

/**
 * Makes a bare git folder that this host owns. Sessions can have another user: the files in it can
 * be read by everybody who can enter its folder. Each step makes one, and git itself takes 25 ms.
 */
export async function makeBare(folder: string, objects: readonly string[] = []): Promise<void> {
  for (const name of FOLDERS) {
    const path = join(folder, name);
    await mkdir(path, { recursive: true });
    await chmod(path, 0o755);
  }
  await writeShared(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  await writeShared(join(folder, 'config'), CONFIG);
  if (objects.length > 0) await writeAlternates(folder, objects);
}

async function writeShared(file: string, content: string): Promise<void> {
  await writeFile(file, content);
  await chmod(file, 0o644);
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
