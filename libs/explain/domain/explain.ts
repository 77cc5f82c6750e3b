import { assertNever } from '#lib/kernel';
import type { HoldCode } from '#lib/runs';
import type { ExplainFacts, PrerequisiteFacts, RootFacts } from './explain-facts.js';
import { agentReasons } from './explain-agents.js';
import { beingSpawned, heldByPause } from './explain-spawning.js';
import { ended, heldByRun, type Reason } from './explain-reasons.js';

/**
 * Every reason that holds for which a task is not running; for one that is, or has ended, what it is
 * at. Pure. Never empty: a task about which there is nothing to say waits to be claimed.
 */
export function explain(facts: ExplainFacts): Reason[] {
  const { status } = facts.task;
  switch (status) {
    case 'ASSIGNED':
    case 'RUNNING':
      return held(facts);
    case 'PAUSED':
      return [paused(facts), ...(facts.run ? held(facts) : waiting(facts))];
    case 'ABORTED':
      return facts.task.retryAt ? [waitingForRetry(facts), ...waiting(facts)] : [ended(facts)];
    case 'COMPLETED':
    case 'FAILED':
    case 'ARCHIVED':
      return [ended(facts)];
    case 'PENDING':
      return pending(facts);
    default:
      return assertNever(status);
  }
}

function held(facts: ExplainFacts): Reason[] {
  const { spawn, spawning } = facts;
  return [heldByRun(facts), ...(spawn ? beingSpawned(spawn, spawning) : [])];
}

/** What each reason to hold a task back says of it. */
const HELD_BACK: Record<HoldCode, (facts: ExplainFacts) => Reason[]> = {
  queue_expired: ({ task }) => (task.queueExpiresAt ? [queueExpired(task.queueExpiresAt)] : []),
  held_by_pause: ({ pauses }) => pauses.map(heldByPause),
  waiting_for_dependency: dependencyReasons,
};

/** What would hold it back even if it were neither paused nor waiting for its retry. */
function waiting(facts: ExplainFacts): Reason[] {
  return [...heldBack(facts), ...agentReasons(facts).filter(isObstacle)];
}

function heldBack(facts: ExplainFacts): Reason[] {
  return facts.task.heldBack.flatMap((code) => HELD_BACK[code](facts));
}

function pending(facts: ExplainFacts): Reason[] {
  // What holds it back may have ended between two statements; then its agents have the word.
  const reasons = heldBack(facts).length > 0 ? waiting(facts) : agentReasons(facts);
  return [...reasons, ...(hasPosition(facts) ? queuePosition(facts) : [])];
}

function hasPosition({ task }: ExplainFacts): boolean {
  return task.unmetDependencies === 0 && !task.heldBack.includes('queue_expired');
}

/** That an agent has room is no reason for which a task waits that could not start anyway. */
function isObstacle({ code }: Reason): boolean {
  return code !== 'waiting_for_claim' && code !== 'waiting_for_assignment';
}

function dependencyReasons({ dependencies, roots, task }: ExplainFacts): Reason[] {
  const told = dependencies.map((dependency) =>
    dependency.endedWithoutSuccess ? dependencyFailed(dependency) : waitsForDependency(dependency),
  );
  const furtherUp = roots.map(waitsFurtherUp);
  const untold = task.unmetDependencies - dependencies.length;
  if (untold <= 0) return [...told, ...furtherUp];
  const message = `It waits for ${untold} more tasks.`;
  const more: Reason = { code: 'waiting_for_more_dependencies', message, facts: { count: untold } };
  return [...told, more, ...furtherUp];
}

function waitsFurtherUp({ taskId, title, status, endedWithoutSuccess }: RootFacts): Reason {
  const message = endedWithoutSuccess
    ? `Further up the dependencies, the task "${title}" is ${status}.`
    : `Further up the dependencies, the task "${title}" is ${status}, and has not completed yet.`;
  return { code: 'waiting_further_up', message, facts: { taskId, title, status } };
}

function waitsForDependency(prerequisite: PrerequisiteFacts): Reason {
  const { taskId, title, status, policy } = prerequisite;
  const message =
    status === 'COMPLETED'
      ? `The task "${title}" that it waited for has completed; it is released in a moment.`
      : `It waits for the task "${title}", which is ${status}.`;
  return { code: 'waiting_for_dependency', message, facts: { taskId, title, status, policy } };
}

const AFTER_FAILURE = {
  block: 'it waits until that task is retried and completes, or the dependency is removed',
  fail: 'it fails with it in a moment',
  ignore: 'it is released in a moment',
} as const;

function dependencyFailed({ taskId, title, status, policy }: PrerequisiteFacts): Reason {
  const message = `The task "${title}" that it depends on is ${status}, and with the policy ${policy} ${AFTER_FAILURE[policy]}.`;
  return { code: 'dependency_failed', message, facts: { taskId, title, status, policy } };
}

function paused({ task }: ExplainFacts): Reason {
  const { pausedBy: by, pausedByName: byName } = task;
  const who = byName === null ? (by ?? 'somebody') : `${byName} (${by})`;
  const why = task.pauseReason && task.pauseReason !== 'paused' ? `: ${task.pauseReason}` : '';
  const since = time(task.pausedAt);
  const message = `It was paused by ${who} at ${since}${why}. It goes on when it is resumed.`;
  return {
    code: 'paused',
    message,
    facts: { by: by ?? 'somebody', byName, reason: task.pauseReason, since },
  };
}

function waitingForRetry({ task, now }: ExplainFacts): Reason {
  const { retryAt, retryCount, maxRetries, abortReason } = task;
  const at = time(retryAt);
  const due = retryAt !== null && retryAt <= now;
  const when = due ? 'is due and follows in a moment' : `follows at ${at}`;
  const message = `Its last attempt was aborted (${abortReason}); retry ${retryCount} of ${maxRetries} ${when}.`;
  const facts = { retryAt: at, due, retryCount, maxRetries, abortReason };
  return { code: 'waiting_for_retry', message, facts };
}

function queueExpired(expiresAt: Date): Reason {
  const at = expiresAt.toISOString();
  const message = `It was to be started before ${at}, which has passed: it is aborted in a moment.`;
  return { code: 'queue_expired', message, facts: { queueExpiresAt: at } };
}

function queuePosition({ ahead }: ExplainFacts): Reason[] {
  if (ahead.count === 0) return [];
  const number = `${ahead.isMore ? 'More than ' : ''}${ahead.count}`;
  const message = `${number} ready ${ahead.count === 1 ? 'task ranks' : 'tasks rank'} before it among those that the same agents can take.`;
  return [{ code: 'queued_behind', message, facts: { count: ahead.count, isMore: ahead.isMore } }];
}

function time(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
