import type { ForgePlace } from '../domain/place.js';

/** A pull request as the forge has it. */
export interface PullRequest {
  number: number;
  /** The address of its page. */
  url: string;
  state: 'open' | 'closed' | 'merged';
  body: string;
  /** Of its head. A forge can have another name for a branch that is gone: `refs/pull/1/head`. */
  branch: string;
  /** The branch into which it goes. People can change it. */
  target: string;
  headCommit: string;
  /** The commit on the target, once it is merged. */
  mergedCommit: string | null;
  /** Changes with each review and comment. */
  updatedAt: string;
  /** False if something later can still have the same time of change. */
  isSettled: boolean;
}

/** What is said at a pull request. */
export interface Conversation {
  /** Reviews and comments of people, the oldest first. */
  events: ForgeEvent[];
  /** The ids of Drover's own comments. */
  marks: string[];
}

/** Reviews and comments that count, with their times, the oldest first. */
export function oldestFirst(
  said: readonly { at: string | null | undefined; event: ForgeEvent | undefined }[],
): ForgeEvent[] {
  return said
    .map(({ at, event }) => ({ time: Date.parse(at ?? '') || 0, event }))
    .sort((one, other) => one.time - other.time)
    .flatMap(({ event }) => event ?? []);
}

const SETTLED_MS = 5_000;

/**
 * Whether a time of change is so old that no later event has it. Both are of the forge's clock.
 *
 * @param readAt the header `Date` of the answer
 */
export function isSettled(updatedAt: string, readAt: string | null | undefined): boolean {
  return Date.parse(readAt ?? '') - Date.parse(updatedAt) >= SETTLED_MS;
}

export interface NewPullRequest {
  branch: string;
  target: string;
  title: string;
  body: string;
}

/** A remark about a line. */
export interface LineComment {
  path: string;
  line: number;
  side?: 'before' | 'after';
  text: string;
}

/** A review or a comment of a person at the forge. */
export interface ForgeEvent {
  /** Names it among all of the pull request: `review:1`, `comment:1`. */
  id: string;
  /** The person's name at the forge. */
  login: string;
  verdict: 'approved' | 'changes_requested' | 'commented';
  /** The commit that was reviewed. */
  commit: string | null;
  /** The forge itself counts the verdict, because the person can write. */
  isOfficial?: boolean;
  body: string;
  comments: LineComment[];
}

export type StatusState = 'pending' | 'success' | 'failure';

/** A status of a commit that Drover writes. */
export interface CommitStatus {
  state: StatusState;
  /** At most 140 characters. */
  description: string;
  url: string | null;
}

/** A check of a commit that anybody reported. */
export interface ForgeCheck {
  name: string;
  state: StatusState;
  description: string;
}

export interface ForgeChecks {
  /** The latest of each name. */
  all: ForgeCheck[];
  /** Why some of them cannot be read, with the cure, in a sentence. */
  unread?: string;
}

/**
 * `moved`: the head or the target is another commit. `refused`: the forge does not merge it now;
 * with `waitSeconds` that ends by itself.
 */
export type MergeEnd =
  | { kind: 'merged'; commit: string }
  | { kind: 'moved' }
  | { kind: 'refused'; why: string; waitSeconds?: number };

export type MergeMethod = 'merge' | 'squash' | 'rebase';

export interface Merge {
  /** The commit that must be the head. */
  head: string;
  /** The commit of the target on which the head stands. */
  tip: string;
  method: MergeMethod;
  /** Of the commit that the forge makes, if it makes one. */
  message: string;
}

/** What somebody should know of a repository at its forge. */
export interface ForgeFinding {
  about: 'token' | 'branch' | 'merge method' | 'checks' | 'hook';
  isFine: boolean;
  /** A sentence for people, with the cure if it is not fine. */
  message: string;
}

/**
 * A forge as Drover uses it, for one repository. Each method throws ForgeUnavailable when it can
 * succeed later by itself, and ForgeRefusal when a person has to mend something.
 */
export interface Forge {
  /** The open pull request of a branch, or a merged one whose head is the commit. */
  find(branch: string, target: string, head: string): Promise<PullRequest | undefined>;
  /** Opens a pull request. If the branch has one already, it is that one. */
  open(request: NewPullRequest): Promise<PullRequest>;
  get(number: number): Promise<PullRequest>;
  describe(number: number, body: string): Promise<void>;
  close(number: number): Promise<void>;
  comment(number: number, body: string): Promise<void>;
  read(number: number): Promise<Conversation>;
  /**
   * Whether a person can write to the repository. The words of others count for nothing. Undefined:
   * the token cannot see it.
   */
  canWrite(login: string): Promise<boolean | undefined>;
  setStatus(commit: string, status: CommitStatus): Promise<void>;
  checks(commit: string): Promise<ForgeChecks>;
  merge(number: number, merge: Merge): Promise<MergeEnd>;
  /**
   * Tells the forge that a commit of the target is the pull request.
   *
   * @returns false if the forge cannot be told
   */
  noteMerged(number: number, commit: string): Promise<boolean>;
  /** Looks at rights, protection and hooks. It changes nothing. */
  check(wanted: WantedOfForge): Promise<ForgeFinding[]>;
}

/** What a repository of Drover needs of its forge. */
export interface WantedOfForge {
  target: string;
  requiredChecks: readonly string[];
  /** Used where the forge refuses the push of Drover. */
  mergeMethod: Merge['method'];
  /** The address of Drover, at which hooks reach it. */
  publicUrl?: string | null;
}

/** The means of a forge. */
export interface ForgeParts {
  place: ForgePlace;
  token: string;
  fetch: typeof fetch;
}

/** The name of Drover's status of a commit. */
export const STATUS_NAME = 'drover/acceptance';

/** Drover's own comments begin with a mark, and are no comments of people. */
export function markOf(id: string): string {
  return `<!-- drover:${id} -->`;
}

/** The id of a comment of Drover. Undefined: it is of somebody else. */
export function idOfMark(body: string): string | undefined {
  return /^<!-- drover:([\w:-]{1,100}) -->/.exec(body)?.[1];
}
