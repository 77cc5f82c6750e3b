import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeBare, Mirror, type ReachedRemote, type Remote, whyNoGit, withRemote } from '#lib/git';
import type { Isolation } from '#lib/agent-host';
import {
  type Drivers,
  makeOwned,
  removeTree,
  type RuntimeDriver,
  type SessionUser,
} from '#lib/session-runtime';
import type { RepositoryAccess } from './types.js';

/** The capability of a worker that can work on code. */
export const GIT = 'git';
/** The artifact with the diff of a change. Reviewers read it, so only a host stores it. */
export const DIFF = 'change.diff';

/** The file of a repository's folder whose time is that of the last use. */
export const USED = 'used';

export interface CodeHostOptions {
  /** The folder of all repositories on this host. Only its user can enter it. */
  folder: string;
  /** The folders whose repositories can be remotes. */
  roots: readonly string[];
  workspaceId: string | undefined;
  isolation: Pick<Isolation, 'sandbox' | 'accounts'>;
  drivers: Drivers;
  /** The folder of the sessions. */
  sessions: string;
  /** The folder with the owners of scripts that run. */
  scripts: string;
  /** The name of this worker. */
  worker: string;
  /** Writes views of runs into their working folders (`.worker-state`). */
  writesState: boolean;
  /** The days without use after which copies of repositories and results of setups are removed. */
  keepDays: number;
}

/** The means of this host for work on code. */
export class CodeHost {
  constructor(readonly options: CodeHostOptions) {}

  /** @returns the reason why this machine cannot work on code; undefined if it can */
  static async whyNot({ sandbox }: Pick<Isolation, 'sandbox'>): Promise<string | undefined> {
    return sandbox === undefined ? 'there is no sandbox' : whyNoGit();
  }

  get driver(): RuntimeDriver {
    return this.options.drivers.choose('process', 'change');
  }

  get scripts(): string {
    return this.options.scripts;
  }

  /** The program of jails. */
  get program() {
    const { sandbox } = this.options.isolation;
    if (sandbox === undefined) throw new Error('Work on code needs a sandbox');
    return sandbox.program;
  }

  /** The user of the workspace's sessions, if it is not the user of this process. */
  get user(): SessionUser | undefined {
    const { isolation, workspaceId } = this.options;
    return isolation.accounts?.(workspaceId);
  }

  /** The working folder of a session on this host. */
  workOf(sessionId: string): string {
    return join(this.options.sessions, sessionId, 'work');
  }

  /** @throws Error if its folder cannot be made, and the reason of the signal */
  async repository(access: RepositoryAccess, signal?: AbortSignal): Promise<HostRepository> {
    const { folder, workspaceId = 'none', roots } = this.options;
    const own = join(folder, workspaceId, access.id);
    // Before the lock of the mirror: a folder that was used lately is not removed.
    await mkdir(own, { recursive: true });
    await writeFile(join(own, USED), '');
    return new HostRepository(own, await Mirror.open(own, signal), access, roots);
  }
}

/** One repository on this host. */
export class HostRepository {
  constructor(
    readonly folder: string,
    readonly mirror: Mirror,
    readonly access: RepositoryAccess,
    private readonly roots: readonly string[],
  ) {}

  /** @throws UnusableRepository, and the errors of `work` */
  reach<T>(work: (remote: ReachedRemote) => Promise<T>): Promise<T> {
    const { url, credentials } = this.access;
    return withRemote({ url, credentials: credentials as Remote['credentials'] }, this.roots, work);
  }

  /** @throws GitError, UnusableRepository */
  fetch(refs: readonly string[] = [], signal?: AbortSignal): Promise<void> {
    return this.reach((remote) => this.mirror.fetch(remote, { refs, signal }));
  }

  /**
   * A git folder of the host for one piece of work, which borrows the mirror's objects.
   *
   * @param work `keep` keeps the folder until a promise has settled, also after the work
   */
  async withGitDir<T>(
    name: string,
    work: (gitDir: string, keep: (until: Promise<unknown>) => void) => Promise<T>,
  ): Promise<T> {
    let kept: Promise<unknown> | undefined;
    const own = join(this.folder, 'steps', name);
    const gitDir = join(own, 'step.git');
    await removeTree(own);
    await makeOwned(own);
    await makeBare(gitDir, [this.mirror.objects]);
    try {
      return await work(gitDir, (until) => (kept = Promise.allSettled([kept, until])));
    } finally {
      if (kept === undefined) await removeTree(own);
      else void kept.then(() => removeTree(own)).catch(() => undefined);
    }
  }
}

/** The ref with the state of a change between two runs, which is not submitted yet. */
export function workRef(taskId: string): string {
  return `refs/drover/work/${taskId}`;
}

/** The ref with the commit that a run has pushed to the branch of a change. */
export function pushedRef(taskId: string): string {
  return `refs/drover/pushed/${taskId}`;
}
