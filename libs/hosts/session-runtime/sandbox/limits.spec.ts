import { describe, expect, test } from '@jest/globals';
import { capLimits, limitsOf, NO_LIMITS, readLimits } from './limits.js';

const STANDARD = { memoryMb: 4_096, processes: 512, diskMb: 10_240, openFiles: 1_024 };

describe('The limits of a task', () => {
  test.each([undefined, null, {}, { memoryMb: 128, processes: 48, diskMb: 1, openFiles: 64 }])(
    '%j are accepted',
    (value) => expect(readLimits(value, 'limits') ?? null).toEqual(value ?? null),
  );

  test.each<[unknown, string]>([
    ['1 GiB', 'limits must be an object of memoryMb, processes, diskMb, openFiles'],
    [[], 'limits must be an object of'],
    [{ memory: 128 }, 'limits.memory is no limit: there are memoryMb'],
    [{ xdiskMb: 128 }, 'limits.xdiskMb is no limit'],
    [{ memoryMb: 127 }, 'limits.memoryMb must be a whole number of at least 128'],
    [{ processes: 0 }, 'limits.processes must be a whole number of at least 48'],
    [{ diskMb: 1.5 }, 'limits.diskMb must be a whole number of at least 1'],
    [{ openFiles: '100' }, 'limits.openFiles must be a whole number of at least 64'],
    [{ openFiles: null }, 'limits.openFiles must be a whole number of at least 64'],
  ])('%j are refused', (value, message) => {
    expect(() => readLimits(value, 'limits')).toThrow(message);
  });

  test('replace those of the host', () => {
    expect(limitsOf({ diskMb: 5 }, STANDARD, STANDARD)).toEqual({ ...STANDARD, diskMb: 5 });
    expect(limitsOf(undefined, STANDARD, STANDARD)).toEqual(STANDARD);
  });

  test('exceed those of the host up to its maximum', () => {
    const most = { ...STANDARD, memoryMb: 8_192, processes: 0 };
    const asked = { memoryMb: 8_192, processes: 100_000 };
    expect(limitsOf(asked, STANDARD, most)).toEqual({ ...STANDARD, ...asked });
    expect(() => limitsOf({ memoryMb: 8_193 }, STANDARD, most)).toThrow(
      'limits.memoryMb may be at most 8192 on this host',
    );
  });
});

test('a maximum bounds the limits of the host', () => {
  const most = { ...NO_LIMITS, memoryMb: 1_000, diskMb: 20_000 };
  expect(capLimits(STANDARD, most)).toEqual({ ...STANDARD, memoryMb: 1_000 });
  expect(capLimits(NO_LIMITS, most)).toEqual({ ...NO_LIMITS, memoryMb: 1_000, diskMb: 20_000 });
});
