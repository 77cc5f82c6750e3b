import { ARTIFACT_ERRORS } from './artifact-errors.js';
import { CODE_ERRORS } from './code-errors.js';
import { CHANGE_ERRORS } from './change-errors.js';
import { CREDENTIAL_ERRORS } from './credential-errors.js';
import { e } from './error-entry.js';
import { SIGN_IN_ERRORS } from './sign-in-errors.js';
import { TIME_ERRORS } from './time-errors.js';

/**
 * The closed list of all errors that a client can get. `status` is the HTTP status, `title`
 * describes the error in general, `advice` tells the reader what to do. A code never changes its
 * meaning.
 */
export const ERRORS = {
  // Errors of the request
  validation_failed: e(400, 'The request is not valid', 'Correct the fields listed in `errors`.'),
  malformed_request: e(
    400,
    'The request is not valid HTTP',
    'Send HTTP/1.1 with a method from the API documentation.',
  ),
  malformed_json: e(400, 'The body is not valid JSON', 'Send a JSON object encoded in UTF-8.'),
  malformed_cursor: e(
    400,
    'The cursor is not valid',
    'Send `nextCursor` of the previous page unchanged, with the same filters.',
  ),
  malformed_header: e(400, 'A header is not valid', 'Correct the header named in `detail`.'),
  workspace_required: e(
    400,
    'The request names no workspace',
    'Send X-Workspace-Id with the id of one of your workspaces.',
  ),
  run_required: e(
    409,
    'The report names no run, and the agent holds no run of the task',
    'Send the run token, or send `runId` in the body.',
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
    'Send the request again. Its headers must arrive within 15 seconds.',
  ),
  unsupported_media_type: e(
    415,
    'The content type is not supported',
    'Send uncompressed application/json in UTF-8.',
  ),
  method_not_allowed: e(
    405,
    'The method is not allowed here',
    'Use a method that the API documentation lists for this path.',
  ),

  ambiguous_id: e(
    409,
    'More than one thing has an id that begins with these digits',
    'Send more digits of the id. `candidates` lists some of the ids.',
  ),

  // Errors of the caller
  unauthenticated: e(
    401,
    'The request carries no credentials',
    'Send Authorization: Bearer with an access token, an agent token or an API key.',
  ),
  invalid_token: e(401, 'The token is not valid', 'Sign in again or request a new token.'),
  invalid_gateway_token: e(
    401,
    'The token of the gateway is not valid',
    'Set the same GATEWAY_SECRET on the server and the gateway, and synchronize their clocks.',
  ),
  invalid_metrics_token: e(
    401,
    'The metrics token is missing or wrong',
    'Send Authorization: Bearer with the METRICS_TOKEN of the server.',
  ),
  invalid_hook_signature: e(
    401,
    'The hook does not exist, or the signature of the event is not valid',
    'Check the address and the secret. If the signature contains a time, check the clock ' +
      'of the sender.',
  ),
  token_expired: e(401, 'The token has expired', 'Refresh the token or sign in again.'),
  token_revoked: e(401, 'The token was revoked', 'Sign in again or request a new token.'),
  wrong_token_kind: e(
    401,
    'This kind of token is not accepted here',
    'Use the kind of token that `detail` names.',
  ),
  ...SIGN_IN_ERRORS,
  forbidden: e(
    403,
    'Your role does not allow this',
    'Ask the person that `detail` names, or an OWNER or ADMIN of the workspace.',
  ),
  insufficient_scope: e(403, 'The API key lacks a scope', 'Use a key with the scope in `detail`.'),
  rate_limited: e(
    429,
    'Too many requests',
    'Wait for the seconds in Retry-After, then send the request again.',
  ),
  too_many_streams: e(
    429,
    'Too many streams are open',
    'Close a stream or combine several into one. Otherwise wait for the seconds in Retry-After.',
  ),
  queue_full: e(
    429,
    'The queue of the workspace is full',
    'Wait for the seconds in Retry-After. An operator can raise `limit`.',
  ),

  exceeds_queue: e(
    422,
    'The request has more tasks than the queue of the workspace can hold',
    'Create the tasks in batches of at most `limit`. An operator can raise it.',
  ),

  // Errors of the object
  route_not_found: e(404, 'The path does not exist', 'Use a path that /docs lists.'),
  workspace_not_found: e(
    404,
    'The workspace does not exist',
    'Check the id. You must be a member of the workspace.',
  ),
  task_not_found: e(404, 'The task does not exist', 'Check the id and the workspace.'),
  run_not_found: e(404, 'The run does not exist', 'Check the id and the workspace.'),
  agent_not_found: e(
    404,
    'The agent does not exist',
    'Check the id and the workspace, or register the agent.',
  ),
  project_not_found: e(404, 'The project does not exist', 'Check the id and the workspace.'),
  budget_not_found: e(404, 'The budget does not exist', 'Check the id in the list of budgets.'),
  provider_limit_not_found: e(
    404,
    'The provider limit does not exist',
    'Check the id in the list of provider limits. The limit may have ended.',
  ),
  pause_not_found: e(404, 'The pause does not exist', 'Check the id in the list of pauses.'),
  webhook_not_found: e(404, 'The webhook does not exist', 'Check the id in the list of webhooks.'),
  inbound_hook_not_found: e(
    404,
    'The inbound hook does not exist',
    'Check the id in the list of inbound hooks.',
  ),
  prompt_not_found: e(
    404,
    'The run has received no prompt',
    'Preview the next one by POST /agent-tasks/:id/prompt.',
  ),
  milestone_not_found: e(404, 'The milestone does not exist', 'Check the id and the project.'),
  dependency_not_found: e(404, 'The dependency does not exist', 'Check both task ids.'),
  member_not_found: e(404, 'The member does not exist', 'Check the user id and the workspace.'),
  invitation_not_found: e(
    404,
    'The invitation does not exist',
    'Check the id and sign in with the invited e-mail address. Otherwise ask for a new invitation.',
  ),
  api_key_not_found: e(404, 'The API key does not exist', 'Check the id and the workspace.'),
  session_not_found: e(404, 'The session does not exist', 'List your sessions to find the id.'),
  user_not_found: e(404, 'The user does not exist', 'Check the id.'),

  events_expired: e(
    410,
    'The events since this id no longer exist',
    'Read the state of tasks and agents from the API, then continue with the events of ' +
      'this stream.',
  ),

  // Errors of the object's state
  illegal_transition: e(
    409,
    'The state of the task, run or agent does not allow this',
    'Read `current` (the state) and `legal` (the possible next states), then choose again.',
  ),
  cascade_too_large: e(
    409,
    'Too many tasks depend on this task to cancel them together',
    'Cancel its dependents first, with POST /agent-tasks/bulk/cancel and a filter.',
  ),
  run_commands_forbidden: e(
    403,
    'Runs of this workspace cannot create tasks with a command or a coding agent',
    'Ask an ADMIN of the workspace to set `allowRunCommands` by PATCH /workspaces/:id.',
  ),
  model_not_allowed: e(
    422,
    'The model of the coding agent is not allowed',
    'Name a model that `detail` lists, or ask an ADMIN of the workspace to change `allowedModels`.',
  ),
  subtask_limit: e(
    409,
    'The task cannot have these subtasks',
    'Do the work in the run itself or in fewer tasks. An operator can raise ' +
      'MAX_SUBTASK_DEPTH and MAX_SUBTASKS_PER_TASK.',
  ),
  stale_run: e(
    409,
    'The run is not the live one of its task',
    'Stop the work. The task has moved on, and the server accepts no more reports of this run.',
  ),
  not_continuable: e(
    409,
    'The task cannot be continued',
    'Continue finished tasks with an `agent` only. Send a message to the live run of another task.',
  ),
  run_ended: e(
    409,
    'The run has ended',
    'Send the message to the live run of the task, its `runId`, or continue the task.',
  ),
  run_hears_no_messages: e(
    409,
    'No coding agent executes the run',
    'Only runs of tasks with an `agent` hear messages. Cancel the task, or wait for its end.',
  ),
  too_many_messages: e(
    422,
    'The run has received the maximum number of messages',
    'Continue the task after the run has ended.',
  ),
  question_closed: e(
    409,
    'The question is closed',
    'Read `state` and `answer`. Somebody answered it, its deadline passed or its task ended.',
  ),
  question_not_found: e(404, 'The question does not exist', 'Check the id and the workspace.'),
  too_many_questions: e(
    422,
    'The task has asked the maximum number of questions',
    'Continue with the existing answers or fail the run.',
  ),
  budget_period_taken: e(
    409,
    'Another budget of the same scope covers this period',
    'Change that budget or choose a period that does not overlap it.',
  ),
  budget_exceeded: e(
    409,
    'The budget has too few tokens left',
    'Move at most `available` tokens or raise the budget.',
  ),
  usage_report_conflict: e(
    409,
    'Another report with this id has different content',
    'Give each report its own id. Repeat a report without changes.',
  ),
  unknown_model: e(
    422,
    'The model has no price',
    'Use a name from GET /model-prices. An operator can add a model with POST /model-prices.',
  ),
  version_mismatch: e(
    412,
    'The object has changed since you read it',
    'Read the object again and send its new version in If-Match.',
  ),
  dependency_cycle: e(409, 'The dependencies would form a cycle', 'Remove an edge of `path`.'),
  dependency_locked: e(
    409,
    'The dependencies of this task can no longer change',
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
    'Name another project or none. An archived project accepts no new tasks.',
  ),
  milestone_archived: e(
    409,
    'The milestone is archived',
    'Name another milestone or none. An archived milestone accepts no new tasks.',
  ),
  secrets_unreadable: e(
    409,
    'A secret of the task cannot be opened',
    'Ask an operator. `detail` reports whether the key is missing or the secret was altered.',
  ),
  lease_renewals_exhausted: e(
    409,
    'The lease can no longer be renewed',
    'Finish or release the run, then claim again.',
  ),
  agent_terminated: e(409, 'The agent is terminated', 'Register an agent under a new id.'),
  agent_draining: e(409, 'The agent is draining', 'The agent takes no new runs. Let it finish.'),
  agent_in_use: e(
    409,
    'Another process works as this agent',
    'Register under another id. Or end that process and try again after the seconds in ' +
      'Retry-After.',
  ),
  agent_is_push: e(
    409,
    'The coordinator assigns tasks to push agents',
    'Wait until the gateway starts its sessions, or register it with `mode` pull to claim tasks.',
  ),
  webhook_disabled: e(
    409,
    'The webhook is disabled',
    'Enable it by PATCH with `enabled`: true. The server sends nothing to a disabled webhook.',
  ),
  workspace_limit: e(
    409,
    'You have created the maximum number of workspaces',
    'Use one that you have. An operator can raise MAX_WORKSPACES_PER_USER.',
  ),
  api_key_limit: e(
    409,
    'You have the maximum number of valid API keys',
    'Revoke one. An operator can raise MAX_API_KEYS_PER_USER.',
  ),
  webhook_limit: e(
    409,
    'The workspace has the maximum number of webhooks',
    'Delete one. An operator can raise MAX_WEBHOOKS_PER_WORKSPACE.',
  ),
  webhook_unsigned: e(
    409,
    'Messages to Slack, Discord and e-mail are not signed',
    'The webhook has no secret to rotate. Change `url` or `recipients` by PATCH.',
  ),
  inbound_hook_disabled: e(
    409,
    'The inbound hook is disabled',
    'Ask an ADMIN of the workspace to enable it by PATCH with `enabled`: true, then send ' +
      'the event again.',
  ),
  inbound_hook_limit: e(
    409,
    'The workspace has the maximum number of inbound hooks',
    'Delete one. An operator can raise MAX_WEBHOOKS_PER_WORKSPACE.',
  ),
  hook_rule_refused: e(
    422,
    'The rule of the inbound hook cannot create a task from this event',
    'Correct the rule as `detail` says, then send the event again.',
  ),
  price_exists: e(
    409,
    'The model has another price from this time on',
    'Choose another time. A price never changes, so correct it with a new price from now on.',
  ),
  email_taken: e(409, 'The e-mail address is in use', 'Sign in with it or use another one.'),
  slug_taken: e(409, 'The workspace slug is in use', 'Choose another slug.'),
  last_operator: e(409, 'The installation needs an operator', 'Make another user operator first.'),
  last_owner: e(409, 'A workspace needs an owner', 'Make another member OWNER first.'),
  already_member: e(409, 'The user is already a member', 'Change the role of the member instead.'),
  idempotency_key_reused: e(
    422,
    'The Idempotency-Key was used for another request',
    'Use a new key for a new request.',
  ),
  idempotency_in_progress: e(
    409,
    'The first request with this Idempotency-Key is still running',
    'Wait for the seconds in Retry-After, then send the request again with the same key.',
  ),

  ...ARTIFACT_ERRORS,
  ...CODE_ERRORS,
  ...TIME_ERRORS,
  ...CREDENTIAL_ERRORS,
  ...CHANGE_ERRORS,

  // Errors of the server
  conflict_retry: e(
    503,
    'The request conflicts with too many concurrent requests',
    'Try again after the seconds in Retry-After.',
  ),
  database_unavailable: e(
    503,
    'The database cannot be reached',
    'The server changed nothing. Try again after the seconds in Retry-After.',
  ),
  gateway_draining: e(
    503,
    'The gateway is shutting down',
    'Try again after the seconds in Retry-After or use another gateway.',
  ),
  outcome_unknown: e(
    503,
    'The connection to the database broke while committing',
    'The change may or may not be stored. Repeat the request with the same Idempotency-Key ' +
      'or read the state.',
  ),
  resource_exhausted: e(
    429,
    'The gateway is at its maximum number of sessions, and its queue is full',
    'Try again after the seconds in Retry-After.',
  ),
  shutting_down: e(503, 'The server is shutting down', 'Try again. Another server answers.'),
  internal_error: e(500, 'The server failed', 'Report the request id to an operator.'),
} as const;

export type ErrorCode = keyof typeof ERRORS;
