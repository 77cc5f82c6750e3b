import type { HoldCode } from '#lib/runs';
import type { ExplainFacts } from '../explain-facts.js';

export const NOW = new Date('2026-03-01T12:00:00Z');

/** It has less left than a task needs. */
export const BUDGET = {
  ...{ budgetId: 'b', scope: 'project' as const, scopeId: 'p', periodEnd: '2026-03-31T00:00:00Z' },
  ...{ allocated: '1000', consumed: '890', reserved: '100', available: '10', needed: '8970' },
};

export type Overrides = Partial<Omit<ExplainFacts, 'task'>> & {
  task?: Partial<ExplainFacts['task']>;
};

/** A task that nothing holds back, of which nothing is known but what is given. */
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
      ...{ abortReason: null, abortMessage: null },
      ...{ failureReason: null, lastError: null },
      ...{ pausedBy: null, pausedByName: null },
      pauseReason: null,
      pausedAt: null,
      queueExpiresAt: null,
      requiredCapabilities: [],
      unmetDependencies: rest.dependencies?.length ?? 0,
      heldBack: heldBackBy({ ...rest, ...task }),
      budgets: [],
      ...{ assignedAt: null, startedAt: null, completedAt: null, failedAt: null },
      ...{ abortedAt: null, archivedAt: null },
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
}: Partial<ExplainFacts> & Partial<ExplainFacts['task']>): HoldCode[] {
  return [
    ...(queueExpiresAt && queueExpiresAt <= NOW ? (['queue_expired'] as const) : []),
    ...(pauses.length > 0 ? (['held_by_pause'] as const) : []),
    ...(throttles.length > 0 ? (['throttled'] as const) : []),
    ...(unmetDependencies > 0 ? (['waiting_for_dependency'] as const) : []),
    ...(budgets.length > 0 ? (['budget'] as const) : []),
  ];
}
