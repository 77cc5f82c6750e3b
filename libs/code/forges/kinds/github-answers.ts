import type { components } from '@octokit/openapi-types';
import {
  type ForgeCheck,
  type ForgeEvent,
  idOfMark,
  isSettled,
  type LineComment,
  type PullRequest,
  type StatusState,
} from './forge.js';

type Schemas = components['schemas'];

/** A combined status has its list inside. */
export function readStatuses({
  data,
}: {
  data: Schemas['combined-commit-status'];
}): Schemas['simple-commit-status'][] {
  return data.statuses;
}

type AnyPullRequest = Pick<
  Schemas['pull-request'] | Schemas['pull-request-simple'],
  'number' | 'html_url' | 'state' | 'merged_at' | 'merge_commit_sha' | 'updated_at' | 'body'
> & { head: { ref: string; sha: string }; base: { ref: string } };

export function toPullRequest(given: AnyPullRequest, readAt?: string): PullRequest {
  const isMerged = given.merged_at !== null;
  return {
    number: given.number,
    url: given.html_url,
    state: isMerged ? 'merged' : given.state === 'open' ? 'open' : 'closed',
    body: given.body ?? '',
    branch: given.head.ref,
    target: given.base.ref,
    headCommit: given.head.sha,
    mergedCommit: isMerged ? (given.merge_commit_sha ?? given.head.sha) : null,
    updatedAt: given.updated_at,
    isSettled: isSettled(given.updated_at, readAt),
  };
}

const VERDICTS: Record<string, ForgeEvent['verdict']> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
};

export function toReview(
  { id, user, state, body, commit_id: commit }: Schemas['pull-request-review'],
  lines: Schemas['pull-request-review-comment'][],
): ForgeEvent | undefined {
  const verdict = VERDICTS[state];
  if (verdict === undefined || user === null) return undefined;
  const comments = lines.filter((line) => line.pull_request_review_id === id).map(toLine);
  if (verdict === 'commented' && body === '' && comments.length === 0) return undefined;
  return { id: `review:${id}`, login: user.login, verdict, commit, body, comments };
}

export function toLine(given: Schemas['pull-request-review-comment']): LineComment {
  const line = given.line ?? given.original_line ?? 1;
  const side = given.side === 'LEFT' ? 'before' : 'after';
  return { path: given.path, line, side, text: given.body };
}

export function toComment({
  id,
  user,
  body = '',
}: Schemas['issue-comment']): ForgeEvent | undefined {
  if (user === null || user.type === 'Bot' || idOfMark(body) !== undefined) return undefined;
  const { login } = user;
  return { id: `comment:${id}`, login, verdict: 'commented', commit: null, body, comments: [] };
}

export function toCheck({
  context,
  state,
  description,
}: Schemas['simple-commit-status']): ForgeCheck {
  const known = state === 'success' || state === 'pending' ? state : 'failure';
  return { name: context, state: known, description: description ?? '' };
}

const FINE: readonly (string | null)[] = ['success', 'neutral', 'skipped'];

export function toCheckOfRun({ name, conclusion, output }: Schemas['check-run']): ForgeCheck {
  const ended: StatusState = FINE.includes(conclusion) ? 'success' : 'failure';
  const state = conclusion === null ? 'pending' : ended;
  return { name, state, description: output.title ?? '' };
}
