import { messageOf } from '#lib/agent-host';
import { gitText, push, readRefs } from '#lib/git';
import { workRef } from './code-host.js';
import type { CodeStart } from './code-start.js';
import { wordsOf } from './commit-words.js';

/** The least time between two snapshots while the session runs. */
const SNAPSHOT_MS = 10_000;
const KEEP_ATTEMPTS = 3;

/** Keeps the unsubmitted files of a session at the repository, in a ref of Drover. */
export class KeptWork {
  /** One snapshot after the other. */
  private working: Promise<unknown> = Promise.resolve();
  private snapshotAt = -Infinity;
  /** The next snapshot while the session runs. */
  private soon: NodeJS.Timeout | undefined;
  /** The commit of the ref. */
  private kept: string | undefined;
  /** The files of the last snapshot. */
  private tree: string | undefined;

  constructor(
    private readonly begin: CodeStart,
    private readonly parts: {
      isLive: () => Promise<boolean>;
      note: (text: string) => void;
      onFiles: (tree: string) => void;
    },
  ) {
    this.kept = begin.kept;
  }

  /** Keeps the files now, or when the least time between two snapshots has passed. Never rejects. */
  keepSoon(): void {
    if (this.soon !== undefined) return;
    const rest = this.snapshotAt + SNAPSHOT_MS - performance.now();
    this.soon = setTimeout(() => this.keepNow(), Math.max(0, rest));
  }

  /** Takes no further snapshot by itself. */
  stop(): void {
    clearTimeout(this.soon);
  }

  /** Resolves when the snapshot that is under way has ended, and no other follows. */
  async settled(): Promise<void> {
    this.stop();
    await this.working;
  }

  private keepNow(): void {
    this.soon = undefined;
    this.snapshotAt = performance.now();
    this.working = this.working
      .then(() => this.keep())
      .catch((error: unknown) => {
        this.parts.note(`The files of the session are not kept: ${messageOf(error)}`);
      });
  }

  /** @throws GitError */
  async keep(): Promise<void> {
    const { repository, run, snapshots, job } = this.begin;
    const words = wordsOf(job, repository.access, 'Work that is not submitted');
    const { commit, isNew } = await snapshots.take(words);
    const tree = await gitText(['rev-parse', `${commit}^{tree}`], run.call);
    // A session that has changed nothing yet has the files of its branch.
    if (isNew || this.tree !== undefined) this.parts.onFiles((this.tree = tree));
    if (!isNew || commit === this.kept) return;
    const name = workRef(job.task.id);
    for (let attempt = 0; attempt < KEEP_ATTEMPTS; attempt += 1) {
      if (!(await this.parts.isLive())) return;
      const refs = [{ name, from: this.kept, to: commit }];
      const end = await repository.reach((remote) => push(run.gitDir, remote, refs));
      if (end.kind === 'done') return this.hasKept(commit);
      if (end.kind === 'refused') {
        return this.parts.note(`The files of the session are not kept: ${end.why}`);
      }
      // An earlier run has moved it while it ended. This one is the live one.
      const found = await repository.reach((remote) => readRefs(remote, [name]));
      this.kept = found.get(name);
    }
  }
  /** A first push can come after the removal of a change that was closed meanwhile. */
  private async hasKept(commit: string): Promise<void> {
    const { repository, run, job } = this.begin;
    const isFirst = this.kept === undefined;
    this.kept = commit;
    if (!isFirst || (await this.parts.isLive().catch(() => true))) return;
    const refs = [{ name: workRef(job.task.id), from: commit, to: undefined }];
    await repository.reach((remote) => push(run.gitDir, remote, refs));
    this.kept = undefined;
  }
}
