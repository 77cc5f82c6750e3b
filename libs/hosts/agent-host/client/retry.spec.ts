import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Log } from '../machine/log.js';
import { ConnectionProblem, DroverProblem } from '#lib/api-client';
import { askedWaitMs, isTransient, messageOf } from './errors.js';
import { refusal } from '../testing/refusal.js';
import { RETRY_BACKOFF, retrying, waitBefore } from './retry.js';

const refused = (status: number, retryAfterSeconds?: number) =>
  refusal(status, 'any', 'no', retryAfterSeconds);

describe('The wait before the next attempt', () => {
  test('the wait is below the doubling ceiling, and at least as long as asked for', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(300), (failures, asked) => {
        const ceiling = Math.min(RETRY_BACKOFF.baseMs * 2 ** failures, RETRY_BACKOFF.capMs);
        const plain = waitBefore(RETRY_BACKOFF, failures, new ConnectionProblem('gone'));
        const delayed = waitBefore(RETRY_BACKOFF, failures, refused(503, asked));
        expect(plain).toBeGreaterThanOrEqual(0);
        expect(plain).toBeLessThanOrEqual(ceiling);
        expect(delayed).toBeGreaterThanOrEqual(asked * 1000);
        expect(delayed).toBeLessThanOrEqual(asked * 1000 + ceiling);
      }),
    );
  });

  test.each([
    [3, 3_000],
    [0, 0],
    [999_999, 300_000],
    [undefined, undefined],
  ])('Retry-After: %s asks for a wait of %s ms', (seconds, expected) => {
    expect(askedWaitMs(refused(503, seconds))).toBe(expected);
  });
});

describe('A repeated call', () => {
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

  test('the call is repeated while waiting can help', async () => {
    const errors = [new ConnectionProblem('gone'), refused(503), refused(429, 1), refused(401)];
    expect(await attempts(...errors)).toBe(5);
  });

  test.each([400, 403, 404, 409, 413, 422])(
    'status %i ends the repetition at once',
    async (status) => {
      await expect(attempts(refused(status))).rejects.toMatchObject({ status });
    },
  );

  test('an aborted signal ends the repetition', async () => {
    const stop = new AbortController();
    const call = async (): Promise<never> => {
      stop.abort();
      throw new ConnectionProblem('gone');
    };
    const endless = { ...options, policy: { baseMs: 1e9, capMs: 1e9 }, signal: stop.signal };
    await expect(retrying('It', call, endless)).rejects.toThrow('gone');
  });
});

test('the message of a refusal is its sentence and its named fields', () => {
  const { problem } = refusal(400, 'validation_failed');
  const errors = [{ field: 'name', message: 'is long', code: 'max_length' }];
  expect(messageOf(new DroverProblem({ ...problem, errors }, undefined))).toBe('No: name is long');
});

test.each([
  [502, true],
  [404, false],
])("a proxy's page with the status %i is transient: %s", (status, passes) => {
  const answer = new Response('<html>', { status });
  expect(isTransient(new ConnectionProblem('A page', { answer }))).toBe(passes);
});
