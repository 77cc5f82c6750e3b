import type {
  Comment,
  CommitStatus as GiteaStatus,
  PullRequest as GiteaPullRequest,
  PullReview,
  PullReviewComment,
} from 'gitea-js';
import {
  type ForgeCheck,
  type ForgeEvent,
  idOfMark,
  isSettled,
  type LineComment,
  type PullRequest,
} from './forge.js';

export function toPullRequest(given: GiteaPullRequest, readAt?: string | null): PullRequest {
  const isMerged = given.merged === true;
  const headCommit = given.head?.sha ?? '';
  return {
    number: given.number ?? 0,
    url: given.html_url ?? '',
    state: isMerged ? 'merged' : given.state === 'open' ? 'open' : 'closed',
    body: given.body ?? '',
    branch: given.head?.ref ?? '',
    target: given.base?.ref ?? '',
    headCommit,
    mergedCommit: isMerged ? (given.merge_commit_sha ?? headCommit) : null,
    updatedAt: given.updated_at ?? '',
    isSettled: isSettled(given.updated_at ?? '', readAt),
  };
}

/** Gitea skips checks whose paths have not changed. */
const FINE = ['success', 'skipped', 'neutral'];
const VERDICTS: Record<string, ForgeEvent['verdict']> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes_requested',
  COMMENT: 'commented',
};

export function toReview(
  { id, user, state, body = '', commit_id: commit, dismissed, official }: PullReview,
  lines: PullReviewComment[],
): ForgeEvent | undefined {
  const verdict = VERDICTS[String(state)];
  const login = user?.login;
  if (verdict === undefined || login === undefined || dismissed === true) return undefined;
  const comments = lines.map(toLine);
  if (verdict === 'commented' && body === '' && comments.length === 0) return undefined;
  return {
    id: `review:${id ?? 0}`,
    login,
    verdict,
    // Gitea has an empty text where it does not know the commit.
    commit: commit || null,
    isOfficial: official === true,
    body,
    comments,
  };
}

/** `position` is the line after the change, and 0 if the remark is about a line before it. */
export function toLine({
  path,
  position,
  original_position: before,
  body,
}: PullReviewComment): LineComment {
  const isAfter = position !== undefined && position > 0;
  const line = Math.max((isAfter ? position : before) ?? 1, 1);
  return { path: path ?? '', line, side: isAfter ? 'after' : 'before', text: body ?? '' };
}

export function toComment({ id, user, body = '' }: Comment): ForgeEvent | undefined {
  const login = user?.login;
  if (login === undefined || idOfMark(body) !== undefined) return undefined;
  const verdict = 'commented';
  return { id: `comment:${id ?? 0}`, login, verdict, commit: null, body, comments: [] };
}

export function toCheck({ context = '', status, description = '' }: GiteaStatus): ForgeCheck {
  const name = String(status);
  const ended = FINE.includes(name) ? 'success' : 'failure';
  return { name: context, state: name === 'pending' ? name : ended, description };
}
