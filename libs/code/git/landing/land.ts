import { git, type GitCall, gitSays, gitText } from '../process/git.js';
import { CheckedOut } from '../remote/checked-out.js';
import {
  push,
  type PushedRef,
  type PushEnd,
  type ReachedRemote,
  readRefs,
} from '../remote/remote.js';
import { UnusableRepository } from '../remote/unusable.js';
import { commitOf } from '../repository/folders.js';
import type { Mirror } from '../repository/mirror.js';
import type { CommitWords } from '../work/create-commit.js';
import { integrate, type MergeMethod, treeOf } from './integrate.js';

/** The result of an acceptance that found the commit wanting. */
export interface RedProof {
  commit: string;
  exitCode: number;
  output: string;
  durationMs: number;
}

export interface LandingChange {
  target: string;
  /** The commit that is submitted. */
  head: string;
  /** The commit whose files acceptance has found green, if there is one. */
  proven: string | null;
  /** The commits that hosts were about to push to the target. */
  planned?: readonly string[];
  method: MergeMethod;
  words: CommitWords;
  /**
   * The earliest time of the commit, in seconds since 1970. With it the commit is the same for each
   * host that lands the change on the same tip.
   */
  at?: number;
}

/** `landed`: somebody else made a commit of it. `waits`: it can land later. */
export type TargetEnd =
  | PushEnd
  | { kind: 'landed'; commit: string; remark?: string }
  | ({ kind: 'waits' } & Wait);

export interface Wait {
  /** A sentence for people. */
  reason: string;
  /** The time after which it can go on by itself. */
  waitSeconds?: number;
}

export interface LandingParts {
  mirror: Mirror;
  remote: ReachedRemote;
  /** The host's git folder for the change. It borrows the objects of the mirror. */
  call: GitCall & { gitDir: string };
  /** Proves a commit with its files. Undefined: it is green. */
  accept: (commit: string, tree: string) => Promise<RedProof | undefined>;
  /**
   * Records what is about to be pushed. It fails if the step has another host by now.
   */
  plan: (commit: string) => Promise<unknown>;
  /** Moves the target in place of the plain push. */
  moveTarget?: (
    landing: { commit: string; tip: string },
    push: () => Promise<PushEnd>,
  ) => Promise<TargetEnd>;
  signal?: AbortSignal;
}

export type Landed =
  | { kind: 'merged'; commit: string; remark?: string }
  | { kind: 'red'; proof: RedProof }
  | { kind: 'conflict'; files: string[]; text: string }
  /** It can land later. */
  | ({ kind: 'blocked' } & Wait);

/** The target can move while a change is proven. After so many times other changes come first. */
const MAX_ROUNDS = 5;

/**
 * Lands a change on its target. Whoever calls it again after an end at any point gets one effect:
 * the target moves only from the commit on which the change was proven, and a landing that took
 * place is found again.
 *
 * @throws GitError, UnusableRepository, and the errors of `accept` and `plan`
 */
export async function land(change: LandingChange, parts: LandingParts): Promise<Landed> {
  const { target } = change;
  const { mirror, remote, call, signal } = parts;
  const ref = `refs/heads/${target}`;
  const planned = [...(change.planned ?? [])];
  let proven: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    signal?.throwIfAborted();
    const known = round === 0 ? treeOrNone(change.proven, call) : proven;
    [proven] = await Promise.all([known, mirror.fetch(remote, { signal })]);
    const tip = await mirror.tip(target);
    const checkedOut = await CheckedOut.find(remote.local, ref, call);
    const landed = await firstWithin(tip, planned, call);
    if (landed !== undefined) {
      if (tip === landed) await checkedOut?.catchUp(landed);
      return { kind: 'merged', commit: landed };
    }
    const words = await timed(change, tip, call);
    const result = await integrate({ ...change, words, onto: tip }, call);
    if (result.kind === 'conflict') return result;
    if (result.kind === 'same') {
      return { kind: 'merged', commit: tip };
    }
    const { commit, tree } = result;
    const why = await whyBlocked(checkedOut, tip, commit);
    if (why !== undefined) return { kind: 'blocked', reason: why };
    if (tree !== proven) {
      const proof = await parts.accept(commit, tree);
      if (proof !== undefined) return { kind: 'red', proof };
      proven = tree;
    }
    planned.push(commit);
    await parts.plan(commit);
    const refs = [{ name: ref, from: tip, to: commit }];
    const plain = () => push(call.gitDir, remote, refs, { signal });
    const end = await (parts.moveTarget?.({ commit, tip }, plain) ?? plain());
    if (end.kind === 'landed') return { ...end, kind: 'merged' };
    if (end.kind === 'waits') return { ...end, kind: 'blocked' };
    if (end.kind === 'refused') {
      return { kind: 'blocked', reason: `The repository refused the push: ${end.why}` };
    }
    if (end.kind === 'moved') continue;
    await checkedOut?.follow(tip, commit);
    return { kind: 'merged', commit };
  }
  return { kind: 'blocked', reason: `The branch ${target} moves faster than acceptance takes` };
}

/** A commit is not earlier than its parent. */
async function timed(
  { words, at }: LandingChange,
  tip: string,
  call: GitCall,
): Promise<CommitWords> {
  if (at === undefined) return words;
  const before = Number(await gitText(['log', '-1', '--format=%ct', tip], call));
  return { ...words, date: `${Math.max(Math.ceil(at), before)} +0000` };
}

/**
 * The reason why a commit of a forge is not the proven one, in a sentence. Undefined: it has its
 * files, on top of the commit with which it was proven.
 *
 * @throws GitError
 */
export async function whyUnproven(
  commit: string,
  { proven, tip }: { proven: string; tip: string },
  call: GitCall,
): Promise<string | undefined> {
  // A rebase at the forge makes as many commits as the proven one has on the tip.
  const count = await gitText(['rev-list', '--first-parent', '--count', `${tip}..${proven}`], call);
  const isOnTip = (await commitOf(`${commit}~${count}`, call)) === tip;
  if (isOnTip && (await treeOf(commit, call)) === (await treeOf(proven, call))) return undefined;
  return 'The target moved while the forge merged it: acceptance has not seen the result';
}

async function whyBlocked(
  checkedOut: CheckedOut | undefined,
  tip: string,
  commit: string,
): Promise<string | undefined> {
  if (checkedOut === undefined) return undefined;
  return (await checkedOut.whyNot(tip)) ?? (await checkedOut.whyInTheWay(tip, commit));
}

async function treeOrNone(commit: string | null, call: GitCall): Promise<string | undefined> {
  if (commit === null) return undefined;
  const { exitCode, stdout } = await git(
    ['rev-parse', '--verify', '-q', '--end-of-options', `${commit}^{tree}`],
    { ...call, codes: [1, 128] },
  );
  return exitCode === 0 ? stdout.toString().trim() : undefined;
}

/**
 * The first of the planned commits that is on the target by now.
 *
 * @throws GitError, UnusableRepository
 */
export async function findLanded(
  { target, planned }: { target: string; planned: readonly string[] },
  { mirror, remote, call, signal }: Omit<LandingParts, 'accept' | 'plan'>,
): Promise<string | undefined> {
  if (planned.length === 0) return undefined;
  await mirror.fetch(remote, { signal });
  // Somebody can have removed the target of a change that was cancelled.
  const tip = await commitOf(`refs/heads/${target}`, mirror.call);
  if (tip === undefined) return undefined;
  const landed = await firstWithin(tip, planned, call);
  if (landed === tip) {
    await (await CheckedOut.find(remote.local, `refs/heads/${target}`, call))?.catchUp(tip);
  }
  return landed;
}

async function firstWithin(
  tip: string,
  commits: readonly string[],
  call: GitCall,
): Promise<string | undefined> {
  for (const commit of commits) if (await contains(tip, commit, call)) return commit;
  return undefined;
}

async function contains(tip: string, commit: string, call: GitCall): Promise<boolean> {
  if ((await commitOf(commit, call)) === undefined) return false;
  return gitSays(['merge-base', '--is-ancestor', commit, tip], call);
}

/** The refs of a change at the repository, by their full names. */
export interface ChangeRefs {
  /**
   * It is removed only at the commits `at`, or at that of `pushed`: else somebody has moved it.
   * `mustGo`: it is a failure that the repository keeps it.
   */
  branch?: { name: string; at: readonly string[]; mustGo: boolean };
  /** The ref of Drover with the commit that a run has pushed to the branch. */
  pushed: string;
  /** Further refs of Drover. */
  others: readonly string[];
}

/** A ref can move between the look and its removal. */
const REMOVAL_ATTEMPTS = 3;

/**
 * Removes refs of a change at the repository.
 *
 * @throws GitError, UnusableRepository for a branch that stays and must go
 */
export async function removeRefs(
  gitDir: string,
  remote: ReachedRemote,
  { branch, pushed, others }: ChangeRefs,
  signal?: AbortSignal,
): Promise<void> {
  const names = [...(branch === undefined ? [] : [branch.name]), pushed, ...others];
  for (let attempt = 0; attempt < REMOVAL_ATTEMPTS; attempt += 1) {
    const found = await readRefs(remote, names, signal);
    const isOwn = (name: string, commit: string): boolean => {
      if (name !== branch?.name) return true;
      return branch.at.includes(commit) || commit === found.get(pushed);
    };
    // The branch comes first: without `pushed` nobody would know that it is one's own.
    const own = names.flatMap((name): PushedRef[] => {
      const commit = found.get(name);
      const isLeft = commit === undefined || !isOwn(name, commit);
      return isLeft ? [] : [{ name, from: commit, to: undefined }];
    });
    let hasMoved = false;
    for (const ref of own) {
      const end = await push(gitDir, remote, [ref], { signal });
      if (end.kind === 'refused' && branch?.mustGo === true && ref.name === branch.name) {
        const name = ref.name.replace('refs/heads/', '');
        throw new UnusableRepository(
          `The repository refused to remove the branch ${name}: ${end.why}`,
        );
      }
      hasMoved = end.kind === 'moved';
      if (hasMoved) break;
    }
    if (!hasMoved) return;
  }
  if (branch?.mustGo === true) {
    const name = branch.name.replace('refs/heads/', '');
    throw new UnusableRepository(`The branch ${name} moves, or is locked, at each removal`);
  }
}
