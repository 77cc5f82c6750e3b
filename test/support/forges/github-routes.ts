import type { components } from '@octokit/openapi-types';
import { type ForgeModel, type Pull, type Review, Refused, type Status } from './forge-model.js';
import type { Routes } from './routes.js';

/* GitHub's API over the model. The shapes are those of its published description. */

type Schemas = components['schemas'];
type User = Pick<Schemas['simple-user'], 'login' | 'id' | 'type'>;

const user = (login: string): User => ({ login, id: 1, type: 'User' });

const toPull = ({ origin }: { origin: string }, pull: Pull) =>
  ({
    number: pull.number,
    html_url: `${origin}/pull/${pull.number}`,
    title: pull.title,
    body: pull.body,
    state: pull.state,
    merged_at: pull.merged === undefined ? null : pull.updatedAt,
    // Before the merge it is a commit that GitHub made to see whether there is a conflict.
    merge_commit_sha: pull.merged ?? pull.headSha,
    updated_at: pull.updatedAt,
    head: { ref: pull.head, sha: pull.headSha },
    base: { ref: pull.base },
  }) satisfies Partial<Record<keyof Schemas['pull-request'], unknown>>;

const toReview = ({ id, login, state, body, commit }: Review) =>
  ({
    id,
    user: user(login),
    state,
    body,
    commit_id: commit,
  }) satisfies Partial<Record<keyof Schemas['pull-request-review'], unknown>>;

const toLines = ({ id, login, lines, commit }: Review) =>
  lines.map(
    ({ path, line, text }, index) =>
      ({
        id: id * 100 + index,
        pull_request_review_id: id,
        user: user(login),
        path,
        line,
        side: 'RIGHT',
        body: text,
        commit_id: commit,
      }) satisfies Partial<Record<keyof Schemas['pull-request-review-comment'], unknown>>,
  );

const toRun = ({ name, state, description }: Status) =>
  ({
    name,
    status: 'completed',
    conclusion: state as 'success',
    output: {
      title: description,
      summary: null,
      text: null,
      annotations_count: 0,
      annotations_url: '',
    },
  }) satisfies Partial<Schemas['check-run']>;

export const API = '/api/v3';

export function githubRoutes(model: ForgeModel, place: { origin: string }): Routes {
  return {
    'GET /repos/:owner/:repo': () => ({ permissions: { push: true } }),
    'GET /repos/:owner/:repo/branches/:branch': ({ path }) => ({
      protected: false,
      commit: { sha: model.commitOf(path['branch'] ?? '') },
    }),
    'GET /repos/:owner/:repo/hooks': () =>
      model.hooks.map((url) => ({ active: true, config: { url } })),
    'GET /repos/:owner/:repo/pulls': ({ query }) => {
      const head = query.get('head')?.split(':').slice(1).join(':');
      const found = model.all().filter((pull) => pull.head === head);
      return found.map((pull) => toPull(place, pull)).reverse();
    },
    'POST /repos/:owner/:repo/pulls': ({ body }) => {
      const { title = '', head = '', base = '', body: text = '' } = body as Record<string, string>;
      return toPull(place, model.open({ title, head, base, body: text }, 422));
    },
    'GET /repos/:owner/:repo/pulls/:number': ({ number }) => toPull(place, model.pull(number)),
    'PATCH /repos/:owner/:repo/pulls/:number': ({ number, body }) =>
      toPull(place, model.edit(number, body as object)),
    'GET /repos/:owner/:repo/pulls/:number/reviews': ({ number }) =>
      model.pull(number).reviews.map(toReview),
    'GET /repos/:owner/:repo/pulls/:number/comments': ({ number }) =>
      model.pull(number).reviews.flatMap(toLines),
    'GET /repos/:owner/:repo/issues/:number/comments': ({ number }) =>
      model.pull(number).comments.map(({ id, login, body }) => ({ id, user: user(login), body })),
    'POST /repos/:owner/:repo/issues/:number/comments': ({ number, body, login }) =>
      model.comment(number, login, String((body as { body: string }).body)),
    'GET /repos/:owner/:repo/collaborators/:login/permission': ({ path }) => ({
      permission: model.writers.has(path['login'] ?? '') ? 'write' : 'read',
    }),
    'POST /repos/:owner/:repo/statuses/:sha': ({ path, body }) => {
      const { context = '', state = '', description = '' } = body as Record<string, string>;
      model.setStatus(path['sha'] ?? '', { name: context, state, description });
      return {};
    },
    'GET /repos/:owner/:repo/commits/:sha/status': ({ path }) => ({
      state: 'pending',
      statuses: model
        .statusesOf(path['sha'] ?? '')
        .map(({ name: context, state, description }) => ({ context, state, description })),
    }),
    'GET /repos/:owner/:repo/commits/:sha/check-runs': ({ path }) => {
      // Fine-grained tokens have no right to read them.
      if (!model.readsRuns) {
        throw new Refused(403, 'Resource not accessible by personal access token');
      }
      const runs = model.runs.get(path['sha'] ?? '') ?? [];
      return { total_count: runs.length, check_runs: runs.map(toRun) };
    },
    'PUT /repos/:owner/:repo/pulls/:number/merge': ({ number, body }) => {
      const { sha, commit_title = '', commit_message = '' } = body as Record<string, string>;
      const message = `${commit_title}\n\n${commit_message}`;
      return { merged: true, sha: model.merge(number, { head: sha, message }) };
    },
  };
}
