import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { checkRebuildable } from '#lib/invariants';
import { readFaultTimes } from '../support/fault-times.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { Load } from './harness/load.js';
import { PrivateValkey } from './harness/private-valkey.js';
import { expectInvariants, expectNothingLost } from './harness/verdict.js';
import { ViewedWork } from './harness/viewed-work.js';

const { valkeyStoppedSeconds: STOPPED_SECONDS } = readFaultTimes();
const FLUSHES = 20;

let valkey: PrivateValkey;
let fleet: TestFleet;
let load: Load;
let viewed: ViewedWork;

beforeEach(async () => {
  valkey = await PrivateValkey.start();
  fleet = await TestFleet.create({
    env: { VALKEY_URL: valkey.url, VALKEY_KEY_PREFIX: '', VALKEY_VIEWS: 'true' },
  });
  await fleet.startServer();
  viewed = await ViewedWork.start(fleet);
  await viewed.expectViews(valkey);
  load = await Load.start(fleet);
  await load.goesOn();
});

afterEach(async () => {
  valkey.resume();
  await fleet.stop();
  await valkey.close();
});

/** Valkey has the same state as before, without help, and nothing beyond the state in Postgres. */
async function expectRebuilt(): Promise<void> {
  await valkey.flush();
  const agents = load.agents.map(({ id }) => id);
  await waitFor('Valkey to know what it knew', () =>
    valkey.ask(async (commands) => {
      const keys = await commands.keys('*');
      const heard = agents.every((id) =>
        keys.some((key) => key.startsWith('agent:heartbeat:') && key.endsWith(`:${id}`)),
      );
      const leads = keys.includes('coordinator:lock:global');
      const shows = /^\d+$/.test((await commands.get('views:position')) ?? '');
      return heard && leads && shows;
    }),
  );
  expect(await checkRebuildable(fleet.db.ownerUrl, { url: valkey.url })).toMatchObject({
    violations: [],
  });
}

/** The views show the changes of the outage, now and after another loss. */
async function expectViewsRight(): Promise<void> {
  await viewed.expectViews(valkey);
  await expectRebuilt();
  await viewed.expectViews(valkey);
}

/** No agent died, so no task has a second run, and the API refused nothing. */
async function expectNobodyNoticed(): Promise<void> {
  await expectViewsRight();
  await viewed.end();
  await load.stop();
  await expectNothingLost(fleet.db, load, { firstRun: true });
  await expectInvariants(fleet.db);
  for (const book of [load.clients, ...load.agents.map((agent) => agent.book)]) {
    expect({ failures: book.failures, broken: book.broken }).toEqual({ failures: 0, broken: 0 });
    // Nothing waits for Valkey's return.
    expect(book.slowestMs).toBeLessThan(STOPPED_SECONDS * 1_000);
  }
}

describe('Valkey', () => {
  it('a Valkey killed under load and restarted empty causes no failure', async () => {
    await valkey.kill();
    await viewed.change();
    await load.goesOn(100);
    await valkey.startAgain();
    await load.goesOn(100);
    await expectNobodyNoticed();
  });

  it('a Valkey flushed repeatedly under load causes no failure', async () => {
    for (let flush = 0; flush < FLUSHES; flush++) {
      await valkey.flush();
      // A query asks which agents are alive while Valkey is empty.
      await fleet.api.post('/coordinator/recover', {});
      await load.goesOn(10);
    }
    await viewed.change();
    await expectNobodyNoticed();
  });

  it(`a Valkey stopped for ${STOPPED_SECONDS} seconds stops neither the API nor an agent`, async () => {
    valkey.pause();
    const before = load.created.length;
    await viewed.change();
    await delay(STOPPED_SECONDS * 1_000);
    const during = load.created.length - before;
    valkey.resume();
    await load.goesOn(100);
    await expectNobodyNoticed();
    expect(during).toBeGreaterThan(STOPPED_SECONDS);
  });
});
