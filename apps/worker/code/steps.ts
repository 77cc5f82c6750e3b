import {
  Failures,
  hasCode,
  isCurable,
  type Log,
  messageOf,
  pause,
  retrying,
} from '#lib/agent-host';
import {
  commitOf,
  findLanded,
  gitText,
  GitError,
  land,
  type Landed,
  mergeBase,
  type RedProof,
  removeRefs,
  RemoteUnavailable,
  UnusableRepository,
  type Wait,
} from '#lib/git';
import { ForgeLimits } from '#lib/forges';
import type { DroverApi } from '../api/drover-api.js';
import { checkRepository } from './check-repository.js';
import { type CodeHost, type HostRepository, pushedRef, workRef } from './code-host.js';
import { type Ahead, ProofsAhead } from './proof-ahead.js';
import { hasAcceptance, prove, whyRefused } from './prove.js';
import { PullRequestStep, reportOfForge } from './pull-request-step.js';
import { StepLease } from './step-lease.js';
import type { CheckWork, Finding, StepReport, StepWork } from './types.js';

export interface StepsParts {
  host: CodeHost;
  api: Pick<
    DroverApi,
    | 'claimStep'
    | 'renewStep'
    | 'renewCheck'
    | 'releaseCheck'
    | 'reportCheck'
    | 'planLanding'
    | 'reportNotLanded'
    | 'reportPullRequest'
    | 'reportStep'
  >;
  log: Log;
}

type Report = Omit<StepReport, 'generation'>;

interface WithPullRequest {
  gitDir: string;
  signal: AbortSignal;
  pullRequest: PullRequestStep | undefined;
}

/** The steps of this host at once: a long proof does not keep changes of others from landing. */
const PARALLEL = 2;
const WAIT_SECONDS = 25;
/** The time to give a step back while the worker stops. */
const GIVE_BACK_MS = 5_000;
const NOBODY = { name: 'Drover', email: 'drover@drover.invalid' };

/**
 * The steps of changes that this host executes: proof, landing, removal of branches. The server
 * gives them with a lease, so a step of a host that ended is another host's.
 */
export class Steps {
  private readonly stopping = new AbortController();
  /** Aborts when there is no more time to give steps back. */
  private readonly givenBack = new AbortController();
  private readonly loops: Promise<void>[] = [];
  private readonly limits = new ForgeLimits();
  private readonly ahead: ProofsAhead;

  constructor(private readonly parts: StepsParts) {
    this.ahead = new ProofsAhead(parts.host);
  }

  start(): void {
    for (let count = 0; count < PARALLEL; count += 1) this.loops.push(this.loop());
  }

  /** Gives the steps that are under way back. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const timer = setTimeout(() => this.givenBack.abort(), GIVE_BACK_MS);
    await Promise.all(this.loops);
    await this.ahead.end();
    clearTimeout(timer);
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    const failures = new Failures('change steps', this.parts.log);
    while (!signal.aborted) {
      try {
        const work = await this.parts.api.claimStep(WAIT_SECONDS, signal);
        failures.end();
        if (work === undefined) continue;
        if ('check' in work) await this.check(work);
        else await this.execute(work);
      } catch (error) {
        if (!signal.aborted) await pause(failures.add(error), signal);
      }
    }
  }

  /** A check is given back when the worker stops. */
  private async check({ check, repository, publicUrl }: CheckWork): Promise<void> {
    const { host, api, log } = this.parts;
    const { repositoryId, generation } = check;
    const lease = new StepLease(() => this.renewCheck(check));
    // From its first renewal another host need not wait long for the end of the lease.
    void lease.renewNow();
    const signal = AbortSignal.any([lease.lost, this.stopping.signal]);
    const findings = await checkRepository(host, repository, {
      limits: this.limits,
      publicUrl,
      signal,
    }).catch((error: unknown): Finding[] | undefined => {
      if (signal.aborted) return undefined;
      const message = `The host cannot check it: ${messageOf(error)}`.slice(0, 4_000);
      return [{ name: 'host', outcome: 'failed', message }];
    });
    lease.end();
    if (lease.lost.aborted) return;
    if (findings) log.info('Repository checked', { repositoryId, findings: findings.length });
    const report = () =>
      findings
        ? api.reportCheck(repositoryId, generation, findings)
        : api.releaseCheck(repositoryId, generation);
    await retrying('check of a repository', report, { log, signal: this.givenBack.signal });
  }

  private async renewCheck({ repositoryId, generation }: CheckWork['check']): Promise<void> {
    await this.parts.api.renewCheck(repositoryId, generation).catch((error: unknown) => {
      // A server of an earlier version gives 10 min for the whole check.
      if (!hasCode(error, 'route_not_found')) throw error;
    });
  }

  /** Never rejects for a failure of the step itself. */
  private async execute(work: StepWork): Promise<void> {
    const { log, api } = this.parts;
    const { changeId, generation, kind } = work.step;
    const lease = new StepLease(() => this.renew(work));
    const signal = AbortSignal.any([lease.lost, this.stopping.signal]);
    const from = performance.now();
    const report = await this.perform(work, signal).catch((error: unknown) => {
      lease.heed(error);
      if (lease.lost.aborted) return undefined;
      return reportOfForge(error, work) ?? this.reportOf(error);
    });
    lease.end();
    const ms = Math.round(performance.now() - from);
    const { outcome, reason } = report ?? { outcome: 'moved' };
    if (outcome !== 'synced') {
      log.info('Step of a change ended', { changeId, kind, outcome, reason, ms });
    }
    if (report === undefined || lease.lost.aborted) return;
    await retrying('change step', () => api.reportStep(changeId, { ...report, generation }), {
      log,
      signal: this.givenBack.signal,
    }).catch((error: unknown) => {
      if (isCurable(error)) throw error;
      log.warn('Report of a step refused', { changeId, kind, reason: messageOf(error) });
    });
  }

  /** A change that is closed or paused meanwhile is not proven any more. */
  private async renew({ step, next }: StepWork): Promise<void> {
    const { next: now } = await this.parts.api.renewStep(step.changeId, step.generation);
    // A server of an earlier version does not tell.
    if (!next || now === undefined || now?.changeId === next.changeId) return;
    await this.ahead.take(next.changeId)?.end();
  }

  private reportOf(error: unknown): Report {
    if (this.stopping.signal.aborted) return { outcome: 'released' };
    if (error instanceof RemoteUnavailable) {
      return { outcome: 'waits', reason: error.message.slice(0, 2_000) };
    }
    const isKnown = error instanceof GitError || error instanceof UnusableRepository;
    if (!isKnown) this.parts.log.warn('Step of a change failed', { error: messageOf(error) });
    return { outcome: 'failed', reason: messageOf(error).slice(0, 2_000) };
  }

  /** @returns undefined if the change has moved, so that there is nothing to report */
  private async perform(work: StepWork, signal: AbortSignal): Promise<Report | undefined> {
    const { change, step } = work;
    const { api, log } = this.parts;
    const pullRequest = PullRequestStep.of(work, { api, log, limits: this.limits, signal });
    const { kind } = step;
    if (kind === 'sync') {
      return (await pullRequest?.synchronise()) === false ? undefined : { outcome: 'synced' };
    }
    if (kind === 'prove' && (await pullRequest?.synchroniseIfPossible()) === false) return;
    const repository = await this.parts.host.repository(work.repository);
    const name = `${change.id}-${step.generation}`;
    return repository.withGitDir(name, async (gitDir, keep) => {
      switch (kind) {
        case 'prove':
          return this.prove(work, repository, { gitDir, signal });
        case 'land':
          return this.land(work, repository, { gitDir, keep, signal, pullRequest });
        case 'remove':
          return this.remove(work, repository, { gitDir, signal, pullRequest });
      }
    });
  }

  private async prove(
    { change }: StepWork,
    repository: HostRepository,
    { gitDir, signal }: { gitDir: string; signal: AbortSignal },
  ): Promise<Report> {
    const commit = await this.head(change, repository, { gitDir, signal });
    const base = await mergeBase(await repository.mirror.tip(change.target), commit, { gitDir });
    const reason = await whyRefused(repository, base, { commit, gitDir });
    if (reason !== undefined) return { outcome: 'refused', reason };
    const proof = await prove(this.parts.host, repository, {
      commit,
      gitDir,
      target: change.target,
      signal,
    });
    if (proof === undefined) return { outcome: 'green', commit };
    return { outcome: proof.exitCode === 0 ? 'green' : 'red', commit, ...proof };
  }

  private async land(
    work: StepWork,
    repository: HostRepository,
    { gitDir, keep, signal, pullRequest }: WithPullRequest & Pick<Ahead, 'keep'>,
  ): Promise<Report | undefined> {
    const { change, message, step } = work;
    if (change.landingCommits.length > 0) {
      // Before anything that people said meanwhile counts, such as a request for changes.
      const merged = await this.landed(change, repository, { gitDir, signal, pullRequest });
      if (merged !== undefined) return merged;
      await this.noteNotLanded(step);
    }
    if ((await pullRequest?.synchronise()) === false) return undefined;
    const unchecked = await pullRequest?.whyUnchecked();
    if (unchecked !== undefined) return unchecked;
    const { host, api } = this.parts;
    const call = { gitDir };
    const head = await this.head(change, repository, { gitDir, signal });
    const [name = '', email = ''] = (
      await gitText(['log', '-1', '--format=%an%x00%ae', head], call)
    ).split('\0');
    const { committer, signingKey, mergeMethod: method } = repository.access;
    const words = { message, author: { name, email }, committer: committer ?? NOBODY, signingKey };
    const { target } = change;
    const proving = { gitDir, target, signal };
    const own = this.ahead.take(change.id);
    const next = hasAcceptance(repository) ? (work.next ?? undefined) : undefined;
    const accept = async (commit: string, tree: string): Promise<RedProof | undefined> => {
      const landing = { target, method, words };
      if (next) this.ahead.begin(repository, { next, onto: commit, gitDir, keep, landing });
      if (await own?.hasProven(tree, repository, signal)) return undefined;
      const proof = await prove(host, repository, { ...proving, commit });
      return proof === undefined || proof.exitCode === 0 ? undefined : { commit, ...proof };
    };
    let landed: Landed | undefined;
    try {
      landed = await repository.reach((remote) =>
        land(
          {
            target,
            head,
            // Only what acceptance has found green is approved.
            proven: head,
            planned: change.landingCommits,
            method,
            at: pullRequest && Date.parse(change.approvedAt ?? '') / 1_000,
            words,
          },
          {
            mirror: repository.mirror,
            remote,
            call,
            signal,
            accept,
            plan: (commit) => {
              change.landingCommits.push(commit);
              return api.planLanding(change.id, step.generation, commit);
            },
            moveTarget:
              pullRequest &&
              ((landing, push) =>
                pullRequest.moveTarget(landing, push, { repository, remote, gitDir })),
          },
        ),
      );
      return reportOfLanding(landed);
    } finally {
      await own?.end();
      if (next && landed?.kind === 'merged') this.ahead.expectClaim(next.changeId);
      else if (next) await this.ahead.take(next.changeId)?.end();
    }
  }

  private async noteNotLanded({ changeId, generation }: StepWork['step']): Promise<void> {
    await this.parts.api.reportNotLanded(changeId, generation).catch((error: unknown) => {
      // A server of an earlier version hears it with the end of some steps.
      if (!hasCode(error, 'route_not_found')) throw error;
    });
  }

  /** The submitted commit, which is on this host afterwards. */
  private async head(
    { branch, headCommit, landingCommits }: StepWork['change'],
    repository: HostRepository,
    { gitDir, signal }: { gitDir: string; signal: AbortSignal },
  ): Promise<string> {
    // A pull request that was about to land has the landing commit in its place, with its files.
    const fit = [headCommit, ...[...landingCommits].reverse()].filter((name) => name !== null);
    const look = async () => {
      for (const name of fit) {
        const found = await commitOf(name, { gitDir });
        if (found !== undefined) return found;
      }
      return undefined;
    };
    // The host of its run has it already.
    const known = await look();
    if (known !== undefined) return known;
    await repository.fetch([], signal);
    const found = await look();
    if (found !== undefined) return found;
    throw new UnusableRepository(
      `The submitted commit ${headCommit ?? ''} is no longer on the branch ${branch ?? ''}`,
    );
  }

  /**
   * A branch that somebody has moved since is theirs, and stays. A change whose task ended while a
   * host merged it can be on the target.
   */
  private async remove(
    { change }: StepWork,
    repository: HostRepository,
    { gitDir, signal, pullRequest }: WithPullRequest,
  ): Promise<Report> {
    const { branch, headCommit, id, landingCommits: planned, state } = change;
    if (state === 'CLOSED') {
      const merged = await this.landed(change, repository, { gitDir, signal, pullRequest });
      if (merged !== undefined) return merged;
    }
    // A forge closes the pull request of a branch that goes.
    await pullRequest?.finish();
    const at = [headCommit, ...planned].filter((commit) => commit !== null);
    const refs = {
      // A retried task would begin with the discarded work of a branch that stays.
      ...(branch !== null && {
        branch: { name: `refs/heads/${branch}`, at, mustGo: state === 'CLOSED' },
      }),
      pushed: pushedRef(id),
      others: [workRef(id)],
    };
    await repository.reach((remote) => removeRefs(gitDir, remote, refs, signal));
    return { outcome: 'removed' };
  }

  /** The report of a change that can be on the target, if it is there. */
  private async landed(
    { target, landingCommits: planned }: StepWork['change'],
    repository: HostRepository,
    { gitDir, signal, pullRequest }: WithPullRequest,
  ): Promise<Report | undefined> {
    // The forge comes first, because its outage is told from the failure of a repository.
    const atForge = await pullRequest?.mergedCommit();
    const commit =
      atForge ??
      (await repository.reach((remote) => {
        const parts = { mirror: repository.mirror, remote, call: { gitDir }, signal };
        return findLanded({ target, planned }, parts);
      }));
    return commit === undefined ? undefined : { outcome: 'merged', commit };
  }
}

function reportOfLanding(landed: Landed): Report {
  switch (landed.kind) {
    case 'merged':
      return {
        outcome: 'merged',
        commit: landed.commit,
        ...(landed.remark !== undefined && { reason: landed.remark }),
      };
    case 'red':
      return { outcome: 'red', ...landed.proof };
    case 'conflict':
      return { outcome: 'conflict', files: landed.files.slice(0, 1_000), text: landed.text };
    case 'blocked':
      return reportOfBlocked(landed);
  }
}

function reportOfBlocked({ reason, waitSeconds }: Wait): Report {
  return { outcome: 'blocked', reason, ...(waitSeconds !== undefined && { waitSeconds }) };
}
