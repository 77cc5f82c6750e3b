import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git, type GitCall } from '../process/git.js';
import { type ReachedRemote } from '../remote/remote.js';
import { UnusableRepository } from '../remote/unusable.js';
import { withLock } from './folder-lock.js';
import { commitOf, makeBare } from './folders.js';

/** With more packs than this, they become one. */
const MAX_PACKS = 40;
const OWN_REFS = 'refs/drover';
/** The time for a first copy: git keeps nothing of a fetch that is broken off. */
const COPY_MS = 2 * 3_600_000;

/**
 * The copy of a repository on this host. Runs borrow its objects, so it never removes one. It
 * belongs to one workspace.
 */
export class Mirror {
  readonly gitDir: string;

  private constructor(private readonly folder: string) {
    this.gitDir = join(folder, 'mirror.git');
  }

  /** @param folder the folder of the repository on this host. It is made if it is missing. */
  static async open(folder: string, signal?: AbortSignal): Promise<Mirror> {
    const mirror = new Mirror(folder);
    await mirror.locked(async () => {
      if (existsSync(mirror.gitDir)) return;
      const draft = join(folder, 'mirror.new');
      await rm(draft, { recursive: true, force: true });
      await makeBare(draft);
      await rename(draft, mirror.gitDir);
    }, signal);
    return mirror;
  }

  get objects(): string {
    return join(this.gitDir, 'objects');
  }

  /** The most of each call that reads this mirror. */
  get call(): GitCall {
    return { gitDir: this.gitDir };
  }

  /**
   * Brings all branches and tags up to date.
   *
   * @param refs further refs of Drover that may exist at the remote, by their full names
   * @throws GitError
   */
  async fetch(
    { url, call, reading }: ReachedRemote,
    { refs = [], signal }: { refs?: readonly string[]; signal?: AbortSignal } = {},
  ): Promise<void> {
    const own = refs.filter((name) => name.startsWith(`${OWN_REFS}/`));
    const specs = ['heads', 'tags'].map((kind) => `+refs/${kind}/*:refs/${kind}/*`);
    // A ref that is missing is no failure if its name is a pattern.
    const patterns = own.map((name) => `+${name}*:${name}*`);
    const quiet = ['--no-auto-maintenance', '--no-write-fetch-head', '--no-tags', '--prune', '-q'];
    await this.locked(async () => {
      await git(
        [
          'fetch',
          ...quiet,
          '--no-recurse-submodules',
          ...reading,
          '--',
          url,
          ...specs,
          ...patterns,
        ],
        {
          ...call,
          ...((await this.isCopied()) ? {} : { timeoutMs: COPY_MS }),
          gitDir: this.gitDir,
          signal,
        },
      );
      await this.maintain();
    }, signal);
  }

  /** True after the first fetch that brought a branch. */
  private async isCopied(): Promise<boolean> {
    if (existsSync(join(this.gitDir, 'packed-refs'))) return true;
    return (await readdir(join(this.gitDir, 'refs', 'heads'))).length > 0;
  }

  /**
   * The commit of a branch.
   *
   * @throws UnusableRepository if there is no such branch
   */
  async tip(branch: string): Promise<string> {
    const commit = await commitOf(`refs/heads/${branch}`, this.call);
    if (commit !== undefined) return commit;
    throw new UnusableRepository(
      `The repository has no branch ${branch}: push a first commit, or name another branch`,
    );
  }

  /** Files of packs that git has open stay readable, and no object is removed. */
  private async maintain(): Promise<void> {
    const packs = await readdir(join(this.objects, 'pack')).catch(() => []);
    if (packs.filter((name) => name.endsWith('.pack')).length <= MAX_PACKS) return;
    await git(['repack', '-a', '-d', '-k', '-q'], this.call);
    await git(['pack-refs', '--all'], this.call);
  }

  /** Works on the folder of a repository while nobody opens or fetches its mirror. */
  static whileLocked<T>(folder: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return withLock(join(folder, 'mirror.lock'), work, signal);
  }

  private locked<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return Mirror.whileLocked(this.folder, work, signal);
  }
}
