import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type Transaction } from '#lib/database';
import { placeOf } from '#lib/forges/domain';
import type { CoordinatorCaller } from '#lib/kernel';
import type { RepositoryAccess } from '#lib/repositories/domain';
import { TaskCommands } from '#lib/task-manager';
import type { ChangeComment } from '../domain/review.js';
import {
  bodyOf,
  commentsOf,
  type PullRequestWork,
  statusOf,
  titleOf,
} from '../domain/pull-request-words.js';
import { type HeldStep, isHeld, staleStep } from '../hosts/held-step.js';
import { type HostChange, toHostChange } from '../hosts/host-change.js';
import { type AfterCommit, ChangeMoves, type Mover } from '../moves/change-moves.js';
import { lockWithAttempts } from '../moves/lock-with-attempts.js';
import { takeApproval } from '../reviewing/person-approval.js';
import { type ChangeRow, lockChange, type LockedChange } from '../store/changes.sql.js';
import { knownOfForge, noteComment, reviewsOfChange, toReviewView } from '../store/reviews.sql.js';
import { factsOfPullRequest, keepPullRequest } from './pull-requests.sql.js';

/** What a person said at the forge. */
export interface SaidAtForge {
  id: string;
  login: string;
  verdict: 'approved' | 'changes_requested' | 'commented';
  commit?: string;
  body: string;
  comments?: ChangeComment[];
}

/** A pull request as a host has found it. */
export interface FoundPullRequest {
  forge: string;
  number: number;
  url: string;
  state: 'open' | 'closed' | 'merged';
  /** merged: the commit on the target. */
  mergedCommit?: string;
  seen?: string;
  said?: SaidAtForge[];
}

/** Pull requests of changes: what hosts write into them, and what people say there. */
@Injectable()
export class PullRequests {
  constructor(
    private readonly database: Database,
    private readonly moves: ChangeMoves,
    private readonly commands: TaskCommands,
    @Inject(CONFIG) private readonly config: Pick<Config, 'http'>,
  ) {}

  /** What the pull request of a change must be. Null: the repository has no forge. */
  async workOf(
    workspaceId: string,
    row: ChangeRow,
    { forge, url, forgeUrl }: Pick<RepositoryAccess, 'forge' | 'url' | 'forgeUrl'>,
  ): Promise<PullRequestWork | null> {
    if (forge === 'none' || row.branch === null || row.head_commit === null) return null;
    const tenant = this.database.tenant(workspaceId);
    const params = [workspaceId, row.task_id];
    const [facts, reviews] = await Promise.all([
      firstRow(tenant, factsOfPullRequest, params),
      tenant.rows(reviewsOfChange, params),
    ]);
    if (!facts) return null;
    const place = placeOf(forge, url, forgeUrl);
    const { publicUrl } = this.config.http;
    const change = {
      title: facts.title,
      description: facts.description,
      summary: facts.summary,
      agentKind: facts.agent_kind,
      state: row.state,
      revision: row.revision,
      headCommit: row.head_commit,
      mergedCommit: row.merged_commit,
      obstacle: row.obstacle,
      runs: facts.runs,
      tokens: facts.tokens,
      costUsd: facts.cost_usd,
      reviews: reviews.map((one) => ({
        ...toReviewView(one),
        isOfForge: one.external_id !== null,
      })),
      issue: place === undefined ? null : issueIn(facts.subject, `${place.owner}/${place.repo}`),
      page:
        publicUrl === undefined ? null : `${publicUrl.replace(/\/$/, '')}/reviews/${row.task_id}`,
    };
    return {
      number: row.pull_request,
      seen: row.pull_request_seen,
      title: titleOf(facts.title),
      body: bodyOf(change),
      status: statusOf(change),
      comments: commentsOf(change),
    };
  }

  /**
   * Takes what a host has found at the forge. Reviews, merges and closures there count as if they
   * were made here, each once. If the change moves, the host has lost its step.
   *
   * @throws DroverError `change_not_found`, `stale_step`
   */
  async record(held: HeldStep, found: FoundPullRequest): Promise<HostChange> {
    const { agent, changeId } = held;
    const { workspaceId } = agent;
    const { read, afterCommits } = await this.database
      .tenant(workspaceId)
      .transaction(async (tx) => {
        const change = await lockWithAttempts(tx, workspaceId, changeId);
        if (!change || !isHeld(change, held)) throw staleStep(change);
        const by = { workspaceId, actor: { kind: 'agent' as const, id: agent.agentId } };
        const seen = found.seen ?? change.pull_request_seen;
        await tx.rows(keepPullRequest, [workspaceId, changeId, found.number, found.url, seen]);
        const afterCommits: AfterCommit[] = [];
        const isMoved = await this.hear(tx, by, change, { ...found, afterCommits });
        if (!isMoved) afterCommits.push(await this.follow(tx, by, change, found));
        const read = (await firstRow(tx, lockChange, [workspaceId, changeId])) ?? change;
        return { read, afterCommits };
      });
    for (const wake of afterCommits) wake?.();
    this.moves.wake(workspaceId);
    return toHostChange(read);
  }

  /** @returns true if the change has moved; the rest is heard by the next synchronisation */
  private async hear(
    tx: Transaction,
    by: Mover,
    change: LockedChange,
    { forge, state, said = [], afterCommits }: FoundPullRequest & { afterCommits: AfterCommit[] },
  ): Promise<boolean> {
    const ids = said.map(({ id }) => `${forge}:${id}`);
    const of = [by.workspaceId, change.task_id];
    const known = await tx.rows(knownOfForge, [...of, ids]);
    const isKnown = new Set(known.map(({ external_id: id }) => id));
    const fresh = said
      .filter(({ id }) => !isKnown.has(`${forge}:${id}`))
      .map((one) => asOf(change, one))
      .filter((one) => counts(change, one, state === 'merged'));
    // The next run hears all that was said, so a request comes last.
    const request =
      state === 'merged' ? undefined : fresh.find((one) => one.verdict === 'changes_requested');
    const ordered = request ? [...fresh.filter((one) => one !== request), request] : fresh;
    for (const one of ordered) {
      const externalId = `${forge}:${one.id}`;
      const { verdict, body, comments, commit = null } = one;
      const who = { ...by, author: `${forge}:${one.login}` };
      const review = { kind: 'review', verdict, body, comments, externalId } as const;
      const about = commit === null ? {} : { commit };
      const id = await this.moves.note(tx, who, change, { ...review, ...about });
      if (verdict === 'commented') {
        await tx.rows(noteComment, [by.workspaceId, id, by.actor.kind, by.actor.id]);
      } else if (state !== 'merged' && (request === undefined || one === request)) {
        const decided = await this.decide(tx, who, change, verdict);
        if (decided === undefined) continue;
        afterCommits.push(decided.afterCommit);
        return true;
      }
    }
    return false;
  }

  /** @returns undefined if the change has not moved */
  private async decide(
    tx: Transaction,
    who: Mover,
    change: LockedChange,
    verdict: 'approved' | 'changes_requested',
  ): Promise<{ afterCommit: AfterCommit } | undefined> {
    if (verdict === 'changes_requested') {
      await this.moves.returnToWork(tx, who, change, { why: verdict, byPerson: true });
      return { afterCommit: undefined };
    }
    if (change.state !== 'IN_REVIEW') return undefined;
    if (!(await takeApproval(tx, who.workspaceId, change))) return undefined;
    // Another attempt can have been approved, and then this one is closed.
    const values = { approved_by: who.author, message: 'Its change is approved at the forge' };
    return { afterCommit: await this.moves.approveOrClose(tx, who, change, values) };
  }

  /** A merge or a closure at the forge. */
  private async follow(
    tx: Transaction,
    by: Mover,
    change: LockedChange,
    { state, mergedCommit, number }: FoundPullRequest,
  ): Promise<AfterCommit> {
    if (state === 'open' || change.state === 'FAILED') return undefined;
    if (state === 'closed') {
      const caller: CoordinatorCaller = { kind: 'coordinator', workspaceId: by.workspaceId };
      const reason = `Its pull request ${number} was closed`;
      return this.commands.within(tx, caller, 'cancel', { id: change.task_id, reason });
    }
    if (change.state === 'WORKING') {
      // Its agent goes on. The next submission gets a pull request of its own.
      await tx.rows(keepPullRequest, [by.workspaceId, change.task_id, null, null, null]);
    } else if (mergedCommit !== undefined) {
      return this.moves.merge(tx, by, change, mergedCommit);
    }
    return undefined;
  }
}

/** A request for changes of an earlier commit is no verdict on this one. */
function asOf(change: LockedChange, one: SaidAtForge): SaidAtForge {
  const isOfEarlier = one.commit !== undefined && !isOfHead(change, one.commit);
  const isRequest = one.verdict === 'changes_requested';
  return isRequest && isOfEarlier ? { ...one, verdict: 'commented' } : one;
}

/** A verdict waits while nobody can follow it, and an approval must name this commit. */
function counts(
  change: LockedChange,
  { verdict, commit }: SaidAtForge,
  isMerged: boolean,
): boolean {
  if (verdict === 'commented' || isMerged) return true;
  if (change.state !== 'IN_REVIEW' && change.state !== 'APPROVED') return false;
  return verdict === 'changes_requested' || (commit !== undefined && isOfHead(change, commit));
}

/** The commit is the submitted one, or the one that lands with its files. */
function isOfHead({ head_commit: head, landing_commits: landings }: LockedChange, commit: string) {
  return commit === head || landings.includes(commit);
}

/** The issue of this repository that a subject names: `github:team/shop#12`. */
function issueIn(subject: string | null, repository: string): number | null {
  const [, name, number] = /^\w+:([^#]+)#(\d{1,9})$/.exec(subject ?? '') ?? [];
  return name?.toLowerCase() === repository.toLowerCase() ? Number(number) : null;
}
