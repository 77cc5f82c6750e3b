import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { Failure, usageError } from './failure.js';

/**
 * Checks the branch of a change out in the clone of the current folder, with the git and the
 * credentials of the user. An existing local branch is only moved forward.
 *
 * @param url the address of the repository, or the folder of it
 * @throws Failure with the words of git
 */
export function checkOut(url: string, branch: string): void {
  const top = git(['rev-parse', '--show-toplevel']);
  const isItself = url.startsWith('/') && realpathSync(url) === realpathSync(top);
  if (isItself) {
    git(['switch', branch]);
    return;
  }
  const remote = `refs/remotes/drover/${branch}`;
  git(['fetch', '--no-tags', '--', url, `+refs/heads/${branch}:${remote}`]);
  const exists = git(['for-each-ref', '--format=%(refname)', `refs/heads/${branch}`]) !== '';
  if (!exists) {
    git(['switch', '--no-track', '--create', branch, remote]);
    return;
  }
  git(['switch', branch]);
  git(['merge', '--ff-only', remote]);
}

function git(args: readonly string[]): string {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT') throw usageError('git is not on the PATH.', 'Install git.');
    const why = stderr.trim().split('\n').at(-1) ?? '';
    throw new Failure(
      `git ${args[0]} failed: ${why}`,
      'Run the command in a clone of the repository.',
    );
  }
}
