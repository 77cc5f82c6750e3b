import { AGENT_STATUSES, RUN_STATES, TASK_STATUSES } from '#lib/transitions/domain';
import { type Field, flag, id, int, listOf, oneOf, optional, orNull, text, time } from './field.js';

const [TASK, RUN, AGENT] = [
  '0198c5a0-1111-7000-8000-000000000001',
  '0198c5a0-2222-7000-8000-000000000001',
  '0198c5a0-3333-7000-8000-000000000001',
];
const OTHER = '0198c5a0-4444-7000-8000-000000000001';
const LATER = '2026-01-31T12:05:00.000Z';

const taskId = id('the task', TASK, (row) => row.task_id);
const runId = id('the run', RUN, (row) => row.run_id);
const agentId = id('the agent', AGENT, (row) => row.agent_id);
const version = int('of the task, which each change raises', 3, (row) => row.version);
const reason = orNull(
  text('why, in one word: `agent_stale`, `timeout` …', 'timeout', (row) => row.reason),
);

const asked = {
  questionId: id('the question', OTHER, 'questionId'),
  taskId,
  runId: { ...runId, about: 'the run that asked' },
  agentId,
  prompt: text('the question itself', 'Shall it go out today?', 'prompt'),
};
const onDeadline = (about: string) =>
  oneOf(['default', 'fail'], about, { example: 'default', of: 'onDeadline' });

const CHANGE_STATES = [
  'WORKING',
  'PROVING',
  'IN_REVIEW',
  'APPROVED',
  'MERGED',
  'FAILED',
  'CLOSED',
] as const;
const COMMIT = '5be4a3c0d8f1b2a39f7e6d5c4b3a29180706f5e4';

const change = {
  taskId: { ...taskId, about: 'the task, whose id is that of the change' },
  repositoryId: id('the repository', OTHER, 'repositoryId'),
  revision: int('counts the submissions of the change', 1, 'revision'),
  branch: orNull(text('its branch', 'codex/0198c5a0-1111-7000-8000-000000000001', 'branch')),
  headCommit: orNull(text('the submitted commit', COMMIT, 'headCommit')),
};
const changeMove = (previous: string, next: string, why?: string) => ({
  ...change,
  previousState: oneOf(CHANGE_STATES, 'the state before', {
    example: previous as (typeof CHANGE_STATES)[number],
    of: 'previousState',
  }),
  newState: oneOf(CHANGE_STATES, 'the state that it has', {
    example: next as (typeof CHANGE_STATES)[number],
    of: 'newState',
  }),
  runId: orNull(runId),
  reason: orNull(text('why, in one word: `red`, `conflict` …', why ?? 'red', (row) => row.reason)),
  message: orNull(text('a sentence for people', 'Its acceptance failed', (row) => row.message)),
});

const budgetTask = {
  ...orNull(taskId),
  about: 'the task, where the budget is one’s',
  example: null,
};
const budgetFacts = {
  scope: oneOf(['global', 'project', 'milestone', 'task'], 'what the budget is of', {
    example: 'project',
    of: 'scope',
  }),
  scopeId: id('its id', OTHER, 'scopeId'),
  budgetId: id('the budget', OTHER, 'budgetId'),
  allocated: text('tokens, as digits', '1000000', 'allocated'),
  consumed: text('tokens, as digits', '760000', 'consumed'),
};
const budgetEnd = {
  taskId: budgetTask,
  ...budgetFacts,
  periodStart: time('the begin of the period', '2026-01-01T00:00:00.000Z', 'periodStart'),
  periodEnd: time('the end of the period', '2026-02-01T00:00:00.000Z', 'periodEnd'),
  message: text('a sentence for people', 'The budget of the project ended', (row) => row.message),
};

/**
 * The catalogue of events: each with its fields, their sources and an example. Messages, types, the
 * tables of docs/events.md and the section `webhooks` of the OpenAPI document derive from it.
 */
export const CATALOGUE = {
  'task.created': event('A task was created', {
    taskId,
    newStatus: oneOf(TASK_STATUSES, 'the status that it has', {
      example: 'PENDING',
      of: (row) => row.new_status,
    }),
    version: { ...version, example: 1 },
  }),
  'task.status_changed': event('A task has gone from one status to another', {
    taskId,
    previousStatus: oneOf(TASK_STATUSES, 'the status before', {
      example: 'RUNNING',
      of: (row) => row.previous_status,
    }),
    newStatus: oneOf(TASK_STATUSES, 'the status that it has', {
      example: 'ABORTED',
      of: (row) => row.new_status,
    }),
    version,
    runId: orNull(runId),
    agentId: orNull(agentId),
    reason,
    retryAt: orNull(
      time('when it is tried again by itself', LATER, (row) =>
        row.retry_at === null ? null : new Date(row.retry_at).toISOString(),
      ),
    ),
  }),
  'task.updated': event('Somebody has changed a task', {
    taskId,
    status: oneOf(TASK_STATUSES, 'the status that it has', {
      example: 'PENDING',
      of: (row) => row.new_status,
    }),
    changed: listOf(text('the names of the fields that changed', 'priority', 'changedFields')),
    version,
  }),
  'task.progress': event('A run has told how far it is', {
    taskId,
    runId,
    progressPercent: orNull(int('0 to 100', 40, 'progressPercent')),
    currentStep: orNull(text('what it is at', 'running the tests', (row) => row.message)),
    checkpoint: flag('it has saved a checkpoint', false, (row) => row.log_event === 'checkpoint'),
  }),
  'task.dependency_cycle': event('Tasks wait for each other, and have failed for it', {
    taskId: { ...taskId, about: 'the first of them' },
    path: listOf(id('the tasks, each of which waits for the next', TASK, 'path')),
    taskIds: listOf(id('the same, each once', TASK, 'taskIds')),
    length: int('how many they are', 2, 'length'),
    ownerIds: listOf(id('the owners of the workspace', OTHER, 'ownerIds')),
  }),
  'run.state_changed': event('A run has gone from one state to another', {
    runId,
    taskId,
    agentId,
    generation: int('counts the runs of the task', 1, (row) => row.generation),
    previousState: oneOf(RUN_STATES, 'the state before', {
      example: 'WORKING',
      of: (row) => row.previous_state,
    }),
    newState: oneOf(RUN_STATES, 'the state that it has', {
      example: 'FAILED',
      of: (row) => row.new_state,
    }),
    version: { ...version, about: 'of the run', of: (row) => row.run_version },
    reason: { ...reason, about: 'why it ended', of: (row) => row.end_reason },
  }),
  'run.hung_warning': event('A run is far past its estimate and makes no progress', {
    taskId,
    runId,
    agentId,
    estimatedCompletionAt: time(
      'when it should have been done',
      '2026-01-31T11:30:00+00:00',
      'estimatedCompletionAt',
    ),
    lastProgressAt: orNull(
      time('when it made progress last', '2026-01-31T11:20:00+00:00', 'lastProgressAt'),
    ),
    abortsAt: time('when it is aborted unless it makes some', LATER, (row, details) =>
      new Date(row.created_at + Number(details['abortsAfterSeconds']) * 1_000).toISOString(),
    ),
  }),
  'run.split_brain_conflict': event('Two hold a task; the older one is told to stop', {
    taskId,
    runId: { ...runId, about: 'the run that is told to stop' },
    agentId,
    generation: optional(int('of that run', 1, 'generation')),
    endReason: optional(orNull(text('why it had ended', 'agent_stale', 'endReason'))),
    newerRunId: optional(id('the run that holds the task', OTHER, 'newerRunId')),
    newerAgentId: optional(id('its agent', OTHER, 'newerAgentId')),
    newerGeneration: optional(int('its generation', 2, 'newerGeneration')),
    gatewayId: optional(text('the gateway of a second session of one run', 'b', 'gatewayId')),
    rightfulGatewayId: optional(text('the gateway whose session it is', 'a', 'rightfulGatewayId')),
  }),
  'question.asked': event(
    'A run has asked people a question, and it or its task waits for the answer',
    {
      ...asked,
      choices: listOf(text('the answers to choose from; none: any text', 'yes', 'choices')),
      freeText: flag('an answer may be another text than a choice', false, (_, details) => {
        return details['freeText'] === true;
      }),
      deadlineAt: time('until when it can be answered', LATER, 'deadlineAt'),
      onDeadline: onDeadline('what happens then'),
    },
  ),
  'question.answered': event('Somebody has answered a question, and its run or task goes on', {
    ...asked,
    answer: text('the answer', 'yes', 'answer'),
    answeredBy: text('who answered', `user:${OTHER}`, 'answeredBy'),
  }),
  'question.expired': event('Nobody has answered a question in time', {
    ...asked,
    onDeadline: onDeadline('what has happened: its task goes on with the default, or has failed'),
    answer: orNull(text('the default, where the task goes on with it', 'no', 'answer')),
  }),
  'change.submitted': event(
    'A run has submitted its change, which is proven now',
    changeMove('WORKING', 'PROVING'),
  ),
  'change.returned': event(
    'A change went back to its agent: its acceptance failed, changes were requested, it conflicts',
    changeMove('PROVING', 'WORKING'),
  ),
  'change.review_requested': event(
    'A change is proven and waits for its review',
    changeMove('PROVING', 'IN_REVIEW'),
  ),
  'change.approved': event(
    'A change is approved and waits to be merged',
    changeMove('IN_REVIEW', 'APPROVED'),
  ),
  'change.merged': event('A change is merged', changeMove('APPROVED', 'MERGED')),
  'change.failed': event('A change has failed; its branch stays', changeMove('PROVING', 'FAILED')),
  'change.closed': event('A change was closed without a merge', changeMove('IN_REVIEW', 'CLOSED')),
  'change.commented': event('Somebody has commented on a change', {
    ...change,
    reviewId: id('the comment', OTHER, 'reviewId'),
    state: oneOf(CHANGE_STATES, 'the state of the change', { example: 'IN_REVIEW', of: 'state' }),
    message: orNull(text('its beginning', 'Please add a test', (row) => row.message)),
  }),
  'change.review_overdue': event('Nobody has reviewed a change in time', {
    ...change,
    waitingSince: time('when its review was requested', LATER, 'waitingSince'),
  }),
  'change.obstructed': event('A change does not go on until somebody mends something', {
    ...change,
    state: oneOf(CHANGE_STATES, 'the state of the change', { example: 'APPROVED', of: 'state' }),
    obstacle: text('what is in its way', 'The repository refused the credentials', 'obstacle'),
  }),
  'budget.ending': event('A budget ends soon, and no budget follows', {
    ...budgetEnd,
    consumed: { ...budgetEnd.consumed, about: 'tokens so far, as digits' },
  }),
  'budget.ended': event('The period of a budget has ended', {
    ...budgetEnd,
    followedBy: oneOf(
      ['renewal', 'budget', 'nothing'],
      'the limit from then on: its own next period, another budget, or none',
      { example: 'renewal', of: 'followedBy' },
    ),
  }),
  'budget.alert': event('50, 75, 90 or 100 % of a budget are used', {
    taskId: budgetTask,
    level: oneOf(['warning', 'critical'], '`critical` at 100 %', {
      example: 'warning',
      of: 'level',
    }),
    threshold: int('the step that was reached', 75, 'threshold'),
    percentUsed: int('how much is used', 76, 'percentUsed'),
    ...budgetFacts,
    message: text('a sentence for people', '75 % of the budget of the project is used', (row) => {
      return row.message;
    }),
  }),
  'schedule.due_time_failed': event('A due time of a schedule could not create its tasks', {
    scheduleId: id('the schedule', OTHER, 'scheduleId'),
    name: text('its name', 'nightly', 'name'),
    dueAt: time('the due time', '2026-01-31T12:00:00.000Z', 'dueAt'),
    reason: text('the code of the refusal', 'project_archived', (row) => row.reason),
    message: orNull(text('a sentence for people', 'The project is archived', (row) => row.message)),
  }),
  'agent.status_changed': event('An agent has gone from one status to another', {
    agentId,
    previousStatus: oneOf(AGENT_STATUSES, 'the status before', {
      example: 'WORKING',
      of: (row) => row.previous_status,
    }),
    newStatus: oneOf(AGENT_STATUSES, 'the status that it has', {
      example: 'ERROR',
      of: (row) => row.new_status,
    }),
    reason: { ...reason, about: 'why', example: 'stale' },
    version: { ...version, about: 'of the agent' },
  }),
};

/** The name of an event: its subject, a dot, and what happened. */
export type EventName = keyof typeof CATALOGUE;

export const EVENT_NAMES = Object.keys(CATALOGUE) as EventName[];

type Fields<Name extends EventName> = (typeof CATALOGUE)[Name]['fields'];

/** The fields of every event. */
export interface Envelope<Name extends string = string> {
  event: Name;
  workspaceId: string;
  /** Time of the event, as in RFC 3339. */
  timestamp: string;
}

/** An event's fields, beside those of every event. */
export type EventBody<Name extends EventName> = Envelope<Name> & {
  [F in keyof Fields<Name>]: Fields<Name>[F] extends Field<infer T> ? T : never;
};

export interface CataloguedEvent {
  about: string;
  fields: Record<string, Field<unknown>>;
}

/** The fields that every event starts with. */
export const ENVELOPE = {
  event: text('its name', 'task.status_changed', (row) => row.event),
  workspaceId: id('the workspace', '0198c5a0-0000-7000-8000-000000000001', (row) => {
    return row.workspace_id;
  }),
  timestamp: time('when it happened', '2026-01-31T12:00:00.000Z', (row) => row.created_at),
};

function event<const F extends CataloguedEvent['fields']>(about: string, fields: F) {
  return { about, fields };
}

/** An example of an event's whole body. */
export function exampleOf(name: EventName): Record<string, unknown> {
  const { fields }: CataloguedEvent = CATALOGUE[name];
  const shown = Object.entries({ ...ENVELOPE, ...fields }).filter(([, { optional }]) => !optional);
  return { ...Object.fromEntries(shown.map(([key, { example }]) => [key, example])), event: name };
}
