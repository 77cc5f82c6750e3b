import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ALL_REASONS, explain } from './explain.js';
import {
  AVAILABILITIES,
  group,
  SPAWNING,
  pushed,
  prerequisite,
  failedPrerequisite,
  free,
  aborted,
  paused,
} from './testing/agents.js';
import {
  BUDGET,
  EARLIER,
  facts,
  LATER,
  NOW,
  type Overrides,
  PAUSE,
  PROVIDER_LIMIT,
  QUESTION,
  RUN,
} from './testing/facts.js';
import { TASK_STATUSES } from '../../transitions/domain/task-state.js';

const REPLAY = { taskId: 'task-2', title: 'Build', status: 'RUNNING' } as const;
const RETRIED = { ...prerequisite, status: 'ABORTED', retryAt: '2026-03-01T13:00:00Z' } as const;

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
  [
    'capabilities of agents that take other tasks',
    { reserved: [{ id: 'a', name: 'Ada', dedicatedTo: ['gpu'], taskTypes: [] }] },
    ['agents_reserved'],
    /type "test" without a command: "Ada" takes only tasks that require "gpu"\./,
  ],
  ['a free agent', { agents: free }, ['waiting_for_claim'], /"Ada" has room/],
  [
    'a free agent beside others',
    { agents: [group('full', 'Bob'), ...free] },
    ['waiting_for_claim'],
  ],
  [
    'nobody free',
    {
      agents: [
        group('full', 'Bob', 'Cy'),
        group('unresponsive', 'Di'),
        group('draining', 'Ed'),
        group('in_error', 'Flo'),
      ],
    },
    ['agents_full', 'agents_offline', 'agents_draining', 'agents_in_error'],
    /2 agents with its capabilities \("Bob" \(2 of 3\), "Cy" \(2 of 3\)\) are at their limit of tasks.*"Di" \(last heard at 2026-03-01T11:00:00.000Z\)/,
  ],
  ['a push agent with room', pushed(), ['waiting_for_assignment'], /coordinator's next cycle/],
  [
    'a pull agent with room, whatever keeps a push agent',
    { ...pushed({ gateways: 0 }), agents: [group('free', 'Ada'), group('assignable', 'Push')] },
    ['waiting_for_claim'],
  ],
  [
    'no gateway',
    pushed({ configured: false }),
    ['gateway_unreachable'],
    /No gateway is configured/,
  ],
  [
    'a silent gateway',
    pushed({ gateways: 0, lastSeenAt: EARLIER }),
    ['gateway_unreachable'],
    /unresponsive: the last heartbeat came at 2026-03-01T11/,
  ],
  ['a gateway that does not answer', pushed({ resting: true }), ['gateway_unreachable']],
  [
    'a gateway that is leaving',
    pushed({ gateways: 0, draining: 1, room: 0 }),
    ['gateway_draining'],
    /The gateway is draining/,
  ],
  [
    'a gateway that takes over from one that is leaving',
    pushed({ gateways: 1, draining: 1 }),
    ['waiting_for_assignment'],
  ],
  [
    'a session that is being spawned',
    {
      task: { status: 'ASSIGNED' },
      run: { ...RUN, state: 'ASSIGNED' },
      spawn: { attempts: 2, lastError: 'Bearer abcdef', since: EARLIER, nextAttemptAt: LATER },
      spawning: { ...SPAWNING, resting: true },
    },
    ['held_by_run', 'session_being_spawned', 'gateway_unreachable'],
    /asked 2 times\. The last error: Bearer \[redacted\]\./,
  ],
  [
    'a session that is about to be spawned',
    {
      task: { status: 'ASSIGNED' },
      run: { ...RUN, state: 'ASSIGNED' },
      spawn: { attempts: 0, lastError: null, since: EARLIER, nextAttemptAt: NOW },
      spawning: SPAWNING,
    },
    ['held_by_run', 'session_being_spawned'],
    /has not been asked yet\.$/,
  ],
  [
    'a pause of everything',
    {
      agents: free,
      pauses: [{ ...PAUSE, scope: 'everything', taskType: null, by: 'operator', byName: null }],
    },
    ['held_by_pause'],
    /Everything in this installation was paused by an operator at/,
  ],
  [
    'a full gateway, a rate that is used up, and a full agent',
    {
      ...pushed({ room: 0, rates: [{ scope: 'workspace', perMinute: 1, nextAt: LATER }] }),
      agents: [group('assignable', 'Push'), group('full', 'Bob')],
    },
    ['agents_full', 'gateway_full', 'spawn_rate_reached'],
    /1 session a minute, and the next is allowed at 2026-03-01T13/,
  ],
  [
    'a rate of none at all',
    pushed({ rates: [{ scope: 'installation', perMinute: 0, nextAt: null }] }),
    ['spawn_rate_reached'],
    /All workspaces together may spawn 0 sessions a minute, and none is allowed/,
  ],
  [
    'an agent that nothing can be spawned for',
    { agents: [group('without_command', 'Push')] },
    ['agents_without_command'],
  ],
  [
    'one whose provider refuses it',
    { agents: [group('provider_limited', 'Own')] },
    ['agents_provider_limited'],
    /"Own" \(until 2026-03-01T13.*waits for the provider of its own model/,
  ],
  ['one that rests', { agents: [group('cooldown', 'Push')] }, ['agents_resting'], /until 2026-/],
  [
    'a switch for its type',
    { agents: free, pauses: [PAUSE] },
    ['held_by_pause'],
    /type "test" was paused by Ada \(user:1\) at .*, until 2026-03-01T13.*: The licence is out\.$/,
  ],
  [
    'two switches, others before it, and nobody free',
    {
      agents: [group('full', 'Bob')],
      pauses: [{ ...PAUSE, scope: 'everything', taskType: null, until: null, byName: null }, PAUSE],
      ahead: { count: 1, isMore: false },
    },
    ['held_by_pause', 'held_by_pause', 'agents_full', 'queued_behind'],
    /Everything in this installation was paused by user:1 at .*, until somebody ends the pause/,
  ],
  [
    'a switch, a dependency, and nobody free',
    { agents: [group('full', 'Bob')], pauses: [PAUSE], dependencies: [prerequisite] },
    ['held_by_pause', 'waiting_for_dependency', 'agents_full'],
  ],
  [
    'agents that have nearly what it needs',
    {
      task: { requiredCapabilities: ['gpu', 'node'] },
      nearest: [{ id: '1', name: 'Bob', missing: ['gpu'] }],
    },
    ['no_capable_agent'],
    /Nearest: "Bob" lacks "gpu"\./,
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
    'a later start and a key without a free slot',
    {
      agents: free,
      task: {
        awaitedStart: NOW,
        awaitedKey: 'deploy',
        debounceKey: 'save',
        concurrencyLimit: 1,
        unmetDependencies: 2,
        heldBack: ['waiting_for_dependency'],
      },
    },
    ['waiting_for_start', 'waiting_for_slot'],
    /debounce key "save" moves that start\..*key "deploy", of which 1 task runs at once/,
  ],
  [
    'what its dependencies wait for',
    { agents: free, dependencies: [prerequisite], roots: [failedPrerequisite, RETRIED] },
    ['waiting_for_dependency', 'waiting_further_up', 'waiting_further_up'],
    /the task "Build" is FAILED\. .*is retried at 2026-03-01T13:00:00Z, and has not/,
  ],
  [
    'dependencies and no agent',
    { dependencies: [prerequisite] },
    ['waiting_for_dependency', 'no_capable_agent'],
  ],
  [
    'an archived workspace',
    { agents: free, task: { heldBack: ['workspace_archived'] } },
    ['workspace_archived'],
    /Its workspace is archived/,
  ],
  [
    'a throttled project',
    {
      agents: free,
      throttles: [{ projectId: 'p', budgetId: 'b', maxRuns: 2, since: EARLIER }],
    },
    ['throttled'],
    /Its project may have 2 runs at once since 2026-03-01T11:00:00.000Z.* or when the budget would last/,
  ],
  [
    'a question, whose default counts at its deadline',
    { task: { status: 'PAUSED', pausedBy: 'run:1', question: QUESTION }, agents: free },
    ['waiting_for_answer'],
    /answer its question "Ship it\?"\. Without an answer by 2026-03-01T13.*, it continues with "no" as the answer\.$/,
  ],
  [
    'a question that fails it',
    {
      task: { status: 'PAUSED', question: { ...QUESTION, onDeadline: 'fail', default: null } },
      agents: free,
    },
    ['waiting_for_answer'],
    /by 2026-03-01T13.*, it fails\.$/,
  ],
  [
    'a change whose merge is blocked',
    {
      agents: free,
      task: {
        status: 'PAUSED',
        change: {
          state: 'APPROVED',
          repositoryId: 'r',
          target: 'main',
          obstacle: 'The checkout is dirty.',
          submittedAt: '2026-03-01T11:00:00Z',
        },
      },
    },
    ['waiting_for_review'],
    /^Paused for review: its change for main was .* its turn to be merged\. Something is in the way: The checkout is dirty\.$/,
  ],
  [
    'a provider that refuses its model',
    { agents: free, task: { providerLimits: [PROVIDER_LIMIT] } },
    ['provider_limited'],
    /The provider anthropic refuses further requests for claude-sonnet-4-6: it waits until 2026-03-01T12:05:00Z/,
  ],
  [
    'a provider that refuses a fallback as well',
    { agents: free, task: { providerLimits: [{ ...PROVIDER_LIMIT, isOfFallback: true }] } },
    ['provider_limited'],
    /for claude-sonnet-4-6, the fallback of its model, as well: it waits until 2026-03-01T12:05:00Z/,
  ],
  [
    'a budget with too little left',
    { agents: free, task: { budgets: [BUDGET] } },
    ['budget'],
    /The budget of its project has 10 of 1000 tokens left, and a run of it holds 8970: 890 are consumed and 100/,
  ],
  [
    'waited too long',
    { agents: free, task: { queueExpiresAt: EARLIER } },
    ['queue_expired'],
    /has passed/,
  ],
  [
    'may wait longer',
    { agents: free, task: { queueExpiresAt: LATER } },
    ['waiting_for_claim', 'expires_while_waiting'],
    /aborted if it has not started by/,
  ],
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
    { task: paused('user:1'), run: { ...RUN, pauseRequestedAt: EARLIER } },
    ['paused', 'held_by_run'],
    /It continues when it is resumed/,
  ],
  [
    'paused for a budget, and waiting for another task',
    { agents: free, dependencies: [prerequisite], task: paused('coordinator:budget:1', 'budget') },
    ['paused', 'waiting_for_dependency'],
    /It continues when every budget/,
  ],
  [
    'a retry to come',
    { agents: free, task: { ...aborted, retryAt: LATER } },
    ['waiting_for_retry'],
    /was aborted: its run ended with an error\. Retry 1 of 3 follows at 2026-03-01T13/,
  ],
  [
    'a retry that is due',
    { agents: [group('unresponsive', 'Ada')], task: { ...aborted, retryAt: EARLIER } },
    ['waiting_for_retry', 'agents_offline'],
    /is due/,
  ],
  [
    'running',
    { task: { status: 'RUNNING' }, run: RUN },
    ['held_by_run'],
    /running on .*"Ada".*runs until/,
  ],
  [
    'in circles',
    { task: { status: 'RUNNING' }, run: { ...RUN, circle: 'It goes in circles.' } },
    ['held_by_run'],
    /running on .*It goes in circles\. .*runs until/,
  ],
  [
    'its lease passed',
    { task: { status: 'ASSIGNED' }, run: { ...RUN, state: 'ASSIGNED', leaseExpiresAt: EARLIER } },
    ['held_by_run'],
    /assigned to the agent "Ada"\. Its lease has passed/,
  ],
  [
    'aborted',
    { task: { ...aborted, abortMessage: 'no' } },
    ['aborted'],
    /^It was aborted: its run ended with an error \(no\)\. It runs again/,
  ],
  [
    'failed, with a secret in the error',
    {
      task: { status: 'FAILED', failureReason: 'retries_exhausted', lastError: 'Bearer abcdef' },
      lastRun: { ...RUN, exitCode: 3 },
    },
    ['failed'],
    /^It failed\. Last error: Bearer \[redacted\]\. It runs again/,
  ],
  ['completed', { task: { status: 'COMPLETED', completedAt: EARLIER } }, ['completed']],
  [
    'archived',
    { task: { status: 'ARCHIVED', archivedAt: EARLIER, replay: REPLAY } },
    ['archived', 'replayed'],
    /without success.*"Build" replays it\. That task is RUNNING\./,
  ],
];

describe('explain', () => {
  it.each(cases)('%s', (_, overrides, codes, words = /./) => {
    const reasons = explain(facts(overrides));
    expect(reasons.map(({ code }) => code)).toEqual(codes);
    expect(reasons.map(({ message }) => message).join(' ')).toMatch(words);
  });

  it('every code appears in some case', () => {
    const told = cases.flatMap(([, overrides]) =>
      explain(facts(overrides)).map(({ code }) => code),
    );
    expect([...new Set(told)].sort()).toEqual(Object.keys(ALL_REASONS).sort());
  });

  it('every explanation has whole sentences', () => {
    const count = fc.integer({ min: 0, max: 3 });
    const input = fc.record({
      status: fc.constantFrom(...TASK_STATUSES),
      retries: fc.boolean(),
      groups: fc.subarray([...AVAILABILITIES]),
      dependencies: count,
      ahead: count,
      held: fc.boolean(),
      paused: fc.boolean(),
    });
    fc.assert(
      fc.property(input, ({ status, retries, groups, dependencies, ahead, held, paused }) => {
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
            agents: groups.map((availability) => group(availability, 'A')),
            pauses: paused ? [PAUSE] : [],
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
