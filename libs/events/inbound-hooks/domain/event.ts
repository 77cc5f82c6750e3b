import { cut, DroverError } from '#lib/kernel';
import { coversBodyAlone, headerOf, type HookKind, type HookRequest, sha256 } from './signature.js';
import { textAt } from './template.js';

/** A signed event, with the parts that all kinds of hooks share. */
export interface HookEvent {
  deliveryId: string;
  digest: Buffer;
  /** Whether the same body under another delivery id is the same delivery. */
  knownByDigest: boolean;
  /** `issues.labeled`, `Note Hook`, or the type of a generic payload. */
  name: string;
  /** The event's subject. Empty if it has none. */
  subject: string;
  payload: unknown;
}

const VISIBLE = /^[\x21-\x7e]{1,255}$/;
const WORDS = /^[\x20-\x7e]{1,100}$/;
const MAX_NAME = 200;
export const MAX_SUBJECT = 500;

/**
 * The event of a request with a valid signature.
 *
 * @throws DroverError `malformed_header`, `validation_failed`
 */
export function eventOf(kind: HookKind, request: HookRequest, payload: unknown): HookEvent {
  return {
    deliveryId: deliveryIdOf(kind, request),
    digest: sha256(request.body),
    knownByDigest: coversBodyAlone(kind),
    name: NAMES[kind](request, payload),
    subject: cut(SUBJECTS[kind](payload), MAX_SUBJECT),
    payload,
  };
}

/**
 * In the order of the search. A retry has the same id. GitLab's event UUID is for versions before
 * 17.4.
 */
const DELIVERY_IDS: Record<HookKind, readonly string[]> = {
  github: ['x-github-delivery'],
  gitea: ['x-gitea-delivery'],
  gitlab: ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'],
  generic: ['webhook-id'],
};

function deliveryIdOf(kind: HookKind, request: HookRequest): string {
  const names = DELIVERY_IDS[kind];
  const given = names.map((name) => headerOf(request, name)).find((value) => value !== undefined);
  if (given !== undefined && VISIBLE.test(given)) return given;
  throw malformed(`${names.join(' or ')} must be 1 to 255 visible ASCII characters.`);
}

const NAMES: Record<HookKind, (request: HookRequest, payload: unknown) => string> = {
  github: (request, payload) => nameOf(eventHeader(request, 'x-github-event'), payload),
  gitea: (request, payload) => nameOf(eventHeader(request, 'x-gitea-event'), payload),
  gitlab: (request) => eventHeader(request, 'x-gitlab-event'),
  generic: (_, payload) => {
    const type = textAt(payload, 'type');
    if (type !== '') return cut(type, MAX_NAME);
    const message = 'must be the name of the event';
    throw new DroverError('validation_failed', { errors: [{ field: 'type', message }] });
  },
};

function nameOf(event: string, payload: unknown): string {
  const action = textAt(payload, 'action');
  return cut(action === '' ? event : `${event}.${action}`, MAX_NAME);
}

function eventHeader(request: HookRequest, name: string): string {
  const value = headerOf(request, name) ?? '';
  if (WORDS.test(value)) return value;
  throw malformed(`${name} must be the name of the event.`);
}

const SUBJECTS: Record<HookKind, (payload: unknown) => string> = {
  github: (payload) => issueOf('github', payload),
  gitea: (payload) => issueOf('gitea', payload),
  gitlab: (payload) => {
    const project = textAt(payload, 'project.path_with_namespace');
    const about = gitlabObject(payload);
    return project && about && `gitlab:${project}${about}`;
  },
  generic: (payload) => textAt(payload, 'subject'),
};

function issueOf(kind: HookKind, payload: unknown): string {
  const repository = textAt(payload, 'repository.full_name');
  const number = textAt(payload, 'issue.number') || textAt(payload, 'pull_request.number');
  return repository && number && `${kind}:${repository}#${number}`;
}

/** `#12` for an issue, `!12` for a merge request. Comments name their object separately. */
function gitlabObject(payload: unknown): string {
  const own = textAt(payload, 'object_attributes.iid');
  const issue = textAt(payload, 'issue.iid');
  const mergeRequest = textAt(payload, 'merge_request.iid');
  switch (textAt(payload, 'object_kind')) {
    case 'issue':
      return own && `#${own}`;
    case 'merge_request':
      return own && `!${own}`;
    default:
      return (issue && `#${issue}`) || (mergeRequest && `!${mergeRequest}`);
  }
}

function malformed(detail: string): DroverError {
  return new DroverError('malformed_header', { detail });
}
