import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { Hearing } from '../../../libs/coordinator/hearing.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { waitFor } from '../../support/wait-for.js';
import { expectInvariants } from '../harness/verdict.js';
import { deeds, MODEL_ENV } from './commands.js';
import { emptyModel } from './state.js';
import { World } from './world.js';

const SECONDS = Number(process.env['DROVER_MODEL_SECONDS'] ?? 40);
const SEED = process.env['DROVER_MODEL_SEED'];

let server: TestApp;

beforeAll(async () => {
  server = await startTestApp(MODEL_ENV);
  const hearing = server.app.get(Hearing, { strict: false });
  // Nobody is taken for dead by a server that has just begun to listen.
  await waitFor('the server to have listened', () => hearing.listeningMs() > 2_500);
});
afterAll(() => server.stop());

describe('tasks and runs', () => {
  it(
    'do what the model of them does, whatever is done to them',
    async () => {
      const property = fc.asyncProperty(deeds, async (commands) => {
        const world = new World(server, await server.newWorkspace());
        await fc.asyncModelRun(() => ({ model: emptyModel(), real: world }), commands);
        // Nothing is left behind that the next one's sweeps would have to do.
        await world.sweep();
      });
      await fc.assert(property, {
        numRuns: 1_000_000,
        interruptAfterTimeLimit: SECONDS * 1_000,
        markInterruptAsFailure: false,
        ...(SEED !== undefined && { seed: Number(SEED) }),
      });
      await expectInvariants(server.db);
    },
    SECONDS * 1_000 + 120_000,
  );
});
