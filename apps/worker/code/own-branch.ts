import { messageOf } from '#lib/agent-host';
import { type Admission, GitError, push, type PushEnd, removeRefs } from '#lib/git';
import { pushedRef } from './code-host.js';
import type { CodeStart } from './code-start.js';

/** The branch of a run at the repository. */
export class OwnBranch {
  /** Its commit, if it exists there. */
  commit: string | undefined;
  private recorded: string | undefined;

  constructor(
    private readonly begin: CodeStart,
    private readonly parts: { admit: () => Promise<Admission>; note: (text: string) => void },
  ) {
    this.commit = begin.atRemote.branch;
    this.recorded = begin.atRemote.pushed;
  }

  /**
   * Pushes a commit, if the run is live.
   *
   * @throws GitError, and the errors of `admit` before the push
   */
  async push(to: string): Promise<Admission> {
    const { admit } = this.parts;
    const admission = await admit();
    if (!admission.admitted) return admission;
    const isNew = this.commit === undefined;
    const end = await this.pushWithRecord(to);
    if (end.kind === 'moved') {
      const why = 'Another run has moved the branch meanwhile: nothing was changed';
      return { admitted: false, why };
    }
    if (end.kind === 'refused') return { admitted: false, why: end.why };
    this.commit = to;
    if (!isNew) return admission;
    // The change can be closed meanwhile, and its refs removed just before the push.
    const still = await admit().catch(() => admission);
    if (!still.admitted) await this.takeBack(to);
    return still;
  }

  /** With the record, a host that closes the change knows that the branch is its own. */
  private async pushWithRecord(to: string): Promise<PushEnd> {
    const { run, repository, job } = this.begin;
    const branch = { name: run.ref, from: this.commit, to };
    const record = { name: pushedRef(job.task.id), from: this.recorded, to };
    const pushed = (refs: (typeof branch)[]) =>
      repository.reach((remote) => push(run.gitDir, remote, refs));
    const end = await pushed([branch, record]).catch((error: unknown): PushEnd => {
      if (!(error instanceof GitError)) throw error;
      return { kind: 'refused', why: error.message };
    });
    if (end.kind === 'done') this.recorded = to;
    if (end.kind !== 'refused') return end;
    const alone = await pushed([branch]);
    if (alone.kind === 'done') {
      this.parts.note(`The branch stays if the change is closed: ${end.why}`);
    }
    return alone;
  }

  private async takeBack(to: string): Promise<void> {
    const { run, repository, job } = this.begin;
    this.commit = undefined;
    this.recorded = undefined;
    const refs = {
      branch: { name: run.ref, at: [to], mustGo: true },
      pushed: pushedRef(job.task.id),
      others: [],
    };
    await repository
      .reach((remote) => removeRefs(run.gitDir, remote, refs))
      .catch((error: unknown) => {
        this.parts.note(`The branch is not removed: ${messageOf(error)}`);
      });
  }
}
