import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { afterSpawn, labelOf, type SpawnResult } from './spawn.js';

const POLICY = { maxAttempts: 3, deadlineSeconds: 60 };
const FIRST = { attempts: 1, ageSeconds: 1 };
const GATEWAY = { id: 'g', bootId: 'b', sequence: 0 };
const session = (status: string) => ({ id: 's', sessionKey: 'k', status });

describe('afterSpawn', () => {
  it.each([
    ['RUNNING', true],
    ['STARTING', true],
    ['QUEUED', false],
    ['FAILED', true],
  ])('a session that is %s has begun: %s', (status, begun) => {
    const result: SpawnResult = { kind: 'spawned', session: session(status), gateway: GATEWAY };
    expect(afterSpawn(result, FIRST, POLICY, 0)).toMatchObject({ kind: 'spawned', begun });
  });

  it('a refusal by the gateway fails the spawn at once', () => {
    const next = afterSpawn({ kind: 'refused', message: 'no' }, FIRST, POLICY, 0);
    expect(next).toMatchObject({ kind: 'failed', retryable: false });
  });

  it.each<[SpawnResult, number, number]>([
    [{ kind: 'no_answer', message: 'm' }, 0, 500],
    [{ kind: 'no_answer', message: 'm' }, 0.5, 750],
    [{ kind: 'busy', message: 'm', retryAfterMs: 4_000 }, 0.5, 4_000],
    [{ kind: 'busy', message: 'm', retryAfterMs: 900_000 }, 0.5, 15_000],
    [{ kind: 'busy', message: 'm' }, 0.5, 750],
    [{ kind: 'circuit_open' }, 0.5, 1_500],
  ])('a spawn with the result %j and jitter %d retries after %d ms', (result, random, delayMs) => {
    expect(afterSpawn(result, FIRST, POLICY, random)).toMatchObject({ kind: 'again', delayMs });
  });

  it('a call that was not made does not count as an attempt', () => {
    const many = { attempts: 99, ageSeconds: 1 };
    expect(afterSpawn({ kind: 'circuit_open' }, many, POLICY, 0)).toMatchObject({ counts: false });
  });

  it.each([
    [3, 1],
    [1, 60],
  ])(
    'a spawn ends after %d attempts at an age of %d s, and the task can be retried',
    (attempts, age) => {
      const result: SpawnResult = { kind: 'no_answer', message: 'm' };
      const next = afterSpawn(result, { attempts, ageSeconds: age }, POLICY, 0);
      expect(next).toMatchObject({ kind: 'failed', retryable: true });
    },
  );

  it('a spawn never waits past its deadline', () => {
    const results: SpawnResult[] = [
      { kind: 'no_answer', message: 'm' },
      { kind: 'busy', message: 'm', retryAfterMs: 10_000 },
      { kind: 'circuit_open' },
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...results),
        fc.record({ attempts: fc.integer({ min: 1, max: 50 }), ageSeconds: fc.nat(100) }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (result, attempt, random) => {
          const next = afterSpawn(result, attempt, POLICY, random);
          const waits = next.kind === 'again' ? attempt.ageSeconds + next.delayMs / 1_000 : 0;
          expect(waits).toBeLessThanOrEqual(POLICY.deadlineSeconds);
        },
      ),
    );
  });
});

it('the label of a session is the beginning of its title', () => {
  expect(labelOf('id', 'x'.repeat(40))).toBe(`task:id:${'x'.repeat(30)}`);
});

// The gateway would refuse a body with half a character, and the task would fail for good.
it('a label never splits a character', () => {
  const label = labelOf('id', `${'x'.repeat(29)}😀 and more`);
  expect(label).toBe(`task:id:${'x'.repeat(29)}\uFFFD`);
});
