import { type CommitWords, type GitCall, gitSays, gitText, mergeTarget } from '#lib/git';
import type { RunRepositoryAnswer } from './types.js';

/** The facts that decide on which commit a session begins. */
export interface BeginFacts {
  target: { name: string; commit: string };
  /** `own`: the commit of the branch at the repository, if it exists there. */
  branch: { name: string; own: string | undefined };
  /** The commit with the unsubmitted files of an earlier run, if there is one. */
  kept: string | undefined;
  /** True if the session gets the commits of the target. */
  merges: boolean;
  words: Omit<CommitWords, 'message'>;
}

export interface BeginCommits {
  /** The commit on which the session begins. */
  tip: string;
  /** A commit on it whose files are there as changes that are not committed yet. */
  files: string | undefined;
  /** `tip`, if it is a merge of this host that the commit of the session replaces. */
  draft: string | undefined;
}

/**
 * The commits with which a session begins: its branch, the files that an earlier run left, and the
 * target if it has to be merged in.
 *
 * @throws GitError
 */
export async function commitsOf(
  { target, branch: { name, own }, kept, merges, words }: BeginFacts,
  call: GitCall,
): Promise<BeginCommits> {
  const [below, merged] = kept === undefined ? [] : await parentsOf(kept, call);
  const commit = own ?? (await firstTip(target.commit, below, call));
  const files = below === commit ? kept : undefined;
  // The earlier run mended conflicts.
  if (files !== undefined && merged !== undefined) {
    return { tip: files, files: undefined, draft: files };
  }
  const draft = merges
    ? await mergeTarget({ branch: { name, commit }, target, files, words }, call)
    : undefined;
  return draft === undefined
    ? { tip: commit, files, draft }
    : { tip: draft, files: undefined, draft };
}

/**
 * True if a change went back for something that shows only on top of its target: a conflict, or a
 * proof of another commit than the submitted one.
 */
export function isBehindTarget({ feedback, headCommit }: RunRepositoryAnswer['change']): boolean {
  return feedback.some(({ kind, commit }) => {
    return kind === 'rebase' || (kind === 'proof' && commit !== null && commit !== headCommit);
  });
}

async function parentsOf(commit: string, call: GitCall): Promise<string[]> {
  return (await gitText(['rev-parse', `${commit}^@`], call)).split('\n');
}

/**
 * The commit for a change without a branch: that below the files of an earlier run, also when the
 * target has moved since. A landing brings them together.
 */
async function firstTip(target: string, below: string | undefined, call: GitCall): Promise<string> {
  if (below === undefined) return target;
  const isBehind = await gitSays(['merge-base', '--is-ancestor', below, target], call);
  return isBehind ? below : target;
}
