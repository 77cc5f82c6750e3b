import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOwnedTemporary } from '#lib/session-runtime';
import { type GitCall, gitText } from '../process/git.js';
import type { Setting } from '../process/hardened.js';
import type { Identity } from './work-folder.js';

/** The words and people of a commit. */
export interface CommitWords {
  message: string;
  author: Identity;
  /** The author, if it is absent. */
  committer?: Identity;
  /** A private SSH key, with which the commit is signed. */
  signingKey?: string | null;
  /** The time of author and committer, as `git log --date=raw` has it. Default: now. */
  date?: string;
}

export interface NewCommit extends CommitWords {
  tree: string;
  parents: readonly string[];
  /** The time of the author, if it is another one. */
  authorDate?: string;
}

/**
 * Creates a commit. No ref moves, and no hook runs.
 *
 * @returns its id
 * @throws GitError
 */
export async function createCommit(commit: NewCommit, call: GitCall): Promise<string> {
  const { tree, parents, message, author, committer = author, signingKey, date } = commit;
  const { authorDate = date } = commit;
  const env = {
    GIT_AUTHOR_NAME: plain(author.name),
    GIT_AUTHOR_EMAIL: plain(author.email),
    GIT_COMMITTER_NAME: plain(committer.name),
    GIT_COMMITTER_EMAIL: plain(committer.email),
    ...(authorDate !== undefined && { GIT_AUTHOR_DATE: authorDate }),
    ...(date !== undefined && { GIT_COMMITTER_DATE: date }),
  };
  const from = parents.flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', ...from];
  const input = `${message.trimEnd()}\n`;
  if (signingKey === undefined || signingKey === null) {
    return gitText([...args, tree], { ...call, env, input });
  }
  return withKey(signingKey, (file) => {
    const config: Setting[] = [
      ['gpg.format', 'ssh'],
      ['user.signingKey', file],
      ['gpg.ssh.program', 'ssh-keygen'],
    ];
    return gitText([...args, '-S', tree], { ...call, config, env, input });
  });
}

async function withKey<T>(key: string, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await makeOwnedTemporary('sign');
  try {
    const file = join(folder, 'key');
    await writeFile(file, key.endsWith('\n') ? key : `${key}\n`, { mode: 0o600 });
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Git refuses an empty name, and these characters end one. */
function plain(words: string): string {
  return words.replace(/[<>\n\0]/g, '').trim() || 'unknown';
}
