import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '#lib/kernel';
import type { LockedTask } from './locked-task.js';
import { COMMANDS, DECIDE } from '../../task-manager/domain/commands.js';
import { afterFailure, errorAlone } from './failure.js';
import { planFailure } from './failure-handling.js';
import { planRelease } from './release.js';
import { ABORT_REASONS, mayTransition, TASK_STATUSES, type TaskStatus } from './task-state.js';
import { LIVE_RUN_STATES, RUN_EDGES, RUN_STATES, type RunState } from './run-state.js';

const actor = { kind: 'user', id: 'u' } as const;

function task(values: Partial<LockedTask> = {}): LockedTask {
  return {
    id: 't',
    workspace_id: 'w',
    status: 'RUNNING',
    version: 3,
    retry_count: 0,
    max_retries: 3,
    retry_backoff_seconds: 300,
    fruitless_runs: null,
    retry_at: null,
    has_dependents: false,
    run_id: 'r',
    run_state: 'WORKING',
    run_started: true,
    run_progressed: false,
    pause_requested: false,
    past_deadline: false,
    agent_id: 'a',
    waits_for_answer: false,
    waits_for_review: false,
    ...values,
  };
}

const anyTask = fc
  .record({
    status: fc.constantFrom(...TASK_STATUSES),
    held: fc.boolean(),
    started: fc.boolean(),
    waits: fc.boolean(),
    retries: fc.nat(5),
    max: fc.nat(5),
  })
  .map(({ status, held, started, waits, retries, max }) => {
    const leased = status === 'ASSIGNED' || status === 'RUNNING' || (status === 'PAUSED' && held);
    return task({
      status,
      run_id: leased ? 'r' : null,
      run_state: leased ? (status === 'ASSIGNED' ? 'ASSIGNED' : 'WORKING') : null,
      run_started: leased ? status === 'RUNNING' || started : null,
      retry_at: status === 'ABORTED' && waits ? new Date() : null,
      retry_count: retries,
      max_retries: max,
    });
  });

describe('commands', () => {
  it('commands move along edges of the table, and end a run along its own', () => {
    fc.assert(
      fc.property(anyTask, fc.constantFrom(...COMMANDS), (subject, command) => {
        const decision = DECIDE[command](subject, { actor });
        if (decision.kind !== 'transition') return;
        expect(mayTransition(subject.status, decision.transition.to)).toBe(true);
        const { run } = decision.transition;
        if (run) expect(RUN_EDGES[subject.run_state as RunState]).toContain(run.to);
      }),
    );
  });

  it('a command that ends a task leaves no run behind', () => {
    fc.assert(
      fc.property(anyTask, (subject) => {
        const decision = DECIDE.cancel(subject, { actor });
        if (decision.kind === 'transition' && subject.run_id !== null)
          expect(decision.transition.run?.to).toBe('RELEASED');
      }),
    );
  });

  const table: [string, TaskStatus, Partial<LockedTask>, string][] = [
    ['cancel', 'PENDING', {}, 'ABORTED'],
    ['cancel', 'COMPLETED', {}, 'illegal'],
    ['cancel', 'ABORTED', { retry_at: null }, 'already'],
    ['cancel', 'ABORTED', { retry_at: new Date() }, 'ABORTED'],
    ['pause', 'RUNNING', {}, 'PAUSED'],
    ['pause', 'PAUSED', {}, 'takes_over_pause'],
    ['pause', 'FAILED', {}, 'illegal'],
    ['resume', 'PAUSED', { run_id: null }, 'PENDING'],
    ['resume', 'PAUSED', { run_id: 'r', run_started: true }, 'RUNNING'],
    ['resume', 'PAUSED', { run_id: 'r', run_started: false }, 'PENDING'],
    ['resume', 'RUNNING', {}, 'already'],
    ['resume', 'COMPLETED', {}, 'illegal'],
    ['retry', 'FAILED', {}, 'PENDING'],
    ['retry', 'RUNNING', {}, 'illegal'],
    ['archive', 'COMPLETED', {}, 'ARCHIVED'],
    ['archive', 'ABORTED', { retry_at: new Date() }, 'illegal'],
    ['archive', 'PENDING', {}, 'illegal'],
  ];
  it.each(table)('%s of a task that is %s %j: %s', (command, status, values, outcome) => {
    const held = ['ASSIGNED', 'RUNNING'].includes(status) ? {} : { run_id: null };
    const decision = DECIDE[command as 'cancel'](task({ status, ...held, ...values }), { actor });
    expect(decision.kind === 'transition' ? decision.transition.to : decision.kind).toBe(outcome);
  });
});

describe('afterFailure', () => {
  const attempts = { retryCount: 1, maxRetries: 3, retryBackoffSeconds: 300 };

  it.each([
    ['attempts are left', attempts, true, { kind: 'retry', delaySeconds: 300 }],
    [
      'none is left',
      { ...attempts, retryCount: 3 },
      true,
      { kind: 'fail', reason: 'retries_exhausted' },
    ],
    ['it is not worth one', attempts, false, { kind: 'fail', reason: 'not_retryable' }],
    [
      'no retry is wanted',
      { ...attempts, maxRetries: 0, retryCount: 0 },
      true,
      { kind: 'fail', reason: 'retries_exhausted' },
    ],
  ])('afterFailure when %s', (_, state, retryable, expected) => {
    expect(afterFailure(state, retryable, { backoffCapSeconds: 3600 }, 0.5)).toEqual(expected);
  });

  it.each([
    ['progress', 0, 2],
    ['the first failure without', 1, 2],
    ['the second one', 2, 300],
    ['the fourth one', 4, 1200],
  ])('the retry of a coding agent after %s', (_, fruitless, maxSeconds) => {
    const next = afterFailure({ ...attempts, fruitless }, true, { backoffCapSeconds: 3600 }, 0.5);
    expect(next).toEqual({ kind: 'retry', delaySeconds: maxSeconds / 2 });
  });

  it('the retry delay lies between zero and the doubled backoff, within the cap', () => {
    const inputs = fc.tuple(
      fc.nat(60),
      fc.nat(86_400),
      fc.integer({ min: 1, max: 7200 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
    );
    fc.assert(
      fc.property(inputs, ([retryCount, retryBackoffSeconds, backoffCapSeconds, random]) => {
        const state = { retryCount, maxRetries: 100, retryBackoffSeconds };
        const next = afterFailure(state, true, { backoffCapSeconds }, random);
        if (next.kind !== 'retry') throw new Error(next.kind);
        expect(next.delaySeconds).toBeGreaterThanOrEqual(0);
        expect(next.delaySeconds).toBeLessThanOrEqual(retryBackoffSeconds * 2 ** retryCount);
        expect(next.delaySeconds).toBeLessThanOrEqual(backoffCapSeconds);
      }),
    );
  });
});

describe('planFailure', () => {
  const leased = fc.constantFrom<TaskStatus>('ASSIGNED', 'RUNNING');

  it('the plan of a failure is a path of legal edges that ends the run, counts the attempt and waits or fails', () => {
    fc.assert(
      fc.property(
        leased,
        fc.constantFrom(...ABORT_REASONS),
        fc.nat(4),
        fc.nat(4),
        (status, reason, retries, max) => {
          const subject = task({ status, retry_count: retries, max_retries: max });
          const failure = { reason, message: 'm', actor };
          const plan = planFailure(subject, failure, { backoffCapSeconds: 60 }, 0.3);
          if (plan.kind !== 'transitions') throw new Error(plan.kind);
          const { first, second } = plan;
          expect(mayTransition(status, first.to)).toBe(true);
          expect(first.run?.to).toBe('FAILED');
          if (second) expect(mayTransition(first.to, second.to)).toBe(true);
          const end = second ?? first;
          const retried = end.retryAfterSeconds !== undefined;
          expect(end.to).toBe(retried ? 'ABORTED' : 'FAILED');
          expect(end.countsAsRetry ?? false).toBe(retried);
          if (retries >= max) expect(end.to).toBe('FAILED');
        },
      ),
    );
  });
});

it.each([
  [0, 'Exited with 7', 'Max retries exceeded (0/0): Exited with 7'],
  [2, 'Failed after 3 attempts: Exited with 7', 'Max retries exceeded (2/2): Exited with 7'],
])('a failure after %i retries has a sentence for people', (retries, message, lastError) => {
  const subject = task({ retry_count: retries, max_retries: retries });
  const failure = { reason: 'exit_code', message: 'Exited with 7', actor } as const;
  const plan = planFailure(subject, failure, { backoffCapSeconds: 60 }, 0.3);
  expect(plan).toMatchObject({ first: { message, lastError, reason: 'retries_exhausted' } });
  expect(errorAlone(lastError)).toBe('Exited with 7');
});

describe('planFailure of a paused task', () => {
  it("the failure of a paused task's run ends the run and leaves the task paused", () => {
    const failure = { reason: 'exit_code', message: 'm', actor } as const;
    const plan = planFailure(task({ status: 'PAUSED' }), failure, { backoffCapSeconds: 60 }, 0.3);
    expect(plan).toMatchObject({ kind: 'detach', run: { runId: 'r', to: 'FAILED' } });
  });
});

describe('planRelease', () => {
  const agent = { kind: 'agent', id: 'a' } as const;
  const run = { kind: 'run', id: 'r' } as const;
  const gateway = { kind: 'system', id: 'gateway:g' } as const;
  const plan = (values: Partial<LockedTask>, by: Actor, reason = 'drain') =>
    planRelease(task(values), { actor: by, reason }, { backoffCapSeconds: 60 }, 0.5);

  it.each([
    ['ASSIGNED', 'PENDING', undefined],
    ['RUNNING', 'ABORTED', 0],
  ] as const)('a released task that is %s becomes %s', (status, to, retryAfterSeconds) => {
    const released = plan({ status }, agent);
    expect(released).toMatchObject({
      kind: 'transition',
      transition: { to, run: { to: 'RELEASED' } },
    });
    if (released.kind !== 'transition') return;
    expect(released.transition.retryAfterSeconds).toBe(retryAfterSeconds);
    expect(released.transition.countsAsRetry).toBeUndefined();
  });

  it('a released paused task stays paused', () => {
    expect(plan({ status: 'PAUSED' }, agent, 'paused').kind).toBe('detach');
  });

  // [the task, who releases it, its new status, whether it costs an attempt]
  it.each<[Partial<LockedTask>, Actor, string, boolean]>([
    [{}, run, 'ABORTED', true],
    [{}, agent, 'ABORTED', true],
    [{ run_state: 'STALE' }, agent, 'ABORTED', true],
    [{ retry_count: 3 }, run, 'FAILED', false],
    [{ max_retries: 0 }, agent, 'FAILED', false],
  ])('past its deadline, %j released by %j has timed out: %s', (values, by, to, counts) => {
    const timedOut = plan({ past_deadline: true, ...values }, by);
    expect(timedOut).toMatchObject({
      kind: 'transitions',
      first: { to, run: { to: 'FAILED', endReason: 'timeout', errorClass: 'timeout' } },
    });
    if (timedOut.kind === 'transitions') expect(timedOut.first.countsAsRetry ?? false).toBe(counts);
  });

  it.each<[Partial<LockedTask>, Actor, string]>([
    [{ past_deadline: true, status: 'PAUSED' }, run, 'detach'],
    [{ past_deadline: true }, gateway, 'transition'],
    [{ past_deadline: null, status: 'ASSIGNED' }, run, 'transition'],
  ])('%j released by %j costs no attempt', (values, by, kind) => {
    const released = plan(values, by);
    expect(released.kind).toBe(kind);
    if (released.kind === 'detach') expect(released.run.to).toBe('RELEASED');
    if (released.kind === 'transition') expect(released.transition.run?.to).toBe('RELEASED');
  });
});

describe('the run state machine', () => {
  it('every live run can end, and an ended run is final', () => {
    for (const state of RUN_STATES) {
      const ends = RUN_EDGES[state].filter((to) => to === 'FAILED' || to === 'RELEASED');
      expect(ends).toHaveLength(LIVE_RUN_STATES.includes(state) ? 2 : 0);
    }
  });
});
