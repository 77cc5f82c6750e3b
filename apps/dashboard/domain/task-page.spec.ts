import { expect, it } from '@jest/globals';
import { toDuplicate } from './duplicate.js';
import { cutColouredText } from './format.js';
import { sumPhases, toPhases } from './phases.js';
import type { Task } from './status.js';
import { toFormValues } from './task-draft.js';
import { isTextDiff, toUnifiedDiff } from './text-diff.js';

const at = (second: number) => new Date(second * 1000).toISOString();
const moves = (...all: [number, string][]) =>
  all.map(([second, newStatus]) => ({ createdAt: at(second), newStatus }));
const task = (retryAt: string | null = null) => ({ createdAt: at(0), retryAt });
const shown = (spans: ReturnType<typeof toPhases>) =>
  spans.map(({ phase, from, to }) => `${phase} ${from / 1000}-${to / 1000}`).join(', ');

it.each([
  ['a new task waits until now', moves(), [], null, 'waiting 0-100'],
  [
    'a finished task has its phases only',
    moves([5, 'ASSIGNED'], [6, 'RUNNING'], [9, 'COMPLETED']),
    [],
    null,
    'waiting 0-6, running 6-9',
  ],
  [
    'the wait for a retry is waiting, and the last end is none',
    moves([1, 'RUNNING'], [2, 'ABORTED'], [10, 'PENDING'], [11, 'RUNNING'], [12, 'ABORTED']),
    [],
    null,
    'waiting 0-1, running 1-2, waiting 2-11, running 11-12',
  ],
  [
    'a task that waits for its retry waits until now',
    moves([1, 'RUNNING'], [2, 'ABORTED']),
    [],
    at(200),
    'waiting 0-1, running 1-2, waiting 2-100',
  ],
  [
    'a question turns a pause, and a part of a run, into asking',
    moves([1, 'RUNNING'], [10, 'PAUSED'], [20, 'PENDING'], [21, 'RUNNING'], [40, 'COMPLETED']),
    [
      { askedAt: at(4), closedAt: at(6) },
      { askedAt: at(10), closedAt: at(20) },
    ],
    null,
    'waiting 0-1, running 1-4, asking 4-6, running 6-10, asking 10-20, waiting 20-21, running 21-40',
  ],
  [
    'an open question lasts until now, and a pause by a person is a pause',
    moves([1, 'PAUSED'], [5, 'PENDING'], [6, 'RUNNING']),
    [{ askedAt: at(50), closedAt: null }],
    null,
    'waiting 0-1, paused 1-5, waiting 5-6, running 6-50, asking 50-100',
  ],
])('%s', (_, transitions, questions, retryAt, expected) => {
  const spans = toPhases(transitions, questions, task(retryAt), 100_000);
  expect(shown(spans)).toBe(expected);
});

it('the time of each phase is its sum, without phases that do not occur', () => {
  const spans = toPhases(moves([1, 'RUNNING'], [2, 'PAUSED'], [3, 'RUNNING']), [], task(), 9_000);
  expect(sumPhases(spans)).toEqual([
    ['waiting', 1_000],
    ['running', 7_000],
    ['paused', 1_000],
  ]);
});

it('a change without line numbers becomes a unified diff without numbers', () => {
  expect(toUnifiedDiff('a.txt\n same\n-old\n+new\n+more')).toEqual({
    diff: 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n same\n-old\n+new\n+more\n',
    hasNumbers: false,
  });
});

it('a unified diff stays as it is, and a text without changed lines is none', () => {
  const diff = '--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n';
  expect(toUnifiedDiff(diff)).toEqual({ diff, hasNumbers: true });
  expect(isTextDiff('b.txt\n same')).toBe(false);
});

it('a coloured text keeps the codes of colours and no other code', () => {
  expect(
    cutColouredText('\u001b[2J\u001b[1;31mred\u001b[0m\u0007 \u001b]8;;http://x\u0007on'),
  ).toBe('\u001b[1;31mred\u001b[0m on');
  expect(cutColouredText('plain \u001b[2J')).toBeUndefined();
});

it('a duplicate keeps the agent, the estimates and no time limit, and names the values that are hidden', () => {
  const agentId = '0198c5a0-0000-7000-8000-000000000001';
  const original = {
    title: 'Deploy',
    taskType: 'deploy',
    description: null,
    timeoutSeconds: null,
    estimatedTokens: '5000',
    estimateSource: 'given',
    estimatedDurationMinutes: 15,
    requiredCapabilities: [`agent:${agentId}`, 'linux'],
    instructions: 'Send [redacted] to the host',
    agent: { kind: 'codex', settings: { apiKey: '[redacted]', fast: true } },
    inputContext: {
      command: ['sh', '-c', 'deploy --token [redacted]'],
      to: [{ key: '[redacted]' }],
    },
    metadata: { team: 'web' },
    secrets: { HOST_KEY: '[redacted]' },
    tags: [],
  } as unknown as Task;
  const { fields, hidden } = toDuplicate(original);
  expect(fields).toMatchObject({
    timeoutSeconds: null,
    estimatedTokens: '5000',
    estimatedDurationMinutes: 15,
    requiredCapabilities: ['linux'],
    agentId,
    agent: { kind: 'codex', settings: { fast: true } },
    inputContext: { to: [{}] },
    metadata: { team: 'web' },
  });
  expect(hidden).toEqual([
    'Secrets HOST_KEY',
    'Settings apiKey',
    'Instructions',
    'Additional input command',
    'Additional input to.0.key',
  ]);
  expect(toFormValues(fields)).toMatchObject({ timeoutSeconds: '0', agentId });
  const estimated = toDuplicate({ ...original, estimateSource: 'history' });
  expect(estimated.fields).not.toHaveProperty('estimatedTokens');
});
