import type { HoldCode } from '#lib/runs';
import type { ExplainFacts, PauseFacts, RunFacts } from '../explain-facts.js';

export const NOW = new Date('2026-03-01T12:00:00Z');
export const EARLIER = new Date('2026-03-01T11:00:00Z');
export const LATER = new Date('2026-03-01T13:00:00Z');

export const RUN: RunFacts = {
  id: 'run-1',
  agentId: 'agent-1',
  agentName: 'Ada',
  state: 'WORKING',
  generation: 2,
  leaseExpiresAt: LATER,
  pauseRequestedAt: null,
  circle: null,
  endedAt: null,
  endReason: null,
  exitCode: null,
};

export const PAUSE: PauseFacts = {
  id: 'pause-1',
  scope: 'task_type',
  taskType: 'test',
  reason: 'The licence is out',
  by: 'user:1',
  byName: 'Ada',
  since: EARLIER.toISOString(),
  until: LATER.toISOString(),
};

/** It has fewer tokens than the task needs. */
export const BUDGET = {
  budgetId: 'b',
  scope: 'project' as const,
  scopeId: 'p',
  periodEnd: '2026-03-31T00:00:00Z',
  allocated: '1000',
  consumed: '890',
  reserved: '100',
  available: '10',
  needed: '8970',
};

export const PROVIDER_LIMIT = {
  limitId: 'l',
  provider: 'anthropic',
  model: 'claude-sonnet-4-6',
  kind: 'rate_limited' as const,
  until: '2026-03-01T12:05:00Z',
  isOfFallback: false,
};

export const QUESTION = {
  questionId: 'q',
  prompt: 'Ship it?',
  choices: ['yes', 'no'],
  default: 'no',
  onDeadline: 'default' as const,
  deadlineAt: LATER.toISOString(),
};

export type Overrides = Partial<Omit<ExplainFacts, 'task'>> & {
  task?: Partial<ExplainFacts['task']>;
};

/** A task that nothing holds back, with no data but the given. */
export function facts({ task, ...rest }: Overrides = {}): ExplainFacts {
  return {
    now: NOW,
    run: null,
    spawn: null,
    lastRun: null,
    dependencies: [],
    roots: [],
    agents: [],
    missingCapabilities: [],
    nearest: [],
    reserved: [],
    pauses: [],
    throttles: [],
    spawning: null,
    ahead: { count: 0, isMore: false },
    ...rest,
    task: {
      status: 'PENDING',
      taskType: 'test',
      retryAt: null,
      retryCount: 0,
      maxRetries: 3,
      abortReason: null,
      abortMessage: null,
      failureReason: null,
      lastError: null,
      pausedBy: null,
      pausedFor: null,
      pausedByName: null,
      pauseReason: null,
      pausedAt: null,
      queueExpiresAt: null,
      requiredCapabilities: [],
      unmetDependencies: rest.dependencies?.length ?? 0,
      awaitedStart: null,
      awaitedKey: null,
      concurrencyLimit: null,
      debounceKey: null,
      replay: null,
      heldBack: heldBackBy({ ...rest, ...task }),
      budgets: [],
      providerLimits: [],
      question: null,
      change: null,
      assignedAt: null,
      startedAt: null,
      completedAt: null,
      failedAt: null,
      abortedAt: null,
      archivedAt: null,
      ...task,
    },
  };
}

/** As the database finds it. */
function heldBackBy({
  queueExpiresAt,
  pauses = [],
  throttles = [],
  dependencies = [],
  unmetDependencies = dependencies.length,
  budgets = [],
  providerLimits = [],
}: Partial<ExplainFacts> & Partial<ExplainFacts['task']>): HoldCode[] {
  return [
    ...(queueExpiresAt && queueExpiresAt <= NOW ? (['queue_expired'] as const) : []),
    ...(pauses.length > 0 ? (['held_by_pause'] as const) : []),
    ...(throttles.length > 0 ? (['throttled'] as const) : []),
    ...(providerLimits.length > 0 ? (['provider_limited'] as const) : []),
    ...(unmetDependencies > 0 ? (['waiting_for_dependency'] as const) : []),
    ...(budgets.length > 0 ? (['budget'] as const) : []),
  ];
}
