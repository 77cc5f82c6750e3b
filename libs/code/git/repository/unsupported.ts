import { git, type GitCall } from '../process/git.js';

/**
 * The reason why Drover cannot work on a commit, in a sentence: submodules and files of Git LFS
 * lead to further servers.
 *
 * @returns undefined if it can
 * @throws GitError
 */
export async function whyUnsupported(commit: string, call: GitCall): Promise<string | undefined> {
  const { stdout } = await git(['ls-tree', '-r', '-z', '--full-tree', commit], {
    ...call,
    maxBytes: 512 * 1024 * 1024,
  });
  const submodule = findSubmodule(stdout);
  if (submodule !== undefined) {
    return `The repository has a submodule at ${submodule}, and Drover does not follow submodules`;
  }
  const lfs = await git(
    ['grep', '-l', '-z', '-E', 'filter[ \t]*=[ \t]*lfs', commit, '--', ':(glob)**/.gitattributes'],
    { ...call, codes: [1], maxBytes: 4_096, cuts: true },
  );
  if (lfs.stdout.length === 0) return undefined;
  const [first = ''] = lfs.stdout.toString().split('\0');
  const file = first.slice(commit.length + 1);
  return `The repository keeps files in Git LFS (${file}), which Drover does not support`;
}

const SUBMODULE = Buffer.from('160000 ');

/** A tree can have hundreds of thousands of lines: they are searched as bytes. */
function findSubmodule(tree: Buffer): string | undefined {
  for (let at = tree.indexOf(SUBMODULE); at !== -1; at = tree.indexOf(SUBMODULE, at + 1)) {
    if (at !== 0 && tree[at - 1] !== 0) continue;
    const end = tree.indexOf(0, at);
    return tree.subarray(tree.indexOf(9, at) + 1, end).toString();
  }
  return undefined;
}
