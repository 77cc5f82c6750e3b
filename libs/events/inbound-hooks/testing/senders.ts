import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { newId } from '#lib/kernel';

/* Requests as the senders make them: headers and the signed bytes. */

export interface Sent {
  body: string;
  headers: Record<string, string>;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Signs like GitHub: docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries. */
export function fromGithub(
  event: string,
  payload: unknown,
  { secret, delivery = newId() }: { secret: string; delivery?: string },
): Sent {
  const body = JSON.stringify(payload);
  const digest = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    ...JSON_TYPE,
    'user-agent': 'GitHub-Hookshot/044aadd',
    'x-github-event': event,
    'x-github-delivery': delivery,
    'x-hub-signature-256': `sha256=${digest}`,
  };
  return { body, headers };
}

/** Sends a secret token, as all versions of GitLab can. */
export function fromGitlab(
  event: string,
  payload: unknown,
  { secret, delivery = newId() }: { secret: string; delivery?: string },
): Sent {
  const headers = {
    ...JSON_TYPE,
    'x-gitlab-event': event,
    'x-gitlab-event-uuid': newId(),
    'idempotency-key': delivery,
    'x-gitlab-token': secret,
  };
  return { body: JSON.stringify(payload), headers };
}

/** Signs like the published library of Standard Webhooks. @param at milliseconds since 1970 */
export function standard(
  payload: unknown,
  {
    secret,
    delivery = newId(),
    at = Date.now(),
  }: { secret: string; delivery?: string; at?: number },
): Sent {
  const body = JSON.stringify(payload);
  const signature = new Webhook(secret).sign(delivery, new Date(at), body);
  const headers = {
    ...JSON_TYPE,
    'webhook-id': delivery,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': signature,
  };
  return { body, headers };
}

const REPOSITORY = {
  id: 1_296_269,
  node_id: 'MDEwOlJlcG9zaXRvcnkxMjk2MjY5',
  name: 'Hello-World',
  full_name: 'octocat/Hello-World',
  private: false,
  html_url: 'https://github.com/octocat/Hello-World',
};
const SENDER = { login: 'octocat', id: 1, type: 'User', site_admin: false };

/** The relevant parts of GitHub's `issues` event in its shape. */
export function githubIssue(values: Record<string, unknown> = {}) {
  const issue = {
    id: 73_464_126,
    number: 12,
    title: 'Spelling error in the README file',
    state: 'open',
    body: 'It looks like you accidently spelled "commit" with two "t"s.',
    user: SENDER,
    html_url: 'https://github.com/octocat/Hello-World/issues/12',
    labels: [{ id: 208_045_946, name: 'bug', color: 'f29513', default: true }],
    author_association: 'OWNER',
    ...values,
  };
  const label = { id: 208_045_947, name: 'drover', color: '0e8a16', default: false };
  return { action: 'labeled', issue, label, repository: REPOSITORY, sender: SENDER };
}

export function githubComment(body: string, number = 12) {
  const { issue, repository, sender } = githubIssue({ number });
  const comment = { id: newId(), body, user: SENDER, author_association: 'MEMBER' };
  return { action: 'created', issue, comment, repository, sender };
}

const PROJECT = { id: 1, name: 'Gitlab Test', path_with_namespace: 'gitlabhq/gitlab-test' };

/** GitLab's `Issue Hook`, in its shape. */
export function gitlabIssue(labels: string[], values: Record<string, unknown> = {}) {
  const attributes = {
    id: 301,
    iid: 23,
    title: 'New API: create/update/delete file',
    action: 'update',
    description: 'Create new API for manipulations with repository',
    state: 'opened',
    ...values,
  };
  return {
    object_kind: 'issue',
    event_type: 'issue',
    project: PROJECT,
    object_attributes: attributes,
    labels: labels.map((title, index) => ({ id: 206 + index, title, type: 'ProjectLabel' })),
  };
}

/** GitLab's `Note Hook` for a comment on an issue. */
export function gitlabNote(note: string, iid = 23) {
  return {
    object_kind: 'note',
    event_type: 'note',
    project: PROJECT,
    object_attributes: { id: 1_241, note, noteable_type: 'Issue', action: 'create' },
    issue: { id: 92, iid, title: 'test', state: 'opened' },
  };
}
