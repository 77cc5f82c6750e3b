import type { ChangeState } from '#lib/changes/domain';
import { assertNever } from '#lib/kernel';
import type { HoldCode } from '#lib/runs';
import type {
  BudgetFacts,
  ChangeFacts,
  ExplainFacts,
  PrerequisiteFacts,
  ProviderLimitFacts,
  QuestionFacts,
  RootFacts,
} from './explain-facts.js';
import { agentReasons } from './explain-agents.js';
import { beingSpawned, heldByPause } from './explain-spawning.js';
import { describeCause } from './causes.js';
import { ended, heldByRun } from './explain-reasons.js';
import type { EstimateView } from './estimate.js';
import type { Param } from './params.js';
import {
  budget,
  dependency,
  type Facts,
  type OtherReason,
  pause,
  providerLimit,
  type ReasonOf,
  REASONS,
  throttle,
  time as timeSchema,
  type Told,
} from './reasons.js';
import type { PausedFor, TaskStatus } from '#lib/transitions/domain';
import type { Throttle } from '#lib/budgets';

/** The description of a reason to hold a task back. */
interface HeldBack<Described extends Facts> {
  about: string;
  facts: Described;
  /** Estimates know its end (task-position.ts). Without a foreseeable end there is no estimate. */
  isForeseen: boolean;
  tell: (facts: ExplainFacts) => (Told<Described> | OtherReason)[];
}

const heldBy = <Described extends Facts>(hold: HeldBack<Described>) => hold;

export const HELD_BACK = {
  workspace_archived: heldBy({
    about: 'Its workspace is archived',
    facts: {},
    isForeseen: false,
    tell: () => [{ message: 'Its workspace is archived: none of its tasks starts.', facts: {} }],
  }),
  queue_expired: heldBy({
    about: 'It waited longer than it is allowed to',
    facts: { queueExpiresAt: timeSchema },
    isForeseen: true,
    tell: ({ task }) => (task.queueExpiresAt ? [queueExpired(task.queueExpiresAt)] : []),
  }),
  held_by_pause: heldBy({
    about: 'Its type, its workspace or everything is paused',
    facts: pause,
    isForeseen: true,
    tell: ({ pauses }) => pauses.map(heldByPause),
  }),
  throttled: heldBy({
    about:
      'Its workspace or its project has as many runs as it may have while a budget would not last',
    facts: throttle,
    isForeseen: false,
    tell: ({ throttles }) => throttles.map(throttledBy),
  }),
  provider_limited: heldBy({
    about: 'The provider of the model that it needs refuses the workspace',
    facts: providerLimit,
    isForeseen: false,
    tell: ({ task }) => task.providerLimits.map(limitedBy),
  }),
  waiting_for_dependency: heldBy({
    about:
      'A task that it depends on has not ended. A start that has not come and a missing slot of its ' +
      'concurrency key hold it in the same way',
    facts: dependency,
    isForeseen: true,
    tell: dependencyReasons,
  }),
  budget: heldBy({
    about: 'A budget that covers it has less left than it needs',
    facts: budget,
    isForeseen: false,
    tell: ({ task }) => task.budgets.map(shortOfBudget),
  }),
} satisfies Record<HoldCode, object>;

/** Every reason by its code. */
export const ALL_REASONS = { ...HELD_BACK, ...REASONS };
export type ReasonCode = keyof typeof ALL_REASONS;

/** Why a task is not running: a code for programs, a sentence for people, and the facts. */
export type Reason = ReasonOf<typeof ALL_REASONS>;

/** A reason with the parts of its message that have an id, a code or a time. */
export type ExplainedReason = Reason & { params: Param[] };

/** An explanation in the API. */
export interface ExplanationView {
  taskId: string;
  status: TaskStatus;
  /** Whether a run holds the task now. */
  live: boolean;
  reasons: ExplainedReason[];
  /** When it will start and end. */
  estimate: EstimateView;
  /** The time of these facts, by the database's clock. */
  at: string;
}

/**
 * Every reason for which a task is not running. For a running or finished task, its state. Pure.
 * Never empty: a task without another reason waits to be claimed.
 */
export function explain(facts: ExplainFacts): Reason[] {
  const { status } = facts.task;
  switch (status) {
    case 'ASSIGNED':
    case 'RUNNING':
      return held(facts);
    case 'PAUSED':
      return [resting(facts), ...(facts.run ? held(facts) : waiting(facts))];
    case 'ABORTED':
      return facts.task.retryAt
        ? [waitingForRetry(facts), ...waiting(facts)]
        : endedOrReplayed(facts);
    case 'COMPLETED':
    case 'FAILED':
    case 'ARCHIVED':
      return endedOrReplayed(facts);
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

/** Returns the reasons that hold the task back besides a pause and the wait for its retry. */
function waiting(facts: ExplainFacts): Reason[] {
  return [...heldBack(facts), ...agentReasons(facts).filter(isObstacle)];
}

function heldBack(facts: ExplainFacts): Reason[] {
  return facts.task.heldBack.flatMap((code) =>
    HELD_BACK[code].tell(facts).map((told) => ({ code, ...told }) as Reason),
  );
}

function pending(facts: ExplainFacts): Reason[] {
  // Its hold can have ended between two statements. Then its agents decide.
  const reasons = heldBack(facts).length > 0 ? waiting(facts) : agentReasons(facts);
  return [...reasons, ...expiry(facts), ...(hasPosition(facts) ? queuePosition(facts) : [])];
}

/** The expiry of a task that still has time. */
function expiry({ task }: ExplainFacts): OtherReason[] {
  if (task.queueExpiresAt === null || task.heldBack.includes('queue_expired')) return [];
  const queueExpiresAt = task.queueExpiresAt.toISOString();
  const message = `It is aborted if it has not started by ${queueExpiresAt}.`;
  return [{ code: 'expires_while_waiting', message, facts: { queueExpiresAt } }];
}

function endedOrReplayed(facts: ExplainFacts): Reason[] {
  const { replay } = facts.task;
  if (replay === null) return [ended(facts)];
  const message = `The task "${replay.title}" replays it. That task is ${replay.status}.`;
  return [ended(facts), { code: 'replayed', message, facts: replay }];
}

function hasPosition({ task }: ExplainFacts): boolean {
  return task.unmetDependencies === 0 && !task.heldBack.includes('queue_expired');
}

/** A free agent is no reason for a task that could not start anyway. */
function isObstacle({ code }: Reason): boolean {
  return code !== 'waiting_for_claim' && code !== 'waiting_for_assignment';
}

type DependencyReason = Told<typeof dependency> | OtherReason;

/** A start and a slot hold a task as dependencies do, and are counted with them. */
function awaited({ awaitedStart, awaitedKey, ...task }: ExplainFacts['task']) {
  const { concurrencyLimit, debounceKey } = task;
  const reasons: OtherReason[] = [];
  if (awaitedStart !== null) {
    const startAt = awaitedStart.toISOString();
    const moves = ` A new creation with the debounce key "${debounceKey}" moves that start.`;
    const message = `It starts at ${startAt} or later.${debounceKey === null ? '' : moves}`;
    reasons.push({ code: 'waiting_for_start', message, facts: { startAt, debounceKey } });
  }
  if (awaitedKey !== null) {
    const limit = concurrencyLimit ?? 1;
    const message =
      `It waits for a slot of the concurrency key "${awaitedKey}", of which ${limit} ` +
      `${limit === 1 ? 'task runs' : 'tasks run'} at once.`;
    const facts = { concurrencyKey: awaitedKey, concurrencyLimit: limit };
    reasons.push({ code: 'waiting_for_slot', message, facts });
  }
  return reasons;
}

function dependencyReasons({ dependencies, roots, task }: ExplainFacts): DependencyReason[] {
  const others = awaited(task);
  const told = dependencies.map((dependency) =>
    dependency.endedWithoutSuccess ? dependencyFailed(dependency) : waitsForDependency(dependency),
  );
  const furtherUp = roots.map(waitsFurtherUp);
  const untold = task.unmetDependencies - dependencies.length - others.length;
  if (untold <= 0) return [...others, ...told, ...furtherUp];
  const message = `It waits for ${untold} more tasks.`;
  const more: OtherReason = {
    code: 'waiting_for_more_dependencies',
    message,
    facts: { count: untold },
  };
  return [...others, ...told, more, ...furtherUp];
}

function waitsFurtherUp(root: RootFacts): OtherReason {
  const { endedWithoutSuccess, ...facts } = root;
  const { title, status } = root;
  const about = `Further up the dependencies, the task "${title}"`;
  const message =
    status === 'COMPLETED'
      ? `${about} has completed; what waits for it is released in a moment.`
      : `${about} ${stateOf(root)}${endedWithoutSuccess ? '' : ', and has not completed yet'}.`;
  return { code: 'waiting_further_up', message, facts };
}

function waitsForDependency(prerequisite: PrerequisiteFacts): DependencyReason {
  const { taskId, title, status, policy, retryAt } = prerequisite;
  const message =
    status === 'COMPLETED'
      ? `The task "${title}" that it waited for has completed; it is released in a moment.`
      : `It waits for the task "${title}", which ${stateOf(prerequisite)}.`;
  return { message, facts: { taskId, title, status, policy, retryAt } };
}

/** An aborted task that is retried is not at its end. */
function stateOf({ status, retryAt }: Pick<RootFacts, 'status' | 'retryAt'>): string {
  return retryAt === null ? `is ${status}` : `is retried at ${retryAt}`;
}

const AFTER_FAILURE = {
  block: 'it waits until that task is retried and completes, or the dependency is removed',
  fail: 'it fails with it in a moment',
  ignore: 'it is released in a moment',
} as const;

function dependencyFailed(prerequisite: PrerequisiteFacts): OtherReason {
  const { taskId, title, status, policy, retryAt } = prerequisite;
  const message =
    `The task "${title}" that it depends on is ${status}, and with the policy ${policy} ` +
    `${AFTER_FAILURE[policy]}.`;
  const facts = { taskId, title, status, policy, retryAt };
  return { code: 'dependency_failed', message, facts };
}

function resting(facts: ExplainFacts): Reason {
  const { question, change } = facts.task;
  if (change !== null) return waitsForReview(change);
  return question === null ? paused(facts) : waitsForAnswer(question);
}

const WAITS_FOR: Partial<Record<ChangeState, string>> = {
  PROVING: 'a host to run the acceptance commands on it',
  IN_REVIEW: 'its review',
  APPROVED: 'its turn to be merged',
};

function waitsForReview(change: ChangeFacts): Reason {
  const { state, target, obstacle, submittedAt } = change;
  const waits = WAITS_FOR[state] ?? 'its review';
  const obstructed = obstacle === null ? '' : ` Something is in the way: ${obstacle}`;
  const message =
    `Paused for review: its change for ${target} was submitted at ${submittedAt} and waits for ` +
    `${waits}.${obstructed}`;
  return { code: 'waiting_for_review', message, facts: change };
}

function waitsForAnswer(question: QuestionFacts): Reason {
  const { prompt, deadlineAt, onDeadline, default: answer } = question;
  const then =
    onDeadline === 'fail'
      ? 'it fails'
      : `it continues with ${JSON.stringify(answer)} as the answer`;
  const message =
    `It waits for a person to answer its question "${prompt}". Without an answer ` +
    `by ${deadlineAt}, ${then}.`;
  return { code: 'waiting_for_answer', message, facts: question };
}

function paused({ task }: ExplainFacts): Reason {
  const { pausedBy: by, pausedByName: byName } = task;
  const who = byName === null ? (by ?? 'somebody') : `${byName} (${by})`;
  const why = task.pauseReason && task.pauseReason !== 'paused' ? `: ${task.pauseReason}` : '';
  const since = time(task.pausedAt);
  const message =
    `It was paused by ${who} at ${since}${why}. It continues ` + `${whenResumed(task.pausedFor)}.`;
  return {
    code: 'paused',
    message,
    facts: { by: by ?? 'somebody', byName, reason: task.pauseReason, since },
  };
}

function whenResumed(pausedFor: PausedFor | null): string {
  if (pausedFor === 'budget') {
    return 'when every budget that covers it has the tokens again, or when it is resumed';
  }
  if (pausedFor === 'provider') {
    return 'when its provider accepts requests again, or when it is resumed';
  }
  return 'when it is resumed';
}

function waitingForRetry({ task, now }: ExplainFacts): Reason {
  const { retryAt, retryCount, maxRetries, abortReason } = task;
  const at = time(retryAt);
  const due = retryAt !== null && retryAt <= now;
  const when = due ? 'is due and follows in a moment' : `follows at ${at}`;
  const message =
    `Its last attempt was aborted: ${describeCause(abortReason)}. Retry ${retryCount} of ` +
    `${maxRetries} ${when}.`;
  const facts = { retryAt: at, due, retryCount, maxRetries, abortReason };
  return { code: 'waiting_for_retry', message, facts };
}

function queueExpired(expiresAt: Date) {
  const at = expiresAt.toISOString();
  const message = `It was to be started before ${at}, which has passed: it is aborted in a moment.`;
  return { message, facts: { queueExpiresAt: at } };
}

function throttledBy({ projectId, budgetId, maxRuns, since: at }: Throttle) {
  const whose = projectId === null ? 'The workspace' : 'Its project';
  const since = at.toISOString();
  const message =
    `${whose} may have ${maxRuns} ${maxRuns === 1 ? 'run' : 'runs'} at once since ` +
    `${since}: a budget would be exhausted before its period ends. It goes on when a run ` +
    'ends, or when the budget would last again.';
  return { message, facts: { projectId, budgetId, maxRuns, since } };
}

const REFUSES = {
  rate_limited: 'refuses further requests',
  quota_exhausted: 'says that the quota is used up',
};

function limitedBy(limit: ProviderLimitFacts) {
  const { provider, model, kind, until, isOfFallback } = limit;
  const whose = isOfFallback ? ', the fallback of its model, as well' : '';
  const message =
    `The provider ${provider} ${REFUSES[kind]} for ${model ?? 'all of its models'}${whose}: it ` +
    `waits until ${until}, and goes on by itself.`;
  return { message, facts: limit };
}

function queuePosition({ ahead }: ExplainFacts): Reason[] {
  if (ahead.count === 0) return [];
  const number = `${ahead.isMore ? 'More than ' : ''}${ahead.count}`;
  const message =
    `${number} ready ${ahead.count === 1 ? 'task ranks' : 'tasks rank'} before it among ` +
    'those that the same agents can take.';
  return [{ code: 'queued_behind', message, facts: { count: ahead.count, isMore: ahead.isMore } }];
}

function time(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}

function shortOfBudget(short: BudgetFacts): Told<typeof budget> {
  const { scope, available, needed, allocated, consumed, reserved, periodEnd } = short;
  const whose =
    scope === 'global' ? 'its workspace' : scope === 'task' ? 'the task' : `its ${scope}`;
  const message =
    `The budget of ${whose} has ${available} of ${allocated} tokens left, and a run of it ` +
    `holds ${needed}: ` +
    `${consumed} are consumed and ${reserved} are reserved by live runs. It waits until ` +
    'tokens are given back or the ' +
    `budget is raised, or its period ends at ${periodEnd}.`;
  return { message, facts: short };
}
