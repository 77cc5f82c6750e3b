import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'iovalkey';
import type { StepName } from '../../libs/coordinator/steps/step.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { type Catch, type Moment, PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { testValkey } from '../support/valkey.js';
import { reign, startCoordinator, successorOf } from './harness/coordinators.js';
import { Rounds } from './harness/rounds.js';
import { expectInvariants } from './harness/verdict.js';

/**
 * A statement of each step's own transaction. The steps that are not here have none when there is
 * nothing wrong: what they would change is found first.
 */
const STEPS: Partial<Record<StepName, string>> = {
  expire_leases: 'lock_expired_runs',
  recover_lost_runs: 'lock_runs_of_lost_agents',
  watch_liveness: 'mark_stale_runs',
  promote_retries: 'promote_due_retries',
  settle_dependents: 'lock_unsettled',
  time_out_runs: 'lock_overdue_runs',
  warn_hung: 'warn_hung_runs',
  time_out_hung: 'lock_hung_runs',
  expire_queued: 'abort_expired_in_queue',
  terminate_drained: 'drained_agents',
};
const MOMENTS = ['before-commit', 'after-commit'] as const;

let db: TestDatabase;
let fleet: TestFleet;
let proxy: PostgresProxy;
let rounds: Rounds;
let valkey: Redis;
let lockKey: string;

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await PostgresProxy.to(db.serviceUrl);
  const { url, keyPrefix } = testValkey();
  [valkey, lockKey] = [new Redis(url), `${keyPrefix}coordinator:lock:global`];
  fleet = await TestFleet.create({ db, env: { VALKEY_KEY_PREFIX: keyPrefix } });
  await fleet.startServer({ ROLES: 'api,relay' });
  rounds = await Rounds.start(fleet);
}, 60_000);

afterAll(async () => {
  proxy.mend();
  await fleet.stop();
  await proxy.close();
  valkey.disconnect();
}, 60_000);

/** Leads, or stands by to lead as soon as it can. */
const aCoordinator = () =>
  startCoordinator(fleet, {
    DATABASE_SERVICE_URL: proxy.url,
    // Whoever stands still at a moment is not to lose its place to the clock.
    COORDINATOR_LOCK_TTL_SECONDS: '60',
  });

/** Ends the leader, and lets the one who stands by lead up to a moment of its first cycle. */
async function leadUpTo(moment: Moment, before: BuiltProcess): Promise<Catch> {
  before.kill('SIGKILL');
  await before.ended();
  // Nobody leads until the dead leader's lock is gone.
  await rounds.prepare();
  const caught = proxy.catch(moment);
  const recorded = proxy.catch({ at: 'after-commit', statement: 'coordinator_record_cycle' });
  recorded.letGo();
  await valkey.del(lockKey);
  await rounds.complete();
  await Promise.race([caught.reached, recorded.reached]);
  for (const waiting of [caught, recorded]) proxy.forget(waiting);
  return caught;
}

describe('a leader', () => {
  it.each(MOMENTS)(
    'killed in each step %s: the next one goes on',
    async (at) => {
      const { epoch } = await reign(db);
      let leader = await aCoordinator();
      await successorOf(db, epoch);
      let next = await aCoordinator();
      const missed: string[] = [];
      for (const [step, statement] of Object.entries(STEPS)) {
        const standingBy = aCoordinator();
        const caught = await leadUpTo({ at, statement }, leader);
        if (!caught.isTaken) missed.push(step);
        [leader, next] = [next, await standingBy];
      }
      expect(missed).toEqual([]);
      expect((await reign(db)).epoch).toBe(epoch + 1 + Object.keys(STEPS).length);
      for (const process of [leader, next]) process.kill('SIGKILL');
      await valkey.del(lockKey);
    },
    180_000,
  );

  it('leaves nothing undone', async () => {
    await aCoordinator();
    await rounds.finish();
    expect(await rounds.ends()).toEqual({ tasks: ['COMPLETED'], refused: ['ABORTED'] });
    await expectInvariants(db);
  }, 90_000);
});
