import { describe, expect, it } from '@jest/globals';
import type { NoticeSettings } from '../domain/kinds.js';
import type { Outcome } from '../domain/outcome.js';
import { GIVE_UP_AFTER_MS } from '../domain/schedule.js';
import { judgeTurn } from './turn.js';

const OUTCOMES: Record<string, Outcome> = {
  ok: { kind: 'delivered', status: 200 },
  500: { kind: 'failed', status: 500 },
  429: { kind: 'failed', status: 429, retryAfterMs: 60_000 },
  slow: { kind: 'failed', status: 429, retryAfterMs: 86_400_000 },
  refused: { kind: 'refused', status: 400 },
  410: { kind: 'gone', status: 410 },
  timeout: { kind: 'unanswered', error: 'timeout' },
};

const DELIVERY = {
  event: 'task.created',
  status: null,
  payload: '{}',
  left_to: [],
  attempts: 3,
  failures: 2,
  left_ms: GIVE_UP_AFTER_MS,
};

const SETTINGS = { template: null, digestSeconds: 60, digestMax: 10, quietHours: null };

function leasedOf({ failures = 0, notice }: { failures?: number; notice: NoticeSettings | null }) {
  return {
    workspace_id: 'w',
    id: 'e',
    lease: 'l',
    url: 'https://a.example',
    hub_signature: false,
    recipients: [],
    now_ms: 0,
    kind: notice ? ('slack' as const) : ('signed' as const),
    notice,
    failures,
    deliveries: [],
  };
}

function turn(
  failures: number,
  outcomes: string[],
  left_ms = GIVE_UP_AFTER_MS,
  notice: NoticeSettings | null = null,
) {
  const made = outcomes.map((name, index) => ({
    delivery: { ...DELIVERY, event_id: `${index}`, left_ms },
    outcome: OUTCOMES[name] as Outcome,
    startedAt: new Date(0),
    durationMs: 5,
  }));
  return judgeTurn(leasedOf({ failures, notice }), made, undefined, () => 0.5);
}

describe('a turn', () => {
  it.each([
    [0, ['ok'], 0],
    [5, ['ok'], 0],
    [5, ['500', 'ok', 'timeout'], 0],
    [0, ['500'], 1],
    [4, ['500', 'timeout'], 5],
    [4, [], 4],
  ])('a turn after %i failures with %p leaves %i', (before, outcomes, after) => {
    const { failures, pause_ms, gone } = turn(before, outcomes);
    expect(failures).toBe(after);
    expect(pause_ms > 0).toBe(after > 1);
    expect(gone).toBe(false);
  });

  it.each([
    ['ok', { state: 'delivered', failures: 0, in_ms: null, status: 200, error: null }],
    ['500', { state: 'pending', failures: 3, in_ms: 120_000, status: 500, error: null }],
    ['429', { state: 'pending', failures: 3, in_ms: 120_000, status: 429, error: null }],
    ['410', { state: 'dead', failures: 3, in_ms: null, status: 410, error: null }],
    ['timeout', { state: 'pending', failures: 3, in_ms: 120_000, status: null, error: 'timeout' }],
  ])('an attempt that ended with %s is stored with its result', (outcome, kept) => {
    expect(turn(0, [outcome]).results).toMatchObject([{ ...kept, number: 4, event_id: '0' }]);
  });

  it('a delivery whose time ends before the next attempt is abandoned', () => {
    expect(turn(0, ['500'], 60_000).results).toMatchObject([{ state: 'dead', in_ms: null }]);
  });

  it('a webhook that is gone is disabled', () => {
    expect(turn(0, ['410', '500']).gone).toBe(true);
  });
});

describe('a turn of notices', () => {
  it.each([
    ['ok', 60_000],
    ['timeout', 0],
    // A requested wait applies to all messages.
    ['429', 60_000],
    ['slow', 3_600_000],
  ])('a turn of notices that ends with %s waits accordingly', (outcome, pause) => {
    expect(turn(0, [outcome], GIVE_UP_AFTER_MS, SETTINGS).pause_ms).toBe(pause);
  });

  it('a message that some recipients got begins the window, and a later attempt for the others does not', () => {
    const pauseAfter = (before: string[], left_to: string[]) => {
      const leased = leasedOf({ notice: SETTINGS });
      const delivery = { ...DELIVERY, event_id: '0', left_to: before };
      const outcome = OUTCOMES['500'] as Outcome;
      const made = { delivery, outcome, startedAt: new Date(0), durationMs: 5, left_to };
      return judgeTurn(leased, [made]).pause_ms;
    };
    expect([pauseAfter([], ['b']), pauseAfter(['b'], ['b'])]).toEqual([60_000, 0]);
  });

  it('a turn of notices ends with events that the receiver will never accept', () => {
    const { results, gone, failures } = turn(0, ['refused'], GIVE_UP_AFTER_MS, SETTINGS);
    expect([results[0]?.state, gone, failures]).toEqual(['dead', false, 1]);
  });
});
