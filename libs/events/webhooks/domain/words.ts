import type { EventName } from '#lib/journal/domain';
import { cut } from '#lib/kernel';

/** An event with the known names of its objects. */
export interface NoticeEvent {
  body: Record<string, unknown>;
  taskTitle?: string;
  agentName?: string;
}

/** Maximum number of characters of one value in a sentence. */
const MAX_VALUE = 200;
/** Line breaks, other control characters, and those that reverse the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A value of an event as part of a line. Empty if there is none. */
export function valueText(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value ?? '').slice(1, -1) : String(value);
  return value === undefined ? '' : cut(text.replace(UNPRINTABLE, ' ').trim(), MAX_VALUE);
}

/** The event in a few words: `a task failed`. The same for all events that are counted together. */
export function headlineOf(event: string, status: unknown): string {
  const ofStatus = HEADLINES[`${event} ${String(status)}`];
  return ofStatus ?? HEADLINES[event] ?? event;
}

/** Describes the event and the action to take, if any: one line in plain English without links. */
export function sentenceOf(event: NoticeEvent): string {
  const name = String(event.body['event']);
  const sentence = (SENTENCES as Record<string, Sentence | undefined>)[name];
  return sentence ? sentence(event) : `${capital(name)} happened.`;
}

type Sentence = (event: NoticeEvent) => string;

const HEADLINES: Record<string, string | undefined> = {
  'webhook.test': 'a test',
  'task.created': 'a task was created',
  'task.status_changed PENDING': 'a task waits',
  'task.status_changed ASSIGNED': 'a task was assigned',
  'task.status_changed RUNNING': 'a task runs',
  'task.status_changed PAUSED': 'a task was paused',
  'task.status_changed ABORTED': 'a task was aborted',
  'task.status_changed FAILED': 'a task failed',
  'task.status_changed COMPLETED': 'a task was completed',
  'task.status_changed ARCHIVED': 'a task was archived',
  'task.updated': 'a task was changed',
  'task.progress': 'a task made progress',
  'task.dependency_cycle': 'tasks wait for each other',
  'run.state_changed': 'a run changed its state',
  'run.hung_warning': 'a run seems to hang',
  'run.split_brain_conflict': 'two held one task',
  'question.asked': 'a run asks a question',
  'question.answered': 'a question was answered',
  'question.expired': 'nobody has answered a question in time',
  'change.submitted': 'a change was submitted',
  'change.returned': 'a change went back to its agent',
  'change.review_requested': 'a change waits for review',
  'change.approved': 'a change was approved',
  'change.merged': 'a change was merged',
  'change.failed': 'a change failed',
  'change.closed': 'a change was closed',
  'change.commented': 'a change has a new comment',
  'change.review_overdue': 'nobody has reviewed a change in time',
  'change.obstructed': 'a change does not go on',
  'budget.ending': 'a budget ends soon',
  'budget.ended': 'the period of a budget ended',
  'budget.alert': 'a budget reached an alert threshold',
  'schedule.due_time_failed': 'a schedule could not create its tasks',
  'agent.status_changed': 'an agent changed its status',
  'agent.status_changed ERROR': 'an agent has an error',
  'agent.status_changed TERMINATED': 'an agent is gone',
};

const SENTENCES: Record<EventName | 'webhook.test', Sentence> = {
  'webhook.test': () => 'This is a test from Drover: notices reach this place.',
  'task.created': (event) => `${taskOf(event)} was created.`,
  'task.status_changed': taskMoved,
  'task.updated': (event) => `${taskOf(event)} was changed: ${told(event, 'changed')}.`,
  'task.progress': (event) =>
    `${taskOf(event)} made progress${percentOf(event)}${inBrackets(told(event, 'currentStep'))}.`,
  'task.dependency_cycle': (event) =>
    `${told(event, 'length')} tasks wait for each other, and have failed for it; ${taskOf(event)} is the first. Remove one of the dependencies, then retry them.`,
  'run.state_changed': (event) =>
    `Run ${told(event, 'runId')} of ${lower(taskOf(event))} went from ${told(event, 'previousState')} to ${told(event, 'newState')}${because(event)}.`,
  'run.hung_warning': (event) =>
    `${taskOf(event)} is far past its estimate and makes no progress on ${agentOf(event)}. It is aborted at ${told(event, 'abortsAt')} unless it makes some; look at its log.`,
  'run.split_brain_conflict': (event) =>
    `Two held ${lower(taskOf(event))}; run ${told(event, 'runId')} on ${agentOf(event)} was told to stop. Look whether what it did must be undone.`,
  'question.asked': (event) =>
    `${taskOf(event)} asks: ${ended(`${told(event, 'prompt')}${inBrackets(told(event, 'choices'))}`)} Answer it until ${told(event, 'deadlineAt')}.`,
  'question.answered': (event) =>
    `The question “${told(event, 'prompt')}” was answered: ${told(event, 'answer')}. ${taskOf(event)} goes on.`,
  'question.expired': (event) =>
    `Nobody has answered “${told(event, 'prompt')}” in time. ${taskOf(event)} ${told(event, 'onDeadline') === 'fail' ? 'has failed for it' : `goes on with ${told(event, 'answer')}`}.`,
  'change.submitted': (event) => `The change of ${lower(taskOf(event))} was submitted.`,
  'change.returned': (event) =>
    `The change of ${lower(taskOf(event))} went back to its agent${because(event)}.`,
  'change.review_requested': (event) =>
    `The change of ${lower(taskOf(event))} waits for review. Approve it, or request changes.`,
  'change.approved': (event) => `The change of ${lower(taskOf(event))} was approved.`,
  'change.merged': (event) => `The change of ${lower(taskOf(event))} was merged.`,
  'change.failed': (event) =>
    `The change of ${lower(taskOf(event))} failed${because(event)}. Its branch stays; retry the task, or close the change.`,
  'change.closed': (event) =>
    `The change of ${lower(taskOf(event))} was closed without a merge${because(event)}.`,
  'change.commented': (event) =>
    `Somebody commented on the change of ${lower(taskOf(event))}: “${told(event, 'message')}”.`,
  'change.review_overdue': (event) =>
    `The change of ${lower(taskOf(event))} has waited for review since ${told(event, 'waitingSince')}. Approve it, or request changes.`,
  'change.obstructed': (event) =>
    `The change of ${lower(taskOf(event))} does not go on: ${ended(told(event, 'obstacle'))} Mend it, then merge the change again.`,
  'budget.ending': (event) =>
    `${budgetOf(event)} ends at ${told(event, 'periodEnd')}, and no budget follows. Create one, or let it recur, before usage has no limit.`,
  'budget.ended': (event) =>
    `The period of ${lower(budgetOf(event))} ended with ${told(event, 'consumed')} of ${told(event, 'allocated')} tokens used.${NEXT_BUDGET[told(event, 'followedBy')] ?? ''}`,
  'budget.alert': (event) =>
    `${budgetOf(event)}: ${told(event, 'percentUsed')} % of ${told(event, 'allocated')} tokens are used.${budgetAdvice(event)}`,
  'schedule.due_time_failed': (event) =>
    `Schedule “${told(event, 'name')}” (${told(event, 'scheduleId')}) could not create its tasks at ${told(event, 'dueAt')}: ${ended(told(event, 'message') || told(event, 'reason'))} Mend it, then run the schedule by hand.`,
  'agent.status_changed': (event) =>
    `${capital(agentOf(event))} went from ${told(event, 'previousStatus')} to ${told(event, 'newStatus')}${because(event)}.${agentAdvice(event)}`,
};

const DONE: Record<string, string | undefined> = {
  PENDING: 'waits to be assigned',
  ASSIGNED: 'was assigned',
  RUNNING: 'runs',
  PAUSED: 'was paused',
  ABORTED: 'was aborted',
  FAILED: 'failed',
  COMPLETED: 'was completed',
  ARCHIVED: 'was archived',
};

function taskMoved(event: NoticeEvent): string {
  const status = told(event, 'newStatus');
  const moved = DONE[status] ?? `went to ${status}`;
  return `${taskOf(event)} ${moved}${because(event)}.${taskAdvice(status, event)}`;
}

function taskAdvice(status: string, event: NoticeEvent): string {
  const retryAt = told(event, 'retryAt');
  if (retryAt !== '') return ` It is tried again by itself at ${retryAt}.`;
  if (status === 'FAILED') return ' Look at its log, then retry it.';
  if (status === 'ABORTED') return ' It is not tried again by itself.';
  if (status !== 'PAUSED') return '';
  return PAUSED_FOR.get(told(event, 'reason')) ?? ' It waits until somebody resumes it.';
}

/** The advice for pauses of Drover's own. Those of people have the reason in their words. */
const PAUSED_FOR = new Map([
  ['question', ' It goes on when its question is answered.'],
  ['review', ' It goes on when its change is merged or returned.'],
  ['provider_limited', ' It goes on by itself when the limit ends.'],
  ['budget_used_up', ' It goes on by itself when its budget allows it.'],
]);

/** The text as a sentence of its own. */
function ended(text: string): string {
  return /[.!?…]\)?$/.test(text) ? text : `${text}.`;
}

function taskOf(event: NoticeEvent): string {
  const title = valueText(event.taskTitle);
  const id = told(event, 'taskId');
  return title === '' ? `Task ${id}` : `Task “${title}” (${id})`;
}

function agentOf(event: NoticeEvent): string {
  const name = valueText(event.agentName);
  const id = told(event, 'agentId');
  return name === '' ? `agent ${id}` : `agent “${name}” (${id})`;
}

function budgetOf(event: NoticeEvent): string {
  const scope = told(event, 'scope');
  return scope === 'global'
    ? 'The budget of the workspace'
    : `The budget of ${scope} ${told(event, 'scopeId')}`;
}

const NEXT_BUDGET: Record<string, string | undefined> = {
  renewal: ' Its next period has begun.',
  budget: ' Another budget follows.',
  nothing: ' No budget follows: usage has no limit until you create one.',
};

function budgetAdvice(event: NoticeEvent): string {
  return told(event, 'level') === 'critical'
    ? ' New tasks wait until it is raised or its next period begins. Its policy decides about running tasks.'
    : ' Raise it in time, or let it end.';
}

function agentAdvice(event: NoticeEvent): string {
  const isLost = ['ERROR', 'TERMINATED'].includes(told(event, 'newStatus'));
  return isLost ? ' See whether its machine and its worker run.' : '';
}

function because(event: NoticeEvent): string {
  const reason = told(event, 'reason');
  return reason === '' ? '' : `: ${reason}`;
}

function percentOf(event: NoticeEvent): string {
  const percent = told(event, 'progressPercent');
  return percent === '' ? '' : `: ${percent} %`;
}

const inBrackets = (text: string): string => (text === '' ? '' : ` (${text})`);
const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function told({ body }: NoticeEvent, name: string): string {
  const value = body[name];
  return Array.isArray(value) ? valueText(value.map(String).join(', ')) : valueText(value);
}
