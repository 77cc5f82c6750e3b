import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Log } from './log.js';
import { ApiError, isTransient, NetworkError, toApiError, waitOf } from './errors.js';
import { RETRY_BACKOFF, retrying, waitBefore } from './retry.js';

const refused = (status: number, retryAfterMs?: number) =>
  new ApiError(status, `http_${status}`, 'no', retryAfterMs);

describe('The wait before another attempt', () => {
  test('is below the doubling ceiling, and never below what the server asked for', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(300_000), (failures, asked) => {
        const ceiling = Math.min(RETRY_BACKOFF.baseMs * 2 ** failures, RETRY_BACKOFF.capMs);
        const plain = waitBefore(RETRY_BACKOFF, failures, new NetworkError('gone'));
        const told = waitBefore(RETRY_BACKOFF, failures, refused(503, asked));
        expect(plain).toBeGreaterThanOrEqual(0);
        expect(plain).toBeLessThanOrEqual(ceiling);
        expect(told).toBeGreaterThanOrEqual(asked);
        expect(told).toBeLessThanOrEqual(asked + ceiling);
      }),
    );
  });

  test.each([
    ['3', 3_000],
    ['0', 0],
    ['-5', 0],
    ['999999', 300_000],
    ['Thu, 01 Jan 1970 00:00:20 GMT', 10_000],
    ['Thu, 01 Jan 1970 00:00:05 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('Retry-After: %s asks for %s ms', (header, expected) => {
    expect(waitOf(header, 10_000)).toBe(expected);
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
    const errors = [new NetworkError('gone'), refused(503), refused(429, 1), refused(401)];
    expect(await attempts(...errors)).toBe(5);
  });

  test.each([400, 403, 404, 409, 413, 422])('ends at once on %i', async (status) => {
    await expect(attempts(refused(status))).rejects.toMatchObject({ status });
  });

  test('ends when it is told to', async () => {
    const stop = new AbortController();
    const call = async (): Promise<never> => {
      stop.abort();
      throw new NetworkError('gone');
    };
    const endless = { ...options, policy: { baseMs: 1e9, capMs: 1e9 }, signal: stop.signal };
    await expect(retrying('It', call, endless)).rejects.toThrow('gone');
  });
});

test('An error of the server keeps its code, its sentence and the fields it names', () => {
  const problem = {
    code: 'validation_failed',
    detail: 'No',
    errors: [{ field: 'name', message: 'is long' }],
  };
  expect(toApiError(400, problem)).toMatchObject({
    status: 400,
    code: 'validation_failed',
    message: 'No: name is long',
  });
  expect(toApiError(502, '<html>')).toMatchObject({
    code: 'http_502',
    message: 'The server answered 502',
  });
  expect(isTransient(toApiError(502, undefined))).toBe(true);
});
