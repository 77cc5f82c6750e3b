import { redactText } from '#lib/kernel';
import type { EstimateView } from './estimate.js';
import type { AgentFacts, ExplainFacts, NearAgent, PauseFacts, RunFacts } from './explain-facts.js';
import type { TaskStatus } from '#lib/transitions';
import type { DependencyPolicy } from '#lib/task-manager';

interface AgentsFacts {
  count: number;
  /** Some of them. */
  agents: AgentFacts[];
}

interface DependencyFacts {
  taskId: string;
  title: string;
  status: TaskStatus;
  policy: DependencyPolicy;
}

interface EndFacts {
  at: string | null;
  reason: string | null;
  error: string | null;
  runId: string | null;
  agentId: string | null;
  agentName: string | null;
  exitCode: number | null;
}

/** What each code comes with. */
export interface ReasonFacts {
  waiting_for_dependency: DependencyFacts;
  waiting_for_more_dependencies: { count: number };
  dependency_failed: DependencyFacts;
  waiting_further_up: Omit<DependencyFacts, 'policy'>;
  paused: { by: string; byName: string | null; reason: string | null; since: string | null };
  waiting_for_retry: {
    retryAt: string | null;
    due: boolean;
    retryCount: number;
    maxRetries: number;
    abortReason: string | null;
  };
  queue_expired: { queueExpiresAt: string };
  held_by_pause: PauseFacts;
  no_capable_agent: {
    requiredCapabilities: string[];
    missingCapabilities: string[];
    /** Those that lack least, and what. */
    nearest: NearAgent[];
  };
  agents_in_error: AgentsFacts;
  agents_offline: AgentsFacts;
  agents_draining: AgentsFacts;
  agents_disabled: AgentsFacts;
  agents_without_command: AgentsFacts;
  agents_resting: AgentsFacts;
  agents_full: AgentsFacts;
  waiting_for_claim: AgentsFacts;
  waiting_for_assignment: AgentsFacts;
  gateway_unreachable: { configured: boolean; lastSeenAt: string | null; resting: boolean };
  gateway_draining: { gateways: number };
  gateway_full: { gateways: number };
  spawn_rate_reached: {
    scope: 'installation' | 'workspace';
    perMinute: number;
    nextAt: string | null;
  };
  queued_behind: { count: number; isMore: boolean };
  session_being_spawned: {
    attempts: number;
    lastError: string | null;
    since: string;
    nextAttemptAt: string;
  };
  held_by_run: {
    runId: string;
    agentId: string;
    agentName: string;
    state: string;
    generation: number;
    leaseExpiresAt: string;
    leaseExpired: boolean;
    pauseRequestedAt: string | null;
  };
  completed: EndFacts;
  failed: EndFacts;
  aborted: EndFacts;
  archived: EndFacts;
}

export type ReasonCode = keyof ReasonFacts;

/** Why a task is not running: a code for programs, a sentence for people, and what it is drawn from. */
export type Reason = {
  [Code in ReasonCode]: { code: Code; message: string; facts: ReasonFacts[Code] };
}[ReasonCode];

/** Every code, for the API's documentation; the compiler keeps it whole. */
export const REASON_CODES = Object.keys({
  waiting_for_dependency: 0,
  waiting_for_more_dependencies: 0,
  dependency_failed: 0,
  waiting_further_up: 0,
  paused: 0,
  waiting_for_retry: 0,
  queue_expired: 0,
  held_by_pause: 0,
  no_capable_agent: 0,
  agents_in_error: 0,
  agents_offline: 0,
  agents_draining: 0,
  agents_disabled: 0,
  agents_without_command: 0,
  agents_resting: 0,
  agents_full: 0,
  waiting_for_claim: 0,
  waiting_for_assignment: 0,
  gateway_unreachable: 0,
  gateway_draining: 0,
  gateway_full: 0,
  spawn_rate_reached: 0,
  queued_behind: 0,
  session_being_spawned: 0,
  held_by_run: 0,
  completed: 0,
  failed: 0,
  aborted: 0,
  archived: 0,
} satisfies Record<ReasonCode, 0>) as ReasonCode[];

/** An explanation, as the API shows it. */
export interface ExplanationView {
  taskId: string;
  status: TaskStatus;
  /** Whether a run holds the task now. */
  live: boolean;
  reasons: Reason[];
  /** When it will start and end. */
  estimate: EstimateView;
  /** When this was so, by the database's clock. */
  at: string;
}

const STATES: Partial<Record<string, string>> = {
  ASSIGNED: 'has been given to',
  STALE: 'is held by',
};

export function heldByRun({ run, now }: ExplainFacts): Reason {
  // A task under lease has its run: the schema says so.
  const held = run as RunFacts;
  const leaseExpiresAt = held.leaseExpiresAt.toISOString();
  const leaseExpired = held.leaseExpiresAt <= now;
  const message = [
    `It ${STATES[held.state] ?? 'is being worked on by'} the agent "${held.agentName}".`,
    ...(held.pauseRequestedAt ? ['The agent has been asked to put it down.'] : []),
    ...(held.state === 'STALE' ? ['The agent has not been heard of for a while.'] : []),
    leaseExpired
      ? 'Its lease has passed: it is recovered in a moment.'
      : `Its lease runs until ${leaseExpiresAt}.`,
  ].join(' ');
  return {
    code: 'held_by_run',
    message,
    facts: {
      runId: held.id,
      agentId: held.agentId,
      agentName: held.agentName,
      state: held.state,
      generation: held.generation,
      leaseExpiresAt,
      leaseExpired,
      pauseRequestedAt: held.pauseRequestedAt?.toISOString() ?? null,
    },
  };
}

/** What ended a task that does not go on by itself. */
export function ended(facts: ExplainFacts): Reason {
  const { task } = facts;
  const { status, completedAt, failedAt, abortedAt, archivedAt } = task;
  if (status === 'ARCHIVED') {
    const before = completedAt ? 'It had completed' : 'It had ended without success';
    return reason('archived', `${before}, and was archived.`, end(facts, archivedAt, null));
  }
  if (status === 'COMPLETED') {
    return reason('completed', 'It has completed.', end(facts, completedAt, null));
  }
  const next = 'It goes on only when somebody retries it.';
  const error = task.lastError ? ` Last error: ${redactText(task.lastError)}.` : '';
  if (status === 'FAILED') {
    const message = `It failed: ${task.failureReason}.${error} ${next}`;
    return reason('failed', message, end(facts, failedAt, task.failureReason));
  }
  const { abortMessage } = task;
  const isNews = abortMessage !== null && abortMessage !== task.lastError;
  const words = isNews ? ` (${redactText(abortMessage)})` : '';
  const message = `It was aborted: ${task.abortReason}${words}.${error} ${next}`;
  return reason('aborted', message, end(facts, abortedAt, task.abortReason));
}

function reason<Code extends ReasonCode>(code: Code, message: string, facts: ReasonFacts[Code]) {
  return { code, message, facts } as Reason;
}

function end({ task, lastRun }: ExplainFacts, at: Date | null, why: string | null): EndFacts {
  return {
    at: at?.toISOString() ?? null,
    reason: why,
    error: task.lastError === null ? null : redactText(task.lastError),
    runId: lastRun?.id ?? null,
    agentId: lastRun?.agentId ?? null,
    agentName: lastRun?.agentName ?? null,
    exitCode: lastRun?.exitCode ?? null,
  };
}
