import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/* What a forge knows of one repository, beside its git. */

export interface Line {
  path: string;
  line: number;
  text: string;
}

export interface Review {
  id: number;
  login: string;
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  body: string;
  commit: string;
  lines: Line[];
}

export interface Pull {
  number: number;
  title: string;
  body: string;
  head: string;
  base: string;
  headSha: string;
  state: 'open' | 'closed';
  merged: string | undefined;
  updatedAt: string;
  reviews: Review[];
  comments: { id: number; login: string; body: string }[];
}

export interface Status {
  name: string;
  state: string;
  description: string;
}

/** An answer that is an error. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const BOT = 'drover-bot';

/** A repository at a forge: pull requests over a bare repository of git. */
export class ForgeModel {
  readonly pulls: Pull[] = [];
  readonly statuses = new Map<string, Status[]>();
  readonly writers = new Set([BOT, 'ada']);
  readonly readers = new Set(['reader']);
  /** Whether the token sees the rights of others. */
  isAdmin = true;
  /** Check runs of commits, which GitHub has beside statuses. */
  readonly runs = new Map<string, Status[]>();
  /** Whether the token can read them. */
  readsRuns = false;
  /** The addresses of its hooks. */
  hooks: string[] = [];
  private ids = 100;

  constructor(
    readonly gitDir: string,
    /** Whether the forge sees by itself that a target contains a head. */
    private readonly seesMerges: boolean,
  ) {}

  git(...args: string[]): string {
    return execFileSync('git', ['-c', 'user.name=Forge', '-c', 'user.email=f@x', ...args], {
      cwd: this.gitDir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  commitOf(branch: string): string | undefined {
    try {
      return this.git('rev-parse', '-q', '--verify', `refs/heads/${branch}`);
    } catch {
      return undefined;
    }
  }

  /** A push of somebody else. */
  moveOn(branch: string): void {
    const ref = `refs/heads/${branch}`;
    this.git('update-ref', ref, this.git('commit-tree', '-p', ref, '-m', 'Other', `${ref}^{tree}`));
  }

  /** Only the forge itself moves the branch from now on. */
  protect(branch: string): void {
    const words = `remote: error: GH006: Protected branch update failed for refs/heads/${branch}.`;
    const script = `#!/bin/sh\nwhile read a b ref; do [ "$ref" != refs/heads/${branch} ] || { echo "${words}" >&2; exit 1; }; done\n`;
    writeFileSync(join(this.gitDir, 'hooks/pre-receive'), script, { mode: 0o755 });
  }

  pull(number: number): Pull {
    this.look();
    const found = this.pulls.find((pull) => pull.number === number);
    if (found === undefined) throw new Refused(404, 'Not Found');
    return found;
  }

  all(): Pull[] {
    this.look();
    return this.pulls;
  }

  open({ head, base, title, body }: Pick<Pull, 'head' | 'base' | 'title' | 'body'>, twice: number) {
    this.look();
    const headSha = this.commitOf(head);
    if (headSha === undefined) throw new Refused(422, `Validation Failed: head ${head} is missing`);
    if (this.pulls.some((pull) => pull.state === 'open' && pull.head === head)) {
      throw new Refused(twice, `A pull request already exists for ${head}`);
    }
    const number = this.pulls.length + 1;
    const pull: Pull = {
      number,
      title,
      body,
      head,
      base,
      headSha,
      state: 'open',
      merged: undefined,
      updatedAt: '',
      reviews: [],
      comments: [],
    };
    this.pulls.push(touch(pull));
    return pull;
  }

  edit(number: number, { body, state }: { body?: string; state?: string }): Pull {
    const pull = this.pull(number);
    if (body !== undefined) pull.body = body;
    if (state === 'closed') pull.state = 'closed';
    return touch(pull);
  }

  comment(number: number, login: string, body: string) {
    const comment = { id: ++this.ids, login, body };
    const pull = this.pull(number);
    pull.comments.push(comment);
    touch(pull);
    return comment;
  }

  review(
    number: number,
    login: string,
    { state, body = '', lines = [] }: Partial<Review> & Pick<Review, 'state'>,
  ): Review {
    const pull = this.pull(number);
    const review = { id: ++this.ids, login, state, body, commit: pull.headSha, lines };
    pull.reviews.push(review);
    touch(pull);
    return review;
  }

  setStatus(commit: string, status: Status): void {
    const others = this.statusesOf(commit).filter(({ name }) => name !== status.name);
    this.statuses.set(commit, [...others, status]);
  }

  statusesOf(commit: string): Status[] {
    return this.statuses.get(commit) ?? [];
  }

  /** Merges as the forge does: a commit on the target that the forge makes itself. */
  merge(number: number, { head, message }: { head?: string; message: string }): string {
    const pull = this.pull(number);
    if (pull.state !== 'open') throw new Refused(405, 'Pull Request is not mergeable');
    if (head !== undefined && head !== pull.headSha) {
      throw new Refused(409, 'Head branch was modified. Review and try the merge again.');
    }
    const base = this.git('rev-parse', `refs/heads/${pull.base}`);
    const tree = this.git('merge-tree', '--write-tree', base, pull.headSha).split('\n')[0] ?? '';
    const commit = this.git('commit-tree', '-p', base, '-m', message, tree);
    this.git('update-ref', `refs/heads/${pull.base}`, commit, base);
    return this.noteMerged(pull, commit);
  }

  /** Moves the target to the head, if the head stands on it. */
  fastForward(number: number, head: string | undefined): string {
    const pull = this.pull(number);
    if (head !== undefined && head !== pull.headSha) throw new Refused(409, 'Head has changed');
    const base = this.git('rev-parse', `refs/heads/${pull.base}`);
    if (!this.contains(pull.headSha, base)) throw new Refused(409, 'Not possible to fast-forward');
    this.git('update-ref', `refs/heads/${pull.base}`, pull.headSha, base);
    return this.noteMerged(pull, pull.headSha);
  }

  noteMerged(pull: Pull, commit: string): string {
    pull.state = 'closed';
    pull.merged = commit;
    touch(pull);
    return commit;
  }

  contains(tip: string, commit: string): boolean {
    try {
      this.git('merge-base', '--is-ancestor', commit, tip);
      return true;
    } catch {
      return false;
    }
  }

  /** Pushes change pull requests. */
  private look(): void {
    for (const pull of this.pulls.filter(({ state }) => state === 'open')) {
      const head = this.commitOf(pull.head);
      if (head === undefined) {
        pull.state = 'closed';
        touch(pull);
        continue;
      }
      if (head !== pull.headSha) {
        pull.headSha = head;
        touch(pull);
      }
      const base = this.commitOf(pull.base) ?? '';
      if (this.seesMerges && this.contains(base, head)) this.noteMerged(pull, head);
    }
  }
}

function touch(pull: Pull): Pull {
  pull.updatedAt = new Date().toISOString().replace(/\.\d+/, '');
  return pull;
}
