import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { LivenessObserver } from '../../../libs/work/coordinator/liveness/liveness-observer.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { waitFor } from '../../support/wait-for.js';
import { expectInvariants } from '../harness/verdict.js';
import { deeds, MODEL_ENV } from './commands.js';
import type { ModelCommand } from './deed.js';
import { report, SECONDS, WALKS } from './replay.js';
import { emptyModel } from './state.js';
import { World } from './world.js';

let server: TestApp;

beforeAll(async () => {
  server = await startTestApp(MODEL_ENV);
  // The tenant of each walk reads the invariants, to which it has no access otherwise.
  await server.db.owner.query(
    'GRANT SELECT ON event_numbers, event_consumers, _prisma_migrations TO drover_app',
  );
  const observer = server.app.get(LivenessObserver, { strict: false });
  // A server that has just started declares no agent dead.
  await waitFor('the server to have listened', () => observer.observedMs() > 2_500);
});
afterAll(() => server.stop());

async function walk(commands: Iterable<ModelCommand>): Promise<void> {
  const world = new World(server, await server.newWorkspace());
  try {
    await fc.asyncModelRun(() => ({ model: emptyModel(), real: world }), commands);
    await world.checkInvariants();
    // The walk leaves no work for the sweeps of the next one.
    await world.sweep();
  } finally {
    await world.leave();
  }
}

describe('tasks and runs', () => {
  it(
    'tasks and runs follow the model through all commands',
    async () => {
      let last = Promise.resolve();
      const property = fc.asyncProperty(deeds, (commands) => (last = walk(commands)));
      await fc.assert(property, { ...WALKS, asyncReporter: report });
      // At the time limit, fast-check abandons the current walk, which continues.
      await last;
      await expectInvariants(server.db);
    },
    SECONDS * 1_000 + 120_000,
  );
});
