import { type Log, messageOf, pause } from '#lib/agent-host';
import {
  type End,
  finish,
  type Forge,
  ForgeRefusal,
  type ForgeLimits,
  ForgeUnavailable,
  openForge,
  type PullRequest,
  refuseOtherTarget,
  STATUS_NAME,
  synchronise,
  unlessMissing,
  whyUnchecked,
} from '#lib/forges';
import {
  push,
  type PushEnd,
  type ReachedRemote,
  readRefs,
  type TargetEnd,
  whyUnproven,
} from '#lib/git';
import type { DroverApi } from '../api/drover-api.js';
import type { HostRepository } from './code-host.js';
import type { FoundPullRequest, StepReport, StepWork } from './types.js';

type Report = Omit<StepReport, 'generation'>;

export interface PullRequestParts {
  api: Pick<DroverApi, 'reportPullRequest'>;
  limits: ForgeLimits;
  log: Log;
  signal: AbortSignal;
}

/** Checks that are under way are looked at again after this time or later, unless a hook tells. */
const CHECKS_SECONDS = 60;
const MAX_LINES = 500;

/** The pull request of a change in one step of a host. */
export class PullRequestStep {
  private number: number | null;

  private constructor(
    private readonly work: StepWork,
    private readonly wanted: NonNullable<StepWork['pullRequest']>,
    private readonly forge: Forge,
    private readonly parts: PullRequestParts,
  ) {
    this.number = wanted.number;
  }

  /** @returns undefined if the repository has no forge, or nothing is submitted */
  static of(work: StepWork, parts: PullRequestParts): PullRequestStep | undefined {
    const { pullRequest, repository } = work;
    if (!pullRequest) return undefined;
    const forge = openForge(repository, parts.limits, parts.signal);
    return forge && new PullRequestStep(work, pullRequest, forge, parts);
  }

  /**
   * Brings both sides together.
   *
   * @returns false if the change has moved by that, so that this host has no step any more
   * @throws ForgeUnavailable, ForgeRefusal, and the errors of the server
   */
  async synchronise(): Promise<boolean> {
    const { pullRequest, events, seen } = await synchronise(this.forge, this.wish, {
      record: (found) => this.record(found, {}),
      holds: () => this.parts.signal.throwIfAborted(),
    });
    this.number = pullRequest.number;
    const isNews = events.length > 0 || pullRequest.state !== 'open' || seen !== this.wanted.seen;
    if (!isNews) return true;
    const said = events.map(({ id, login, verdict, commit, comments, body }) => ({
      id,
      login,
      verdict,
      body: storable(body, 16_000),
      ...(commit !== null && { commit }),
      comments: comments.slice(0, MAX_LINES).map((line) => ({
        ...line,
        path: storable(line.path, 4_096) || '?',
        text: storable(line.text, 4_000) || '(empty)',
      })),
    }));
    const { state } = await this.record(pullRequest, { seen, said });
    return state === this.work.change.state;
  }

  /** Before a proof: a forge that fails is no reason to prove nothing. */
  async synchroniseIfPossible(): Promise<boolean> {
    try {
      return await this.synchronise();
    } catch (error) {
      if (!(error instanceof ForgeUnavailable) && !(error instanceof ForgeRefusal)) throw error;
      const changeId = this.work.change.id;
      this.parts.log.warn('Pull request not synchronised', { changeId, reason: error.message });
      return true;
    }
  }

  /** @returns the report of a change whose required checks keep it from its target */
  async whyUnchecked(): Promise<Report | undefined> {
    const { requiredChecks } = this.work.repository;
    if (requiredChecks.length === 0) return undefined;
    const checks = await this.forge.checks(this.wish.headCommit);
    const unchecked = whyUnchecked(requiredChecks, checks);
    if (unchecked === undefined) return undefined;
    const { reason, isFailed } = unchecked;
    return isFailed
      ? { outcome: 'blocked', reason }
      : { outcome: 'waits', reason, waitSeconds: CHECKS_SECONDS };
  }

  /**
   * Moves the target to a commit that is the head of the pull request first, so that the forge sees
   * it merged. Where the forge refuses the push, it merges the pull request itself.
   */
  async moveTarget(
    { commit, tip }: { commit: string; tip: string },
    plain: () => Promise<PushEnd>,
    {
      repository,
      remote,
      gitDir,
    }: { repository: HostRepository; remote: ReachedRemote; gitDir: string },
  ): Promise<TargetEnd> {
    const { signal } = this.parts;
    const moved = await this.moveHead(commit, { remote, gitDir });
    if (moved.kind !== 'done') return moved;
    await this.approve(commit);
    signal.throwIfAborted();
    const end = await plain();
    if (end.kind !== 'refused') return end;
    signal.throwIfAborted();
    const number = this.number ?? 0;
    refuseOtherTarget(await this.forge.get(number), this.work.change.target);
    const { mergeMethod: method } = this.work.repository;
    const merge = { head: commit, tip, method, message: this.work.message };
    const merged = await this.forge.merge(number, merge);
    if (merged.kind === 'moved') return merged;
    if (merged.kind === 'refused') {
      const { why, ...rest } = merged;
      const reason = `The forge does not merge it (${why}), and refused the push: ${end.why}`;
      return { ...rest, kind: 'waits', reason };
    }
    await repository.mirror.fetch(remote, { signal });
    const remark = await whyUnproven(merged.commit, { proven: commit, tip }, { gitDir });
    return { kind: 'landed', commit: merged.commit, ...(remark !== undefined && { remark }) };
  }

  /** The commit on the target, if the forge has merged the pull request. */
  async mergedCommit(): Promise<string | undefined> {
    if (this.number === null) return undefined;
    const found = await this.forge.get(this.number).catch(unlessMissing);
    if (found === undefined) return undefined;
    const { branch, target } = this.work.change;
    // At another forge the number can be another one's.
    const isOwn = found.branch === branch || found.branch.startsWith('refs/pull/');
    const isMerged = found.state === 'merged' && isOwn && found.target === target;
    return isMerged ? (found.mergedCommit ?? undefined) : undefined;
  }

  /** The end of a change, before its branch is removed. */
  async finish(): Promise<void> {
    const { state, mergedCommit } = this.work.change;
    const { signal } = this.parts;
    const end: End =
      state === 'MERGED' ? { state: 'merged', commit: mergedCommit ?? '' } : { state: 'closed' };
    await finish(this.forge, this.wish, {
      end,
      holds: () => signal.throwIfAborted(),
      pause: (ms) => pause(ms, signal),
    });
  }

  /** Commits of people on the branch would be lost, so they stay. */
  private async moveHead(
    commit: string,
    { remote, gitDir }: { remote: ReachedRemote; gitDir: string },
  ): Promise<TargetEnd> {
    const { branch, headCommit } = this.wish;
    const own = [headCommit, ...this.work.change.landingCommits];
    const name = `refs/heads/${branch}`;
    const { signal } = this.parts;
    const from = (await readRefs(remote, [name], signal)).get(name);
    if (from === commit) return { kind: 'done' };
    if (from !== undefined && !own.includes(from)) {
      const what = `The branch ${branch} has commits that are not submitted`;
      return {
        kind: 'waits',
        reason: `${what}: request changes, so that its agent goes on with them`,
      };
    }
    return push(gitDir, remote, [{ name, from, to: commit }], { signal });
  }

  /** Rules of the forge can require Drover's status for each head. */
  private async approve(commit: string): Promise<void> {
    const { all } = await this.forge.checks(commit);
    if (all.some(({ name, state }) => name === STATUS_NAME && state === 'success')) return;
    const { url } = this.wanted.status;
    await this.forge.setStatus(commit, {
      state: 'success',
      description: 'Acceptance succeeded',
      url,
    });
  }

  private get wish() {
    const { branch, headCommit, target } = this.work.change;
    const { wanted, number } = this;
    return { ...wanted, number, target, branch: branch ?? '', headCommit: headCommit ?? '' };
  }

  private record(
    { number, url, state, mergedCommit }: PullRequest,
    more: Partial<Pick<FoundPullRequest, 'seen' | 'said'>>,
  ) {
    const { changeId, generation } = this.work.step;
    const { forge } = this.work.repository;
    return this.parts.api.reportPullRequest(changeId, {
      generation,
      forge: forge as 'github',
      number,
      url,
      state,
      ...(mergedCommit !== null && { mergedCommit }),
      ...more,
    });
  }
}

/** A step that waits for a forge. Undefined: the error is another one. */
export function reportOfForge(error: unknown, { step, change }: StepWork): Report | undefined {
  if (error instanceof ForgeRefusal) {
    // A blocked change is not on its target. Without its forge nobody can say so of a planned one.
    const isUnclear = step.kind === 'land' && change.landingCommits.length > 0;
    return { outcome: isUnclear ? 'failed' : 'blocked', reason: messageOf(error) };
  }
  if (!(error instanceof ForgeUnavailable)) return undefined;
  const { message: reason, waitSeconds } = error;
  const wait = { reason, ...(waitSeconds !== undefined && { waitSeconds }) };
  if (step.kind !== 'sync') return { outcome: 'waits', ...wait };
  // Nobody has to hear of a synchronisation that comes later.
  return { outcome: waitSeconds === undefined ? 'failed' : 'blocked', ...wait };
}

/** Postgres cannot store NUL and lone surrogates. */
function storable(text: string, max: number): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD').slice(0, max).toWellFormed();
}
