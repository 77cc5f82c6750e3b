import { redactText } from '#lib/kernel';
import { errorAlone } from '#lib/transitions/domain';
import { describeCause, describeFailure, whyNotRetried } from './causes.js';
import type { ExplainFacts, RunFacts } from './explain-facts.js';
import type { FactsOf, OtherReason, REASONS } from './reasons.js';

type EndCode = 'completed' | 'failed' | 'aborted' | 'archived';
type EndFacts = FactsOf<(typeof REASONS)[EndCode]['facts']>;

const STATES: Partial<Record<string, string>> = {
  ASSIGNED: 'is assigned to',
  STALE: 'is held by',
};

export function heldByRun({ run, now }: ExplainFacts): OtherReason {
  // A task under lease has its run, as the schema guarantees.
  const held = run as RunFacts;
  const leaseExpiresAt = held.leaseExpiresAt.toISOString();
  const leaseExpired = held.leaseExpiresAt <= now;
  const message = [
    `It ${STATES[held.state] ?? 'is running on'} the agent "${held.agentName}".`,
    ...(held.pauseRequestedAt ? ['The agent was asked to stop.'] : []),
    ...(held.circle === null ? [] : [held.circle]),
    ...(held.state === 'STALE' ? ['The agent has sent no heartbeat for a while.'] : []),
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
      circle: held.circle,
    },
  };
}

/** The end of a task that does not continue by itself. */
export function ended(facts: ExplainFacts): OtherReason {
  const { task } = facts;
  const { status, completedAt, failedAt, abortedAt, archivedAt } = task;
  if (status === 'ARCHIVED') {
    const before = completedAt ? 'It had completed' : 'It had ended without success';
    return reason('archived', `${before}, and was archived.`, end(facts, archivedAt, null));
  }
  if (status === 'COMPLETED') {
    return reason('completed', 'It has completed.', end(facts, completedAt, null));
  }
  const error = task.lastError && `Last error: ${sentence(errorAlone(redactText(task.lastError)))}`;
  const next = [error, whyNotRetried(task), 'It runs again only after a retry.'];
  if (status === 'FAILED') {
    const message = [describeFailure(task), ...next].filter(Boolean).join(' ');
    return reason('failed', message, end(facts, failedAt, task.failureReason));
  }
  const { abortMessage } = task;
  const isNews = abortMessage !== null && abortMessage !== task.lastError;
  const words = isNews ? ` (${redactText(abortMessage)})` : '';
  const aborted = `It was aborted: ${describeCause(task.abortReason)}${words}.`;
  const message = [aborted, ...next].filter(Boolean).join(' ');
  return reason('aborted', message, end(facts, abortedAt, task.abortReason));
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function reason(code: EndCode, message: string, facts: EndFacts): OtherReason {
  return { code, message, facts };
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
