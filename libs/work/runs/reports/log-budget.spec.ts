import { beforeEach, describe, expect, test } from '@jest/globals';
import { LogBudget, type StoredEntry } from './log-budget.js';
import type { Reporter } from './reporter.js';

const KIB = 1_024;
const [NOON, MIDNIGHT] = [new Date('2026-11-25T12:00:00Z'), new Date('2026-11-26T00:00:00Z')];

const reporter = (more: Partial<Reporter> = {}): Reporter =>
  ({ workspaceId: 'w', agentId: 'a', runId: 'r', ...more }) as Reporter;
const entry = (kib: number): StoredEntry => ({
  level: 'INFO',
  event: '',
  message: 'x'.repeat(kib * KIB - 64 - 2),
  details: {},
});

let budget: LogBudget;
const sizes = (by: Reporter, kib: number[], now = NOON) =>
  budget.take(by, kib.map(entry), now).entries.map(({ event }) => event || 'kept');

beforeEach(() => {
  budget = new LogBudget({ logs: { mbPerRun: 1, mbPerWorkspaceAndDay: 2 } });
});

describe('The log of a run', () => {
  test('ends at its limit with one entry that says so', () => {
    expect(sizes(reporter(), [512, 512])).toEqual(['kept', 'kept']);
    expect(sizes(reporter(), [1, 1])).toEqual(['log_limit_reached']);
    expect(sizes(reporter(), [1])).toEqual([]);
    const [notice] = new LogBudget({ logs: { mbPerRun: 1, mbPerWorkspaceAndDay: 2 } }).take(
      reporter(),
      [entry(2_000)],
    ).entries;
    expect(notice).toMatchObject({
      level: 'WARN',
      message: 'Log limit reached: 1 MiB of this run. Further entries are not stored.',
    });
  });

  test('counts bytes of messages and details, and the cost of empty entries', () => {
    const wide = { ...entry(1), message: '€'.repeat(349_526) };
    expect(budget.take(reporter(), [wide]).entries[0]?.event).toBe('log_limit_reached');
    const detailed = { ...entry(1), details: { text: 'x'.repeat(1_048_576) } };
    expect(budget.take(reporter({ runId: 's' }), [detailed]).entries[0]?.event).toBe(
      'log_limit_reached',
    );
    const empty = Array.from({ length: 20_000 }, () => ({ ...entry(1), message: null }));
    expect(budget.take(reporter({ runId: 't' }), empty).entries.length).toBeLessThan(16_000);
  });

  test('is not used up by a refused report, or by that of another agent', () => {
    budget.take(reporter(), [entry(1_000)], NOON).refund();
    sizes(reporter({ agentId: 'b' }), [1_000]);
    expect(sizes(reporter(), [1_000])).toEqual(['kept']);
  });

  test('has no limit at 0', () => {
    budget = new LogBudget({ logs: { mbPerRun: 0, mbPerWorkspaceAndDay: 0 } });
    expect(sizes(reporter(), [3_000, 3_000])).toEqual(['kept', 'kept']);
  });
});

test('the logs of a workspace have a limit for each day, which other workspaces do not use up', () => {
  for (const runId of ['1', '2']) sizes(reporter({ runId }), [1_024]);
  expect(sizes(reporter({ runId: '3' }), [1, 1])).toEqual(['log_limit_reached']);
  const [notice] = budget.take(reporter({ runId: '5' }), [entry(1_000)], NOON).entries;
  expect(notice?.message).toBe(
    'Log limit reached: 2 MiB of the workspace on this day. ' +
      'Further entries are not stored until 00:00 UTC.',
  );
  expect(sizes(reporter({ runId: '3', workspaceId: 'other' }), [1])).toEqual(['kept']);
  expect(sizes(reporter({ runId: '4' }), [1], MIDNIGHT)).toEqual(['kept']);
});
