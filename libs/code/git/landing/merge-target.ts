import { type GitCall, gitSays } from '../process/git.js';
import { mergeTrees } from './integrate.js';
import { type CommitWords, createCommit } from '../work/create-commit.js';

/** A branch that gets the commits of its target. */
export interface TargetMerge {
  branch: { name: string; commit: string };
  target: { name: string; commit: string };
  /** A commit on the branch whose files take the place of its own. */
  files?: string;
  words: Omit<CommitWords, 'message'>;
}

/**
 * A merge of the target into a branch, for a session that mends their conflicts. Files in conflict
 * have marks: the part of the branch is above, that of the target below. No ref moves.
 *
 * @param call the git folder that gets the commit
 * @returns undefined if the branch has all commits of the target
 * @throws GitError
 */
export async function mergeTarget(
  { branch, target, files = branch.commit, words }: TargetMerge,
  call: GitCall,
): Promise<string | undefined> {
  const parents = [branch.commit, target.commit];
  if (await gitSays(['merge-base', '--is-ancestor', target.commit, branch.commit], call)) return;
  const { tree, conflicts } = await mergeTrees(files, target.commit, call);
  const list = conflicts.map((file) => `\t${file}`).join('\n');
  const told = conflicts.length === 0 ? '' : `\n\nConflicts:\n${list}`;
  const message = `Merge ${target.name} into ${branch.name}${told}`;
  return createCommit({ ...words, message, tree, parents }, call);
}
