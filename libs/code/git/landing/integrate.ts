import { git, type GitCall, GitError, gitSays, gitText } from '../process/git.js';
import { type CommitWords, createCommit } from '../work/create-commit.js';
import { mergeBase } from './diff.js';

export type MergeMethod = 'squash' | 'merge' | 'rebase';

/**
 * A change on top of its target. `same`: the target has all of it already. `conflict`: the files,
 * and a text that shows the places.
 */
export type Integrated =
  | { kind: 'ready'; commit: string; tree: string }
  | { kind: 'same' }
  | { kind: 'conflict'; files: string[]; text: string };

export interface Integration {
  /** The tip of the target. */
  onto: string;
  head: string;
  method: MergeMethod;
  words: CommitWords;
}

/** The maximum of a conflict's text, in characters. */
const MAX_TEXT = 16_384;
const SHOWN_FILES = 5;

/**
 * Merges a change into its target without any working folder: no filter, hook or merge driver can
 * run. No ref moves. A change whose commits cannot be replayed one by one becomes one commit.
 *
 * @param call the git folder of the host with both, which gets the new commits
 * @throws GitError
 */
export async function integrate(
  { onto, head, method, words }: Integration,
  call: GitCall,
): Promise<Integrated> {
  const isWithin = gitSays(['merge-base', '--is-ancestor', head, onto], call);
  if (method === 'rebase') {
    if (await isWithin) return { kind: 'same' };
    const replayed = await replay(onto, head, words, call);
    if (replayed !== undefined) return replayed;
  }
  // Changes of a branch land one at a time, so others wait for these calls.
  const [isSame, merged, before] = await Promise.all([
    isWithin,
    mergeTrees(head, onto, call),
    treeOf(onto, call),
  ]);
  if (isSame) return { kind: 'same' };
  const { tree, conflicts } = merged;
  if (conflicts.length > 0) {
    return { kind: 'conflict', files: conflicts, text: await describe(tree, conflicts, call) };
  }
  if (tree === before) return { kind: 'same' };
  const parents = method === 'merge' ? [onto, head] : [onto];
  return { kind: 'ready', tree, commit: await createCommit({ tree, parents, ...words }, call) };
}

/**
 * The commits keep their authors and messages. Those whose changes the target has are left out.
 *
 * @returns undefined if a commit conflicts, or if a merge between them did more than to merge
 */
async function replay(
  onto: string,
  head: string,
  words: CommitWords,
  call: GitCall,
): Promise<Integrated | undefined> {
  const base = await mergeBase(onto, head, call);
  const range = ['--reverse', '--topo-order', '--parents', `${base}..${head}`];
  const listed = (await gitText(['rev-list', ...range], call)).split('\n').filter(Boolean);
  const all = listed.map((line) => line.split(' '));
  const commits = all.filter(({ length }) => length === 2) as [string, string][];
  let tip = onto;
  let tree = await treeOf(onto, call);
  for (const [commit, parent] of commits) {
    // A commit with this parent and the tip's files makes that parent the base of the merge.
    const author = words.author;
    const ours = await createCommit({ tree, parents: [parent], author, message: 'base' }, call);
    const merged = await mergeTrees(ours, commit, call);
    if (merged.conflicts.length > 0) return undefined;
    if (merged.tree === tree) continue;
    tree = merged.tree;
    tip = await createCommit(
      { ...words, ...(await wordsOf(commit, call)), tree, parents: [tip] },
      call,
    );
  }
  const hasMerges = commits.length < all.length;
  if (hasMerges && tree !== (await mergeTrees(head, onto, call)).tree) return undefined;
  return tip === onto ? { kind: 'same' } : { kind: 'ready', commit: tip, tree };
}

async function wordsOf(commit: string, call: GitCall) {
  const format = ['%an', '%ae', '%ad', '%B'].join('%x00');
  const said = await gitText(['log', '-1', '--date=raw', `--format=${format}`, commit], call);
  const [name = '', email = '', authorDate, message = ''] = said.split('\0');
  return { author: { name, email }, authorDate, message };
}

/** Files with conflicts have marks in the tree: the part of `ours` is above, that of `theirs` below. */
export async function mergeTrees(
  ours: string,
  theirs: string,
  call: GitCall,
): Promise<{ tree: string; conflicts: string[] }> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--messages'];
  const { exitCode, stdout } = await git([...args, '--allow-unrelated-histories', ours, theirs], {
    ...call,
    codes: [1],
  });
  const [tree = '', ...rest] = stdout.toString().split('\0');
  if (exitCode === 0) return { tree, conflicts: [] };
  return { tree, conflicts: [...new Set(rest.slice(0, rest.indexOf('')))] };
}

/** The parts of the files between the marks of conflicts. */
async function describe(tree: string, files: string[], call: GitCall): Promise<string> {
  const parts: string[] = [];
  for (const file of files.slice(0, SHOWN_FILES)) {
    const found = await git(['cat-file', 'blob', `${tree}:${file}`], {
      ...call,
      maxBytes: 1024 * 1024,
      cuts: true,
    }).catch((error: unknown) => {
      if (!(error instanceof GitError)) throw error;
      return undefined;
    });
    const marked = found === undefined ? '' : marksIn(found.stdout.toString());
    parts.push(`--- ${file}\n${marked || '(deleted, renamed or binary on one side)\n'}`);
  }
  const more = files.length - SHOWN_FILES;
  if (more > 0) parts.push(`${more} more files\n`);
  return parts.join('\n').slice(0, MAX_TEXT);
}

function marksIn(text: string): string {
  const shown: string[] = [];
  let isInside = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('<<<<<<< ')) isInside = true;
    if (isInside) shown.push(line);
    if (line.startsWith('>>>>>>> ')) isInside = false;
  }
  return shown.length === 0 ? '' : `${shown.join('\n')}\n`;
}

/** @throws GitError */
export function treeOf(commit: string, call: GitCall): Promise<string> {
  return gitText(['rev-parse', `${commit}^{tree}`], call);
}
