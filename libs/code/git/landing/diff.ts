import { git, type GitCall, gitText } from '../process/git.js';

/** The size of a change. */
export interface ChangeSize {
  filesChanged: number;
  insertions: number;
  deletions: number;
}

/** The largest patch that is kept, in bytes. */
export const MAX_PATCH_BYTES = 5 * 1024 * 1024;
/** The last line of a conflict names a commit. Examples in files name a branch. */
const MARK = '^>>>>>>> [0-9a-f]{40}';
const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--full-index'];

/** The commit where two lines of commits part. @throws GitError if they have none in common */
export function mergeBase(one: string, other: string, call: GitCall): Promise<string> {
  return gitText(['merge-base', one, other], call);
}

/** @throws GitError */
export async function measureChange(
  base: string,
  head: string,
  call: GitCall,
): Promise<ChangeSize> {
  const said = await gitText(['diff', ...PLAIN, '--shortstat', base, head], call);
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(said)?.[1] ?? 0);
  return {
    filesChanged: count('file'),
    insertions: count('insertion'),
    deletions: count('deletion'),
  };
}

/**
 * The patch from one commit to another. A larger one than `maxBytes` ends with a line that says so.
 *
 * @throws GitError
 */
export async function patchOf(
  base: string,
  head: string,
  call: GitCall,
  maxBytes = MAX_PATCH_BYTES,
): Promise<Buffer> {
  const { stdout, isCut } = await git(['diff', ...PLAIN, base, head], {
    ...call,
    maxBytes,
    cuts: true,
  });
  if (!isCut) return stdout;
  const whole = stdout.subarray(0, stdout.lastIndexOf(10) + 1);
  const line = `# Drover cut this diff after ${whole.length} bytes. See the whole change in the branch.\n`;
  return Buffer.concat([whole, Buffer.from(line)]);
}

/**
 * The changed files that match patterns, at most 20.
 *
 * @param patterns paths and globs, as git's `:(glob)` has them: `ci/`, `**\/*.sql`. One that matches
 * a folder matches the files in it, and one is also a plain name.
 * @throws GitError
 */
export async function changedWithin(
  base: string,
  head: string,
  patterns: readonly string[],
  call: GitCall,
): Promise<string[]> {
  if (patterns.length === 0) return [];
  const specs = patterns.flatMap((pattern) => {
    const path = pattern.split('/').filter(Boolean).join('/');
    if (path === '') return [':(top)'];
    return [`:(glob,top)${path}`, `:(glob,top)${path}/**`, `:(literal,top)${path}`];
  });
  const { stdout } = await git(
    ['diff', ...PLAIN, '--no-renames', '--name-only', '-z', base, head, '--', ...specs],
    { ...call, maxBytes: 65_536, cuts: true },
  );
  return stdout.toString().split('\0').filter(Boolean).slice(0, 20);
}

/**
 * The changed files that have marks of a conflict as `mergeTrees` makes them, at most 20.
 *
 * @throws GitError
 */
export async function changedWithMarks(
  base: string,
  head: string,
  call: GitCall,
): Promise<string[]> {
  const changed = ['diff', ...PLAIN, '--no-renames', '--name-only', '-z', `-G${MARK}`, base, head];
  const found = await gitText(changed, call);
  const files = found.split('\0').filter(Boolean);
  if (files.length === 0) return [];
  const specs = files.map((file) => `:(top,literal)${file}`);
  // The target can have marks that the change removes.
  const { stdout } = await git(['grep', '-lzE', '-e', MARK, head, '--', ...specs], {
    ...call,
    codes: [1],
  });
  const names = stdout.toString().split('\0').filter(Boolean);
  return names.map((name) => name.slice(head.length + 1)).slice(0, 20);
}
