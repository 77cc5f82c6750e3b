import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { explain } from './explain.js';
import { AGENT_STANDINGS, type ExplainFacts, type RunFacts } from './explain-facts.js';
import { REASON_CODES } from './explain-reasons.js';
import { TASK_STATUSES } from './task-state.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const EARLIER = new Date('2026-03-01T11:00:00Z');
const LATER = new Date('2026-03-01T13:00:00Z');

const RUN: RunFacts = {
  id: 'run-1',
  agentId: 'agent-1',
  agentName: 'Ada',
  state: 'WORKING',
  generation: 2,
  leaseExpiresAt: LATER,
  pauseRequestedAt: null,
  endedAt: null,
  endReason: null,
  exitCode: null,
};

type Overrides = Partial<Omit<ExplainFacts, 'task'>> & { task?: Partial<ExplainFacts['task']> };

function facts({ task, ...rest }: Overrides = {}): ExplainFacts {
  return {
    now: NOW,
    run: null,
    lastRun: null,
    dependencies: [],
    agents: [],
    missingCapabilities: [],
    ahead: { count: 0, isMore: false },
    ...rest,
    task: {
      status: 'PENDING',
      retryAt: null,
      retryCount: 0,
      maxRetries: 3,
      abortReason: null,
      failureReason: null,
      lastError: null,
      pausedBy: null,
      pauseReason: null,
      pausedAt: null,
      queueExpiresAt: null,
      requiredCapabilities: [],
      unmetDependencies: rest.dependencies?.length ?? 0,
      completedAt: null,
      failedAt: null,
      abortedAt: null,
      archivedAt: null,
      ...task,
    },
  };
}

const group = (standing: (typeof AGENT_STANDINGS)[number], ...names: string[]) => ({
  standing,
  count: names.length,
  agents: names.map((name) => ({ id: name, name })),
});

const prerequisite = {
  taskId: 'task-1',
  title: 'Build',
  status: 'RUNNING' as const,
  policy: 'block' as const,
  endedWithoutSuccess: false,
};

const failedPrerequisite = {
  ...prerequisite,
  status: 'FAILED' as const,
  endedWithoutSuccess: true,
};

const free = [group('free', 'Ada')];
const aborted = { status: 'ABORTED' as const, abortReason: 'exit_code', retryCount: 1 };

const cases: [string, Overrides, string[], RegExp?][] = [
  ['no agent at all', {}, ['no_capable_agent'], /No agent is registered/],
  [
    'a capability that nobody has',
    { task: { requiredCapabilities: ['gpu', 'node'] }, missingCapabilities: ['gpu'] },
    ['no_capable_agent'],
    /No registered agent has "gpu"\./,
  ],
  [
    'capabilities that nobody has together',
    { task: { requiredCapabilities: ['gpu', 'node'] } },
    ['no_capable_agent'],
    /all of "gpu", "node"/,
  ],
  ['a free agent', { agents: free }, ['waiting_for_claim'], /"Ada" has room/],
  [
    'a free agent beside others',
    { agents: [group('full', 'Bob'), ...free] },
    ['waiting_for_claim'],
  ],
  [
    'nobody free',
    { agents: [group('full', 'Bob', 'Cy'), group('offline', 'Di'), group('draining', 'Ed')] },
    ['agents_full', 'agents_offline', 'agents_draining'],
    /2 agents with its capabilities \("Bob", "Cy"\) hold as many tasks as they may/,
  ],
  ['switched off', { agents: [group('disabled', 'Bob')] }, ['agents_disabled'], /switched off/],
  [
    'others before it',
    { agents: free, ahead: { count: 3, isMore: false } },
    ['waiting_for_claim', 'queued_behind'],
    /3 ready tasks rank before it/,
  ],
  [
    'a running prerequisite',
    { agents: free, dependencies: [prerequisite] },
    ['waiting_for_dependency'],
    /"Build", which is RUNNING/,
  ],
  [
    'a failed prerequisite',
    { agents: free, dependencies: [failedPrerequisite] },
    ['dependency_failed'],
    /FAILED.*policy block.*retried/,
  ],
  [
    'more than are told one by one',
    { agents: free, dependencies: [prerequisite], task: { unmetDependencies: 4 } },
    ['waiting_for_dependency', 'waiting_for_more_dependencies'],
    /3 more tasks/,
  ],
  [
    'dependencies and no agent',
    { dependencies: [prerequisite] },
    ['waiting_for_dependency', 'no_capable_agent'],
  ],
  [
    'waited too long',
    { agents: free, task: { queueExpiresAt: EARLIER } },
    ['queue_expired'],
    /has passed/,
  ],
  ['may wait longer', { agents: free, task: { queueExpiresAt: LATER } }, ['waiting_for_claim']],
  [
    'paused',
    {
      agents: free,
      task: { status: 'PAUSED', pausedBy: 'user:1', pausedAt: EARLIER, pauseReason: 'lunch' },
    },
    ['paused'],
    /paused by user:1 at 2026-03-01T11:00:00.000Z: lunch/,
  ],
  [
    'paused, its run still there',
    {
      task: { status: 'PAUSED', pausedBy: 'user:1', pausedAt: EARLIER },
      run: { ...RUN, pauseRequestedAt: EARLIER },
    },
    ['paused', 'held_by_run'],
  ],
  [
    'paused and waiting for another task',
    { agents: free, dependencies: [prerequisite], task: { status: 'PAUSED', pausedAt: EARLIER } },
    ['paused', 'waiting_for_dependency'],
  ],
  [
    'a retry to come',
    { agents: free, task: { ...aborted, retryAt: LATER } },
    ['waiting_for_retry'],
    /exit_code\); retry 1 of 3 follows at 2026-03-01T13/,
  ],
  [
    'a retry that is due',
    { agents: [group('offline', 'Ada')], task: { ...aborted, retryAt: EARLIER } },
    ['waiting_for_retry', 'agents_offline'],
    /is due/,
  ],
  [
    'running',
    { task: { status: 'RUNNING' }, run: RUN },
    ['held_by_run'],
    /worked on by .*"Ada".*runs until/,
  ],
  [
    'its lease passed',
    { task: { status: 'ASSIGNED' }, run: { ...RUN, state: 'ASSIGNED', leaseExpiresAt: EARLIER } },
    ['held_by_run'],
    /given to the agent "Ada"\. Its lease has passed/,
  ],
  ['aborted', { task: { ...aborted, abortedAt: EARLIER } }, ['aborted'], /exit_code.*retries it/],
  [
    'failed, with a secret in the error',
    {
      task: { status: 'FAILED', failureReason: 'retries_exhausted', lastError: 'Bearer abcdef' },
      lastRun: { ...RUN, exitCode: 3 },
    },
    ['failed'],
    /retries_exhausted\. Last error: Bearer \[redacted\]/,
  ],
  ['completed', { task: { status: 'COMPLETED', completedAt: EARLIER } }, ['completed']],
  [
    'archived',
    { task: { status: 'ARCHIVED', archivedAt: EARLIER } },
    ['archived'],
    /without success/,
  ],
];

describe('explain', () => {
  it.each(cases)('%s', (_, overrides, codes, words = /./) => {
    const reasons = explain(facts(overrides));
    expect(reasons.map(({ code }) => code)).toEqual(codes);
    expect(reasons.map(({ message }) => message).join(' ')).toMatch(words);
  });

  it('tells of every code in some case', () => {
    const told = cases.flatMap(([, overrides]) =>
      explain(facts(overrides)).map(({ code }) => code),
    );
    expect([...new Set(told)].sort()).toEqual([...REASON_CODES].sort());
  });

  it('always has something to say, in whole sentences', () => {
    const count = fc.integer({ min: 0, max: 3 });
    const input = fc.record({
      status: fc.constantFrom(...TASK_STATUSES),
      retries: fc.boolean(),
      groups: fc.subarray([...AGENT_STANDINGS]),
      dependencies: count,
      ahead: count,
      held: fc.boolean(),
    });
    fc.assert(
      fc.property(input, ({ status, retries, groups, dependencies, ahead, held }) => {
        const live = status === 'ASSIGNED' || status === 'RUNNING' || (held && status === 'PAUSED');
        const reasons = explain(
          facts({
            task: {
              status,
              retryAt: retries ? LATER : null,
              pausedAt: EARLIER,
              abortReason: 'x',
              failureReason: 'y',
            },
            run: live ? RUN : null,
            agents: groups.map((standing) => group(standing, 'A')),
            dependencies: Array.from({ length: dependencies }, () => prerequisite),
            ahead: { count: ahead, isMore: false },
          }),
        );
        expect(reasons.length).toBeGreaterThan(0);
        for (const { message } of reasons) {
          expect(message).toMatch(/^[A-Z0-9].*\.$/);
          expect(message).not.toMatch(/undefined|null/);
        }
      }),
    );
  });
});
