import { describe, expect, it } from '@jest/globals';
import type { ServiceScope } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { calibrateEstimates } from './calibrate.js';
import { calibrate } from './calibrate.sql.js';

/** Three workspaces; learning fails in the second. */
function aService(failure: Error, learned: unknown[]): ServiceScope {
  const rows = async (statement: unknown, [id]: unknown[]) => {
    if (statement !== calibrate) return [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    if (id === 'b') throw failure;
    learned.push(id);
    return [];
  };
  return { rows } as unknown as ServiceScope;
}

describe('calibration', () => {
  it('a failed workspace is logged, and the others are calibrated', async () => {
    const [learned, told]: [unknown[], unknown[]] = [[], []];
    const warn = (...words: unknown[]): void => void told.push(words);
    const failure = new Error('numeric field overflow');
    await calibrateEstimates(aService(failure, learned), 60, { warn });
    expect(learned).toEqual(['a', 'c']);
    expect(told).toEqual([[expect.any(String), { workspaceId: 'b', error: failure }]]);
  });

  it('a database that is down ends the calibration of all workspaces', async () => {
    const learned: unknown[] = [];
    const away = new DroverError('database_unavailable');
    const learning = calibrateEstimates(aService(away, learned), 60, { warn: () => undefined });
    await expect(learning).rejects.toBe(away);
    expect(learned).toEqual(['a']);
  });
});
