/**
 * Every error that a client can meet: one closed list. `status` is the HTTP status, `title` says
 * what happened in general, `advice` tells the reader what to do. A code never changes its meaning.
 */
export const ERRORS = {
  // The request itself
  validation_failed: e(400, 'The request is not valid', 'Correct the fields listed in `errors`.'),
  malformed_request: e(
    400,
    'The request is not valid HTTP',
    'Send HTTP/1.1, with a method of the API documentation.',
  ),
  malformed_json: e(400, 'The body is not valid JSON', 'Send a JSON object encoded in UTF-8.'),
  malformed_cursor: e(
    400,
    'The cursor is not valid',
    'Use `nextCursor` of the previous page as it is, with the same filters.',
  ),
  malformed_header: e(400, 'A header is not valid', 'Correct the header named in `detail`.'),
  workspace_required: e(
    400,
    'The request names no workspace',
    'Send X-Workspace-Id with the id of a workspace that you are a member of.',
  ),
  run_required: e(
    409,
    'The report names no run, and the agent holds none of that task',
    'Send the run token, or `runId` in the body: a report counts only for the run that makes it.',
  ),
  payload_too_large: e(413, 'The body is too large', 'Keep the body under 1 MiB.'),
  headers_too_large: e(
    431,
    'The headers are too large',
    'Keep the request line and the headers together under 16 KiB.',
  ),
  request_timeout: e(
    408,
    'The request did not arrive in time',
    'Send it again, its headers within a minute.',
  ),
  unsupported_media_type: e(
    415,
    'The content type is not supported',
    'Send application/json in UTF-8, not compressed.',
  ),
  method_not_allowed: e(
    405,
    'The method is not allowed here',
    'See the API documentation for the methods of this path.',
  ),

  // The caller
  unauthenticated: e(
    401,
    'The request carries no credentials',
    'Send Authorization: Bearer with an access token, an agent token or an API key.',
  ),
  invalid_token: e(401, 'The token is not valid', 'Sign in again, or ask for a new token.'),
  invalid_gateway_token: e(
    401,
    'The gateway’s token is not valid',
    'Set the same GATEWAY_SECRET at the server and at the gateway, and let their clocks agree.',
  ),
  invalid_metrics_token: e(
    401,
    'The metrics token is missing or wrong',
    'Send Authorization: Bearer with the METRICS_TOKEN of the server.',
  ),
  invalid_hook_signature: e(
    401,
    'There is no such hook, or the event is not signed for it',
    'Check the address and the secret; where the signature has a time, the clock of the sender.',
  ),
  token_expired: e(401, 'The token has expired', 'Refresh it, or sign in again.'),
  token_revoked: e(401, 'The token was revoked', 'Sign in again, or ask for a new token.'),
  wrong_token_kind: e(
    401,
    'This kind of token is not accepted here',
    'Use the kind of token that `detail` names.',
  ),
  invalid_credentials: e(
    401,
    'The e-mail address or the password is wrong',
    'Check both; after several failures wait for the time in Retry-After.',
  ),
  email_not_verified: e(
    401,
    'The issuer has not verified the e-mail address',
    'Have the address verified where you sign in, then ask for a new token.',
  ),
  invalid_refresh_token: e(401, 'The refresh token is not valid', 'Sign in again.'),
  forbidden: e(
    403,
    'Your role does not allow this',
    'Ask whom `detail` names, else an OWNER or ADMIN of the workspace.',
  ),
  insufficient_scope: e(
    403,
    'The API key lacks a scope',
    'Use a key with the scope that `detail` names.',
  ),
  rate_limited: e(429, 'Too many requests', 'Wait for the seconds in Retry-After, then try again.'),
  too_many_streams: e(
    429,
    'Too many streams are open',
    'Close one of them, follow several things with one stream, or try again after the seconds in Retry-After.',
  ),
  queue_full: e(
    429,
    'The queue of the workspace is full',
    'Wait for the seconds in Retry-After; an operator can raise `limit`.',
  ),

  exceeds_queue: e(
    422,
    'These are more tasks than the queue of the workspace may ever hold',
    'Create them in batches of at most `limit`; an operator can raise it.',
  ),

  // What it is about
  route_not_found: e(404, 'There is no such path', 'See /docs for the paths of this API.'),
  workspace_not_found: e(
    404,
    'There is no such workspace',
    'Check the id; you must be a member of it.',
  ),
  task_not_found: e(404, 'There is no such task', 'Check the id and the workspace.'),
  run_not_found: e(404, 'There is no such run', 'Check the id and the workspace.'),
  agent_not_found: e(
    404,
    'There is no such agent',
    'Check the id and the workspace, or register the agent first.',
  ),
  project_not_found: e(404, 'There is no such project', 'Check the id and the workspace.'),
  budget_not_found: e(404, 'There is no such budget', 'List the budgets for their ids.'),
  provider_limit_not_found: e(
    404,
    'There is no such limit of a provider',
    'List the limits for their ids; it may have ended.',
  ),
  pause_not_found: e(404, 'There is no such pause', 'List the pauses for their ids.'),
  webhook_not_found: e(404, 'There is no such webhook', 'List the webhooks for their ids.'),
  inbound_hook_not_found: e(
    404,
    'There is no such inbound hook',
    'List the inbound hooks for their ids.',
  ),
  milestone_not_found: e(404, 'There is no such milestone', 'Check the id and the project.'),
  dependency_not_found: e(404, 'There is no such dependency', 'Check both task ids.'),
  member_not_found: e(404, 'There is no such member', 'Check the user id and the workspace.'),
  invitation_not_found: e(
    404,
    'There is no such invitation',
    'Check the id, and sign in with the invited e-mail address; else have yourself invited again.',
  ),
  api_key_not_found: e(404, 'There is no such API key', 'Check the id and the workspace.'),
  session_not_found: e(404, 'There is no such session', 'List your sessions for their ids.'),
  user_not_found: e(404, 'There is no such user', 'Check the id.'),

  events_expired: e(
    410,
    'The events since that id are not there',
    'Read the state of tasks and agents by the API, and go on with the events of this stream.',
  ),

  // The state it is in
  illegal_transition: e(
    409,
    'The state of the task, run or agent does not allow this',
    'Read `current` (its state) and `legal` (where it can go from there), and decide again.',
  ),
  cascade_too_large: e(
    409,
    'Too many tasks depend on it to cancel them together',
    'Cancel its dependents first, by POST /agent-tasks/bulk/cancel with a filter.',
  ),
  subtask_limit: e(
    409,
    'The task may not have these subtasks',
    'Do the work in the run itself, or in fewer tasks; an operator can raise MAX_SUBTASK_DEPTH and MAX_SUBTASKS_PER_TASK.',
  ),
  stale_run: e(
    409,
    'The run is not the live one of its task',
    'Stop the work: the task has moved on, and nothing of this run is accepted any more.',
  ),
  question_closed: e(
    409,
    'The question takes no answer any more',
    'Read `status` and `answer`: somebody has answered it, its deadline has passed, or its task was ended.',
  ),
  question_not_found: e(404, 'There is no such question', 'Check the id and the workspace.'),
  too_many_questions: e(
    422,
    'The task has asked as many questions as it may',
    'Go on with the answers that there are, or fail.',
  ),
  budget_period_taken: e(
    409,
    'Another budget of the same scope holds in that period',
    'Change that budget, or choose a period that does not overlap its own.',
  ),
  budget_exceeded: e(
    409,
    'The budget does not have as much left',
    'Move at most `available`, or raise the budget.',
  ),
  usage_report_conflict: e(
    409,
    'A report with this id says something else',
    'Report other usage under an id of its own; repeat a report word for word.',
  ),
  unknown_model: e(
    422,
    'The model has no price',
    'Use a name of GET /model-prices, or have an operator add the model with POST /model-prices; then send it again.',
  ),
  version_mismatch: e(
    412,
    'It has changed since you read it',
    'Read it again and send its new version in If-Match.',
  ),
  dependency_cycle: e(
    409,
    'The dependencies would form a cycle',
    'Remove one of the edges in `path`.',
  ),
  dependency_locked: e(
    409,
    'The dependencies of this task cannot change any more',
    'Change dependencies only while the task is PENDING.',
  ),
  task_closed: e(
    409,
    'The task has ended',
    'Change only the metadata and the tags of a task that is COMPLETED or ARCHIVED.',
  ),
  project_archived: e(
    409,
    'The project is archived',
    'Name another project, or none: tasks that are in it go on, and no more are put into it.',
  ),
  milestone_archived: e(
    409,
    'The milestone is archived',
    'Name another milestone, or none: tasks that are in it go on, and no more are put into it.',
  ),
  secrets_unreadable: e(
    409,
    'A secret of the task cannot be opened',
    'Have an operator look: `detail` says whether its key is missing or it was altered.',
  ),
  lease_renewals_exhausted: e(
    409,
    'The lease cannot be renewed any more',
    'Finish or release the run, and claim again.',
  ),
  agent_terminated: e(409, 'The agent is terminated', 'Register an agent under a new id.'),
  agent_draining: e(409, 'The agent is draining', 'Let its runs finish; it takes no new ones.'),
  agent_in_use: e(
    409,
    'Another process works as this agent',
    'Register under an id of its own, or try again after the seconds in Retry-After when that process is gone.',
  ),
  agent_is_push: e(
    409,
    'Push agents are given their tasks by the coordinator',
    'Wait for its sessions to be started, or register it with `mode` pull to claim.',
  ),
  webhook_disabled: e(
    409,
    'The webhook is disabled',
    'Enable it by PATCH with `enabled`: true; nothing is sent to it before.',
  ),
  webhook_limit: e(
    409,
    'The workspace has as many webhooks as it may have',
    'Delete one; an operator can raise MAX_WEBHOOKS_PER_WORKSPACE.',
  ),
  webhook_unsigned: e(
    409,
    'What goes to Slack, Discord or by e-mail is not signed',
    'There is no secret to rotate. Change `url` or `recipients` by PATCH.',
  ),
  inbound_hook_disabled: e(
    409,
    'The inbound hook is disabled',
    'Have an ADMIN of the workspace enable it by PATCH with `enabled`: true, then send the event again.',
  ),
  inbound_hook_limit: e(
    409,
    'The workspace has as many inbound hooks as it may have',
    'Delete one; an operator can raise MAX_WEBHOOKS_PER_WORKSPACE.',
  ),
  hook_rule_refused: e(
    422,
    'The rule of the inbound hook makes no task of this event',
    'Correct the rule by `detail`, then have the event sent again.',
  ),
  price_exists: e(
    409,
    'The model has another price from that time on',
    'Name another time: prices do not change, and a correction is a new price from now on.',
  ),
  email_taken: e(409, 'The e-mail address is in use', 'Sign in with it, or use another one.'),
  slug_taken: e(409, 'The workspace slug is in use', 'Choose another slug.'),
  last_operator: e(
    409,
    'The installation needs an operator',
    'Make somebody else an operator first.',
  ),
  last_owner: e(409, 'A workspace needs an owner', 'Make somebody else OWNER first.'),
  already_member: e(409, 'The user is a member already', 'Change the role of the member instead.'),
  idempotency_key_reused: e(
    422,
    'The Idempotency-Key was used for another request',
    'Use a new key for a new request.',
  ),
  idempotency_in_progress: e(
    409,
    'The first request with this Idempotency-Key is still under way',
    'Wait for the seconds in Retry-After, then ask again with the same key.',
  ),

  // Us
  conflict_retry: e(
    503,
    'The request met too many concurrent ones',
    'Try again after the seconds in Retry-After.',
  ),
  database_unavailable: e(
    503,
    'The database cannot be reached',
    'Nothing was changed. Try again after the seconds in Retry-After.',
  ),
  gateway_draining: e(
    503,
    'The gateway is shutting down',
    'Try again after the seconds in Retry-After, or ask another gateway.',
  ),
  issuer_unavailable: e(
    503,
    'The issuer of the token cannot be reached',
    'Try again after the seconds in Retry-After.',
  ),
  outcome_unknown: e(
    503,
    'The connection to the database broke while committing',
    'The change may have been made or not: repeat the request with the same Idempotency-Key, or read the state.',
  ),
  resource_exhausted: e(
    429,
    'The gateway has no place for another session, and its queue is full',
    'Try again after the seconds in Retry-After.',
  ),
  shutting_down: e(503, 'The server is shutting down', 'Try again: another server answers.'),
  internal_error: e(500, 'Something went wrong on our side', 'Report the request id.'),
} as const;

function e(status: number, title: string, advice: string): ErrorSpec {
  return { status, title, advice };
}

interface ErrorSpec {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
}

export type ErrorCode = keyof typeof ERRORS;

/** One invalid field: `field` is a path such as `inputContext.command[0]`. */
export interface FieldError {
  field: string;
  message: string;
}

export interface ErrorExtras {
  /** A sentence about this occurrence. Never a secret, never another tenant's data. */
  detail?: string;
  errors?: FieldError[];
  /** Seconds; becomes the Retry-After header. */
  retryAfterSeconds?: number;
  /** Further members of the problem document, such as `current` and `legal`. */
  members?: Record<string, unknown>;
  cause?: unknown;
}

/** An error that a client is meant to see, as application/problem+json (RFC 9457). */
export class DroverError extends Error {
  readonly spec: ErrorSpec;

  constructor(
    readonly code: ErrorCode,
    readonly extras: ErrorExtras = {},
  ) {
    super(extras.detail ?? ERRORS[code].title, { cause: extras.cause });
    this.name = 'DroverError';
    this.spec = ERRORS[code];
  }

  /** The problem document, without `instance` and the request id, which the HTTP layer adds. */
  toProblem(): Record<string, unknown> {
    const { status, title, advice } = this.spec;
    const { detail, errors, members } = this.extras;
    return {
      type: `urn:drover:error:${this.code}`,
      title,
      status,
      code: this.code,
      ...(detail === undefined ? {} : { detail }),
      advice,
      ...(errors === undefined ? {} : { errors }),
      ...members,
    };
  }
}
