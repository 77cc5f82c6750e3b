import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { git, type GitCall, GitError, gitText } from '../process/git.js';
import { checkedOutBranch, type LocalRepository } from './local-repository.js';

/** The commits of one landing: those of a rebase can be many. */
const MAX_BEHIND = 1_000;
/** The list of files of a large repository. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;
/** A submodule's own configuration names programs, which its state would run. */
const NO_SUBMODULES = '--ignore-submodules=all';
const SUBMODULE = '160000 ';

/**
 * The files of a local repository whose target branch is checked out. They follow the branch by a
 * git folder of the host: filters that the repository's configuration names do not run.
 */
export class CheckedOut {
  private constructor(private readonly call: GitCall) {}

  /** @returns undefined if the branch is not checked out there */
  static async find(
    local: LocalRepository | undefined,
    ref: string,
    host: Pick<GitCall, 'gitDir' | 'objects'>,
  ): Promise<CheckedOut | undefined> {
    if (local?.workTree === undefined || (await checkedOutBranch(local)) !== ref) return undefined;
    const indexFile = join(local.gitDir, 'index');
    const { workTree } = local;
    // An index of another layout than the host's would be written anew.
    const config = [['index.sparse', 'false'] as const];
    return new CheckedOut({ ...host, workTree, indexFile, cwd: workTree, config });
  }

  /**
   * @param commit the commit of the branch
   * @returns the reason why its files cannot follow, in a sentence; undefined if they can
   */
  async whyNot(commit: string): Promise<string | undefined> {
    if ((await lstat(`${this.call.indexFile}.lock`).catch(() => undefined)) !== undefined) {
      return 'Another git works in the checked-out folder (index.lock)';
    }
    const submodule = await this.submodule();
    if (submodule !== undefined) {
      return `The checked-out folder has a submodule at ${submodule}: it cannot follow`;
    }
    const staged = await this.names([
      'diff-index',
      NO_SUBMODULES,
      '--cached',
      '--name-only',
      '-z',
      commit,
    ]);
    const changed = await this.changed();
    const names = [...new Set([...staged, ...changed])];
    if (names.length === 0) return undefined;
    const shown = names.slice(0, 3).join(', ');
    const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
    return `The checked-out folder has changes that are not committed: ${shown}${more}`;
  }

  /**
   * @returns the reason why a file in the way keeps the files from following
   */
  async whyInTheWay(from: string, to: string): Promise<string | undefined> {
    try {
      await git(['read-tree', '-n', '-m', '-u', from, to], this.call);
      return undefined;
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      return `The checked-out folder cannot follow: ${error.message}`;
    }
  }

  /** Brings the files from one commit to another. @throws GitError */
  async follow(from: string, to: string): Promise<void> {
    await git(['read-tree', '-m', '-u', from, to], this.call);
    await git(['update-index', '-q', '--refresh'], { ...this.call, codes: [1] });
  }

  /**
   * Goes on after a host ended between the push and the end of `follow`. Files that have neither
   * the content of the one commit nor that of the other are of somebody else, and stay.
   */
  async catchUp(to: string): Promise<void> {
    if ((await this.submodule()) !== undefined) return;
    const from = await this.earlier(to);
    if (from === undefined) return;
    const differ = ['diff-tree', NO_SUBMODULES, '-r', '--name-only', '-z', '--no-renames'];
    const between = new Set(await this.names([...differ, from, to]));
    for (const name of await this.changed()) {
      if (!between.has(name) || !(await this.isOf(name, to))) return;
    }
    await git(['read-tree', '--reset', '-u', to], this.call);
  }

  /** The commit before `to` that the index still has. */
  private async earlier(to: string): Promise<string | undefined> {
    const tree = await gitText(['write-tree'], this.call);
    const line = ['log', '--first-parent', `-${MAX_BEHIND}`, '--format=%T %H', to];
    const commits = (await gitText(line, this.call)).split('\n').map((each) => each.split(' '));
    const at = commits.findIndex(([each]) => each === tree);
    return at > 0 ? commits[at]?.[1] : undefined;
  }

  private async isOf(name: string, commit: string): Promise<boolean> {
    const wanted = await gitText(['rev-parse', '--verify', '-q', `${commit}:${name}`], {
      ...this.call,
      codes: [1],
    });
    const path = join(this.call.workTree ?? '', name);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) return wanted === '';
    if (!found.isFile()) return false;
    return (await gitText(['hash-object', `--path=${name}`, '--', path], this.call)) === wanted;
  }

  /** The first submodule of the index. Nothing else of it is looked at. */
  private async submodule(): Promise<string | undefined> {
    const list = ['ls-files', '-z', '--format=%(objectmode) %(path)'];
    const { stdout } = await git(list, { ...this.call, maxBytes: MAX_LIST_BYTES });
    const at = stdout.indexOf(`\0${SUBMODULE}`);
    if (at === -1 && !stdout.subarray(0, SUBMODULE.length).equals(Buffer.from(SUBMODULE))) return;
    const from = at + 1 + SUBMODULE.length;
    return stdout.toString('utf8', from, stdout.indexOf(0, from));
  }

  /** The files that differ from the index. */
  private changed(): Promise<string[]> {
    return this.names(['diff-files', NO_SUBMODULES, '--name-only', '-z']);
  }

  private async names(args: string[]): Promise<string[]> {
    await git(['update-index', '-q', '--refresh'], { ...this.call, codes: [1] });
    const { stdout } = await git(args, { ...this.call, codes: [1] });
    return stdout.toString().split('\0').filter(Boolean);
  }
}
