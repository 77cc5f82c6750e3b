import { expect } from '@jest/globals';
import { tmpdir } from 'node:os';
import { checkInvariants } from '#lib/invariants';
import { startTestApp } from './app.js';
import { expectNothingLeftOpen } from './leaks.js';
import type { TestServer } from './server.js';

export type { TestAgent, TestServer, TestWorkspace } from './server.js';

/**
 * A server of the role `api` for one file, which `stop` expects to have left all invariants intact.
 * Invariants know no workspaces, and a retry that another file left becomes overdue after a minute.
 */
export async function soundServer(): Promise<TestServer> {
  const app = await startTestApp({
    ROLES: 'api',
    // Fleets have their repositories in their folders.
    DROVER_REPOSITORY_PATHS: tmpdir(),
  });
  const stop = async () => {
    try {
      await expectNothingLeftOpen(app.db.owner);
      const invariants = await checkInvariants(app.db.ownerUrl);
      expect(invariants.filter(({ holds }) => !holds)).toEqual([]);
    } finally {
      await app.stop();
    }
  };
  return { ...app, stop };
}
