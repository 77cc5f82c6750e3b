import type { MergePullRequestOption, PullRequest, PullReview, PullReviewComment } from 'gitea-js';
import { type ForgeModel, type Pull, Refused, type Review } from './forge-model.js';
import type { Routes } from './routes.js';

/* Gitea's API over the model. The shapes are those of its published description. */

const toPull = ({ origin }: { origin: string }, pull: Pull): PullRequest => ({
  number: pull.number,
  html_url: `${origin}/pulls/${pull.number}`,
  title: pull.title,
  body: pull.body,
  state: pull.state as never,
  merged: pull.merged !== undefined,
  ...(pull.merged !== undefined && { merge_commit_sha: pull.merged }),
  updated_at: pull.updatedAt,
  head: { ref: pull.head, sha: pull.headSha },
  base: { ref: pull.base },
});

const STATES = { APPROVED: 'APPROVED', CHANGES_REQUESTED: 'REQUEST_CHANGES', COMMENTED: 'COMMENT' };

const toReview = (
  { id, login, state, body, commit, lines }: Review,
  isOfficial: boolean,
): PullReview => ({
  id,
  user: { login },
  state: STATES[state] as never,
  body,
  commit_id: commit,
  official: isOfficial,
  comments_count: lines.length,
});

const toLines = ({ id, lines }: Review): PullReviewComment[] =>
  lines.map(({ path, line, text }, index) => ({
    id: id * 100 + index,
    path,
    position: line,
    original_position: 0,
    body: text,
  }));

export const API = '/api/v1';

export function giteaRoutes(model: ForgeModel, place: { origin: string }): Routes {
  return {
    'GET /repos/:owner/:repo': () => ({ permissions: { push: true } }),
    'GET /repos/:owner/:repo/branches/:branch': ({ path }) => ({
      protected: false,
      commit: { id: model.commitOf(path['branch'] ?? '') },
    }),
    'GET /repos/:owner/:repo/hooks': () =>
      model.hooks.map((url) => ({ active: true, config: { url } })),
    // Teams that can only read pull requests are among them.
    'GET /repos/:owner/:repo/assignees': () =>
      [...model.writers, ...model.readers].map((login) => ({ login })),
    'GET /repos/:owner/:repo/collaborators/:login/permission': ({ path }) => {
      const login = path['login'] ?? '';
      if (!model.isAdmin) throw new Refused(403, 'Only admins can query all permissions');
      return { permission: model.writers.has(login) ? 'write' : 'read' };
    },
    'GET /repos/:owner/:repo/pulls': ({ query }) =>
      model
        .all()
        .filter((pull) => pull.state === query.get('state') && query.get('page') === '1')
        .map((pull) => toPull(place, pull)),
    'POST /repos/:owner/:repo/pulls': ({ body }) => {
      const { title = '', head = '', base = '', body: text = '' } = body as Record<string, string>;
      return toPull(place, model.open({ title, head, base, body: text }, 409));
    },
    'GET /repos/:owner/:repo/pulls/:number': ({ number }) => toPull(place, model.pull(number)),
    'PATCH /repos/:owner/:repo/pulls/:number': ({ number, body }) =>
      toPull(place, model.edit(number, body as object)),
    'GET /repos/:owner/:repo/pulls/:number/reviews': ({ number }) =>
      model.pull(number).reviews.map((review) => toReview(review, model.writers.has(review.login))),
    'GET /repos/:owner/:repo/pulls/:number/reviews/:id/comments': ({ number, path }) =>
      toLines(model.pull(number).reviews.find(({ id }) => String(id) === path['id'])!),
    'GET /repos/:owner/:repo/issues/:number/comments': ({ number }) =>
      model.pull(number).comments.map(({ id, login, body }) => ({ id, user: { login }, body })),
    'POST /repos/:owner/:repo/issues/:number/comments': ({ number, body, login }) =>
      model.comment(number, login, String((body as { body: string }).body)),
    'POST /repos/:owner/:repo/statuses/:sha': ({ path, body }) => {
      const { context = '', state = '', description = '' } = body as Record<string, string>;
      model.setStatus(path['sha'] ?? '', { name: context, state, description });
      return {};
    },
    'GET /repos/:owner/:repo/commits/:sha/status': ({ path }) => ({
      statuses: model
        .statusesOf(path['sha'] ?? '')
        .map(({ name: context, state: status, description }) => ({ context, status, description })),
    }),
    'POST /repos/:owner/:repo/pulls/:number/merge': ({ number, body }) => {
      const { Do, head_commit_id, MergeCommitID, ...words } = body as MergePullRequestOption;
      if (Do === 'fast-forward-only') return void model.fastForward(number, head_commit_id);
      if (Do !== 'manually-merged') {
        const message = words.MergeTitleField ?? 'Merge';
        return void model.merge(number, {
          ...(head_commit_id && { head: head_commit_id }),
          message,
        });
      }
      const pull = model.pull(number);
      if (pull.state !== 'open') throw new Refused(405, 'The pull request is closed');
      const base = model.commitOf(pull.base) ?? '';
      if (!MergeCommitID || !model.contains(base, MergeCommitID)) {
        throw new Refused(405, 'Wrong commit ID');
      }
      model.noteMerged(pull, MergeCommitID);
    },
  };
}
