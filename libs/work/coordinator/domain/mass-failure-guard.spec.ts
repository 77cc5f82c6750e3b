import { describe, expect, it } from '@jest/globals';
import { MassFailureGuard } from './mass-failure-guard.js';

const HOUR = 3_600_000;

/** Evaluates at this time and returns how long the suspicion had lasted by then. */
function evaluate(
  guard: MassFailureGuard,
  now: number,
  facts: { heardMs?: number; massFailure?: boolean } = {},
) {
  const { heardMs = HOUR, massFailure = true } = facts;
  const suspectedMs = guard.suspectedMs(now, heardMs);
  guard.evaluated(now, massFailure, suspectedMs);
  return suspectedMs;
}

describe('MassFailureGuard', () => {
  it('a suspicion lasts from its start for as long as no agent is heard', () => {
    const guard = new MassFailureGuard();
    expect(evaluate(guard, 1_000)).toBe(0);
    expect(evaluate(guard, 2_000)).toBe(1_000);
    expect(evaluate(guard, 40_000)).toBe(39_000);
    expect(guard.suspectedMs(45_000, null)).toBe(44_000);
  });

  it('the first evaluation without a suspicion ends it', () => {
    const guard = new MassFailureGuard();
    evaluate(guard, 1_000);
    evaluate(guard, 2_000, { massFailure: false });
    expect(evaluate(guard, 3_000)).toBe(0);
  });

  it('a heartbeat between two evaluations starts a new suspicion', () => {
    const guard = new MassFailureGuard();
    evaluate(guard, 1_000, { heardMs: 5_000 });
    expect(evaluate(guard, 21_000, { heardMs: 19_999 })).toBe(0);
    expect(evaluate(guard, 31_000, { heardMs: 29_999 })).toBe(10_000);
  });

  it('more than a minute without an evaluation starts a new suspicion', () => {
    const guard = new MassFailureGuard();
    evaluate(guard, 1_000);
    expect(evaluate(guard, 61_000)).toBe(60_000);
    expect(evaluate(guard, 121_001)).toBe(0);
    expect(evaluate(guard, 122_001)).toBe(1_000);
  });
});
