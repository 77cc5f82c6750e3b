import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Log } from './log.js';
import { ConnectionProblem, DroverProblem } from '#lib/api-client';
import { askedWaitMs, isTransient, messageOf } from './errors.js';
import { refusal } from './testing/refusal.js';
import { RETRY_BACKOFF, retrying, waitBefore } from './retry.js';

const refused = (status: number, retryAfterSeconds?: number) =>
  refusal(status, 'any', 'no', retryAfterSeconds);

describe('The wait before another attempt', () => {
  test('is below the doubling ceiling, and never below what the server asked for', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(300), (failures, asked) => {
        const ceiling = Math.min(RETRY_BACKOFF.baseMs * 2 ** failures, RETRY_BACKOFF.capMs);
        const plain = waitBefore(RETRY_BACKOFF, failures, new ConnectionProblem('gone'));
        const told = waitBefore(RETRY_BACKOFF, failures, refused(503, asked));
        expect(plain).toBeGreaterThanOrEqual(0);
        expect(plain).toBeLessThanOrEqual(ceiling);
        expect(told).toBeGreaterThanOrEqual(asked * 1000);
        expect(told).toBeLessThanOrEqual(asked * 1000 + ceiling);
      }),
    );
  });

  test.each([
    [3, 3_000],
    [0, 0],
    [999_999, 300_000],
    [undefined, undefined],
  ])('Retry-After: %s asks for %s ms', (seconds, expected) => {
    expect(askedWaitMs(refused(503, seconds))).toBe(expected);
  });
});

describe('Repeating', () => {
  const options = { policy: { baseMs: 0, capMs: 0 }, log: new Log(() => undefined) };

  async function attempts(...errors: Error[]): Promise<number> {
    let count = 0;
    const call = async (): Promise<number> => {
      const error = errors[count];
      count += 1;
      if (error !== undefined) throw error;
      return count;
    };
    return retrying('It', call, options);
  }

  test('goes on while waiting may help', async () => {
    const errors = [new ConnectionProblem('gone'), refused(503), refused(429, 1), refused(401)];
    expect(await attempts(...errors)).toBe(5);
  });

  test.each([400, 403, 404, 409, 413, 422])('ends at once on %i', async (status) => {
    await expect(attempts(refused(status))).rejects.toMatchObject({ status });
  });

  test('ends when it is told to', async () => {
    const stop = new AbortController();
    const call = async (): Promise<never> => {
      stop.abort();
      throw new ConnectionProblem('gone');
    };
    const endless = { ...options, policy: { baseMs: 1e9, capMs: 1e9 }, signal: stop.signal };
    await expect(retrying('It', call, endless)).rejects.toThrow('gone');
  });
});

test('A refusal says its sentence and the fields it names', () => {
  const { problem } = refusal(400, 'validation_failed');
  const errors = [{ field: 'name', message: 'is long', code: 'max_length' }];
  expect(messageOf(new DroverProblem({ ...problem, errors }, undefined))).toBe('No: name is long');
});

test.each([
  [502, true],
  [404, false],
])('A page of a proxy with the status %i passes: %s', (status, passes) => {
  const answer = new Response('<html>', { status });
  expect(isTransient(new ConnectionProblem('A page', { answer }))).toBe(passes);
});
