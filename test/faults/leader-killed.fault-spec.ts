import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'iovalkey';
import { setTimeout as delay } from 'node:timers/promises';
import type { StepName } from '../../libs/work/coordinator/patterns/index.js';
import { StandInGateway } from '../../libs/work/runs/sessions/testing/stand-in-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { type Catch, type Moment, PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { testValkey } from '../support/valkey.js';
import { reign, startCoordinator, successorOf } from './harness/coordinators.js';
import { PushedWork } from './harness/pushed-work.js';
import { Rounds, SILENCE_SECONDS } from './harness/rounds.js';
import { expectInvariants } from './harness/verdict.js';

/** A statement in each step's own transaction, which finds work. */
const STEPS: Record<StepName, string> = {
  expire_leases: 'lock_expired_runs',
  reap_stale_agents: 'mark_agents_stale',
  recover_lost_runs: 'lock_runs_of_lost_agents',
  close_workspaces: 'lock_runs_of_archived_workspaces',
  end_paused_runs: 'lock_runs_under_pauses',
  watch_liveness: 'mark_stale_runs',
  recover_orphans: 'read_leased_defects',
  reconcile_states: 'recount_tasks',
  promote_retries: 'promote_due_retries',
  expire_questions: 'expire_question',
  start_schedules: 'record_occurrences',
  remind_reviews: 'note_overdue_reviews',
  start_delayed: 'start_delayed_tasks',
  review_by_agents: 'note_reviewer',
  fail_cycles: 'announce_cycles',
  settle_dependents: 'lock_unsettled',
  grant_slots: 'grant_free_slots',
  time_out_runs: 'lock_overdue_runs',
  warn_hung: 'warn_hung_runs',
  time_out_hung: 'lock_hung_runs',
  detect_split_brain: 'announce_conflicts',
  expire_queued: 'abort_expired_in_queue',
  terminate_drained: 'drained_agents',
  end_budget_periods: 'usage_end_periods',
  enforce_budgets: 'tasks_of_used_up_budgets',
  heed_provider_limits: 'tasks_of_limited_models',
  clear_pauses: 'suspend_paused_tasks',
  tell_budget_alerts: 'usage_tell_budget_alerts',
  throttle_workspaces: 'write_throttles',
  assign: 'assign_tasks',
};
const MOMENTS = ['before-commit', 'after-commit'] as const;

let db: TestDatabase;
let fleet: TestFleet;
let proxy: PostgresProxy;
let gateway: StandInGateway;
let rounds: Rounds;
let valkey: Redis;
let lockKey: string;

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await PostgresProxy.to(db.serviceUrl);
  const { url, keyPrefix } = testValkey();
  [valkey, lockKey] = [new Redis(url), `${keyPrefix}coordinator:lock:global`];
  gateway = await StandInGateway.start();
  const env = {
    ...gateway.env,
    VALKEY_KEY_PREFIX: keyPrefix,
    // One round warns a run, and the next one ends it.
    HUNG_ABORT_AFTER_SECONDS: '1',
  };
  fleet = await TestFleet.create({ db, env });
  await fleet.startServer({ ROLES: 'api,relay' });
  rounds = await Rounds.start(fleet, await PushedWork.start(fleet, gateway));
});

afterAll(async () => {
  proxy.mend();
  await fleet.stop();
  await proxy.close();
  await gateway.stop();
  valkey.disconnect();
});

/** One server leads, and the others are ready to replace it. */
const crew = new Map<string, BuiltProcess>();
let hired = 0;
/** The last two servers, which may not have started yet. */
let [newer, newest] = [Promise.resolve(), Promise.resolve()];

async function hire(): Promise<void> {
  const name = `coordinator-${++hired}`;
  const coordinator = await startCoordinator(fleet, {
    INSTANCE_ID: name,
    DATABASE_SERVICE_URL: proxy.url,
    DATABASE_URL: throughProxy(db.appUrl),
    // A server that is held at a moment must not lose its leadership to the clock.
    COORDINATOR_LOCK_TTL_SECONDS: '60',
  });
  crew.set(name, coordinator);
}

/** Tasks of schedules are created as their workspace does it. */
function throughProxy(url: string): string {
  const proxied = new URL(url);
  proxied.host = new URL(proxy.url).host;
  return proxied.href;
}

async function killLeader(): Promise<void> {
  const name = (await reign(db)).instance ?? 'nobody';
  // A slow machine tells that a server listens when it leads already.
  if (!crew.has(name)) await newest;
  const leader = crew.get(name);
  if (!leader) throw new Error(`${name} leads, and was not hired`);
  crew.delete(name);
  leader.kill('SIGKILL');
  await leader.ended();
}

/** Creates work for each step. No server leads until the dead leader's lock has expired. */
async function prepare(statement: string): Promise<void> {
  await rounds.prepare();
  await rounds.damage();
  await rounds.complete();
  if (statement === STEPS.reap_stale_agents) {
    await Promise.all([newer, newest]);
    // Twice: a server that a slow machine stops for a while begins to listen again.
    await delay(2 * SILENCE_SECONDS * 1_000);
  }
}

/** Ends the leader, and lets a standby lead up to a moment of its first cycle. */
async function leadUpTo(moment: Moment): Promise<Catch> {
  await killLeader();
  // The newer server becomes the next leader.
  await newer;
  [newer, newest] = [newest, hire()];
  // Work that the dead leader has not committed is still there for the next leader.
  if (moment.at === 'before-commit') await prepare(moment.statement);
  const caught = proxy.catch(moment);
  const recorded = proxy.catch({ at: 'after-commit', statement: 'coordinator_record_cycle' });
  recorded.letGo();
  await valkey.del(lockKey);
  // Events wake the server that waits to lead.
  await rounds.complete();
  await Promise.race([caught.reached, recorded.reached]);
  for (const waiting of [caught, recorded]) proxy.forget(waiting);
  return caught;
}

describe('a leader', () => {
  it('the next leader continues after a kill in each step, before and after its commit', async () => {
    const { epoch } = await reign(db);
    await hire();
    await successorOf(db, epoch);
    // One server leads next, and another leads while two more start.
    await Promise.all([hire(), hire()]);
    const missed: string[] = [];
    for (const [step, statement] of Object.entries(STEPS)) {
      for (const at of MOMENTS) {
        const caught = await leadUpTo({ at, statement });
        if (caught.rowsOf(statement) === 0) missed.push(`${step}, ${at}`);
      }
    }
    expect(missed).toEqual([]);
    const deaths = MOMENTS.length * Object.keys(STEPS).length;
    expect((await reign(db)).epoch).toBe(epoch + 1 + deaths);
    await Promise.all([newer, newest]);
    for (const coordinator of crew.values()) coordinator.kill('SIGKILL');
    crew.clear();
    await valkey.del(lockKey);
  }, 900_000);

  it('killed leaders leave no work undone', async () => {
    await hire();
    await rounds.finish();
    expect(await rounds.ends()).toEqual({
      tasks: ['COMPLETED'],
      refused: ['ABORTED'],
      circular: ['FAILED'],
    });
    await expectInvariants(db);
  });

  it('killed leaders have created one task for each due time', async () => {
    const { rows } = await db.owner.query<{ is_one: boolean }>(
      `SELECT array(SELECT t.id FROM agent_tasks t WHERE t.schedule_id = o.schedule_id
           AND t.scheduled_for = o.due_at) = ARRAY[o.task_id] AS is_one
       FROM schedule_occurrences o WHERE o.outcome = 'started'`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(MOMENTS.length);
    expect(rows.filter((row) => !row.is_one)).toEqual([]);
    const unscheduled = `SELECT FROM agent_tasks t WHERE t.schedule_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM schedule_occurrences o WHERE o.schedule_id = t.schedule_id AND o.due_at = t.scheduled_for)`;
    expect((await db.owner.query(unscheduled)).rows).toEqual([]);
  });
});
