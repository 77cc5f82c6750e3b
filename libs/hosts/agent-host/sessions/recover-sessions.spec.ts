import { expect, test } from '@jest/globals';
import type { Drivers } from '#lib/session-runtime';
import { removeUnknownSessions } from './recover-sessions.js';

test('a session folder that cannot be removed does not keep a host from starting', async () => {
  const removed: string[] = [];
  const driver = {
    list: () => Promise.resolve(['busy', 'known', 'old']),
    remove: (id: string) => {
      if (id === 'busy') return Promise.reject(new Error('EBUSY: resource busy'));
      return Promise.resolve(void removed.push(id));
    },
  };
  const errors: unknown[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: string, of: unknown) => errors.push(of),
  };
  const known = [{ id: 'known', runId: 'run' }];
  await removeUnknownSessions({ all: [driver] } as unknown as Drivers, known, log);
  expect(removed).toEqual(['old']);
  expect(errors).toEqual([{ sessionId: 'busy', error: 'EBUSY: resource busy' }]);
});
