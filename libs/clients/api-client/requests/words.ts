import type { components } from '../generated/api.js';
import { SUMMARIES } from '../generated/summaries.js';

type Entry = Pick<
  components['schemas']['TaskLogEntry'],
  'action' | 'message' | 'newStatus' | 'actor'
>;
type TimedEntry = Pick<components['schemas']['TaskLogEntry'], 'createdAt' | 'details'>;
type Unknown = NonNullable<components['schemas']['Estimate']['unknownBecause']>;

const EXHAUSTED = /^Max retries exceeded \((\d+)\/\d+\): /;

/** The last error of a task for people: "Failed after 3 attempts: …", or the error of its run alone. */
export function describeError(lastError: string): string {
  return lastError.replace(EXHAUSTED, (_, retries: string) =>
    retries === '0' ? '' : `Failed after ${Number(retries) + 1} attempts: `,
  );
}

/**
 * The words for an operation, for people: "Cancel a task". An operation of another version keeps its id.
 */
export function describeOperation(operationId: string): string {
  if (!Object.hasOwn(SUMMARIES, operationId)) return operationId;
  // The rest is about the answer, which is for programs.
  return String(SUMMARIES[operationId]).replace(/;.*/, '');
}

/** Why a task has no estimate, for people. A task that has ended needs none. */
export const WHY_NO_ESTIMATE: Record<Exclude<Unknown, 'ended'>, string> = {
  paused: 'Somebody must resume it first.',
  held_back: 'Nobody knows how long the reason above holds it back.',
  dependency_failed: 'A task that it waits for ended without success.',
  waiting_for_dependency: 'A task that it waits for has no estimate.',
  too_many_dependencies: 'It waits for too many tasks.',
  no_agent: 'No agent in service can take it.',
  spawn_rate: 'No session can be started for it now.',
  too_far_back: 'Too many tasks rank before it.',
  no_history: 'No task of its type has completed yet.',
  longer_than_any: 'It has run longer than all completed tasks of its type.',
};

const ACTIONS: Partial<Record<string, string>> = {
  task_created: 'Created',
  task_assigned: 'Assigned',
  task_started: 'Started',
  task_paused: 'Paused',
  task_resumed: 'Resumed',
  task_completed: 'Completed',
  task_failed: 'Failed',
  task_cancelled: 'Cancelled',
  task_recovery: 'Aborted',
  task_requeued: 'Returned to the queue',
  task_released: 'Returned to the queue',
  task_archived: 'Archived',
};

/** Actors that a person must know. Its agent and its run are the usual ones. */
const ACTORS: Partial<Record<string, string>> = {
  user: 'a user',
  api_key: 'an API key',
  hook: 'an inbound hook',
  schedule: 'a schedule',
  coordinator: 'the coordinator',
};

/** Reasons that are the message of an entry. */
const REASONS: Partial<Record<string, string>> = {
  kill_switch: 'the kill switch ended its run',
  token_revoked: 'the token of its agent was revoked',
  workspace_archived: 'its workspace was archived',
};

const CODE = /^[a-z]+(?:_[a-z]+)+$/;

/** An entry of a task's log for people: "Aborted by the coordinator: the kill switch ended its run". */
export function describeEntry({ action, message, newStatus, actor }: Entry): string {
  const text = message === null ? '' : (REASONS[message] ?? spaced(message));
  const event = ACTIONS[action] ?? capital(action.replaceAll('_', ' '));
  if (newStatus === null) return message === null ? event : text;
  // "Failed after 3 attempts: …" says it already.
  if (text.startsWith(`${event} `)) return text;
  const by = ACTORS[actor.kind];
  const moved = by === undefined || newStatus === 'FAILED' ? event : `${event} by ${by}`;
  return text === '' ? moved : `${moved}: ${text}`;
}

/** Clocks of hosts that differ by more are not believed, in milliseconds. */
const CLOCK_TRUST_MS = 3_600_000;

/**
 * The time of an entry for people: that of the event by the clock of its host, which reports lines
 * some seconds later. It is the time of the report if the host gave none, or if its clock is wrong.
 */
export function timeOfEntry({ createdAt, details }: TimedEntry): string {
  const at = Date.parse(String((details as { at?: unknown } | null)?.at));
  const delayMs = Date.parse(createdAt) - at;
  return delayMs >= 0 && delayMs <= CLOCK_TRUST_MS ? new Date(at).toISOString() : createdAt;
}

function spaced(text: string): string {
  return CODE.test(text) ? text.replaceAll('_', ' ') : text;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
