import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOwned } from '#lib/session-runtime';
import { git, type GitCall, gitText } from '../process/git.js';
import { commitOf, makeBare } from './folders.js';
import type { Mirror } from './mirror.js';

/** The largest push of a session, in MiB. */
export const MAX_PUSH_MB = 256;

export interface RunBranch {
  /** The name of the run's own branch. */
  name: string;
  /** The commit of it at the remote, if it exists there. */
  commit: string | undefined;
}

/** The beginning of an output, with the hash of a commit. */
const FIRST_LINE = { maxBytes: 100, cuts: true };

/**
 * The repository that one run sees as its remote. It borrows the objects of the mirror, and receives
 * the pushes of the run.
 */
export class RunRepository {
  readonly gitDir: string;

  constructor(
    readonly folder: string,
    private readonly mirror: Mirror,
    readonly branch: string,
  ) {
    this.gitDir = join(folder, 'run.git');
  }

  get ref(): string {
    return `refs/heads/${this.branch}`;
  }

  get objects(): string {
    return join(this.gitDir, 'objects');
  }

  /** The folders with all objects of it. */
  get allObjects(): string[] {
    return [this.objects, this.mirror.objects];
  }

  get call(): GitCall {
    return { gitDir: this.gitDir };
  }

  /** @throws GitError */
  async make(branch: string | undefined, maxPushMb = MAX_PUSH_MB): Promise<void> {
    await makeOwned(this.folder);
    await rm(this.gitDir, { recursive: true, force: true });
    await makeBare(this.gitDir, [this.mirror.objects]);
    for (const [name, value] of [
      ['http.receivepack', 'true'],
      ['receive.maxInputSize', String(maxPushMb * 1024 * 1024)],
      ['receive.fsckObjects', 'true'],
      ['receive.denyDeletes', 'true'],
    ] as const) {
      await git(['config', name, value], this.call);
    }
    await this.refresh();
    if (branch !== undefined) await this.set(branch);
  }

  /** Takes the branches and tags of the mirror, except the run's own branch. @throws GitError */
  async refresh(): Promise<void> {
    const specs = ['+refs/heads/*:refs/heads/*', `^${this.ref}`, '+refs/tags/*:refs/tags/*'];
    const quiet = ['--no-auto-maintenance', '--no-write-fetch-head', '--no-tags', '-q'];
    await git(['fetch', ...quiet, '--', this.mirror.gitDir, ...specs], {
      ...this.call,
      protocols: ['file'],
    });
  }

  /** The commit of the run's branch. */
  tip(): Promise<string | undefined> {
    return commitOf(this.ref, this.call);
  }

  /**
   * The latest commit that adds or changes a file below a path, of those that only the run's branch has.
   *
   * @param from a commit whose history does not count
   * @returns '' if there is none
   * @throws GitError
   */
  async newCommitWith(path: string, from?: string): Promise<string> {
    const known = [`--exclude=${this.branch}`, '--branches', ...(from === undefined ? [] : [from])];
    const range = ['-1', '--full-history', this.ref, '--not', ...known];
    // A commit that only removes files there has none. Only output of a diff heeds the filter.
    const shown = ['--diff-filter=d', '--diff-merges=separate', '--name-only', '--format=%H'];
    const args = ['log', ...shown, ...range, '--', `:(top,literal)${path}`];
    const [commit = ''] = (await gitText(args, { ...this.call, ...FIRST_LINE })).split('\n');
    return commit;
  }

  /** @throws GitError if the branch is no longer at `from` */
  async set(commit: string, from?: string): Promise<void> {
    await git(['update-ref', this.ref, commit, ...(from === undefined ? [] : [from])], this.call);
  }

  /** Brings the branch back to its commit before a push. @throws GitError */
  async undo(commit: string | undefined): Promise<void> {
    if (commit !== undefined) await this.set(commit);
    else await git(['update-ref', '-d', this.ref], this.call);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
