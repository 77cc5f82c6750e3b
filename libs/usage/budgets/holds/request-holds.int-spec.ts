import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '#lib/kernel';
import type { UsageReport } from '#lib/ledger';
import { ModelPrices } from '#lib/models';
import { ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aProject, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { UsageCharges } from '../charges/usage-charges.js';
import { RequestHolds } from './request-holds.js';

const SERVERS = 3;

let db: TestDatabase;
let client: ValkeyClient;
let subscriber: ValkeySubscriber;
/** Servers share the database alone. */
let servers: { holds: RequestHolds; charges: UsageCharges }[];

beforeAll(async () => {
  db = await createTestDatabase();
  client = new ValkeyClient(testValkey());
  subscriber = new ValkeySubscriber(testValkey());
  const wakeUps = new WakeUps(client, subscriber, newId());
  const prices = new ModelPrices(db.database);
  servers = Array.from({ length: SERVERS }, () => ({
    holds: new RequestHolds(db.database),
    charges: new UsageCharges(db.database, prices, wakeUps),
  }));
});

afterAll(async () => {
  client.close();
  subscriber.close();
  await db.drop();
});

const MAX_BOUND = 1_000;
/** An answer without a limit of its own has at most so many tokens. */
const MAX_ANSWER = 3_000;

const request = (used: { min: number; max: number }) =>
  fc.record({
    bound: fc.integer({ min: 100, max: MAX_BOUND }),
    /** Percent of the bound. */
    used: fc.integer(used),
    servers: fc.tuple(fc.nat(SERVERS - 1), fc.nat(SERVERS - 1)),
    ending: fc.constantFrom('once', 'once', 'twice', 'unsent'),
  });

/** Percent of the bounds of all requests. */
const share = fc.oneof(fc.integer({ min: 10, max: 60 }), fc.constant(300));

const scene = (used: { min: number; max: number }) =>
  fc.record({
    workspace: share,
    project: fc.option(share),
    runs: fc.array(
      fc.record({
        estimate: fc.nat(200),
        ofProject: fc.boolean(),
        /** Requests one after another, beside those of the other lanes. */
        lanes: fc.array(fc.array(request(used), { minLength: 1, maxLength: 2 }), {
          minLength: 2,
          maxLength: 4,
        }),
      }),
      { minLength: 2, maxLength: 4 },
    ),
  });

type Scene = ReturnType<typeof scene> extends fc.Arbitrary<infer T> ? T : never;
type Run = Scene['runs'][number] & { runId: string; taskId: string; agentId: string };
type Request = Run['lanes'][number][number];

interface Place {
  workspaceId: string;
  projectId: string;
  runs: Run[];
}

async function setUp({ workspace, project, runs }: Scene): Promise<Place> {
  const workspaceId = await aWorkspace(db.owner);
  const projectId = await aProject(db.owner, workspaceId);
  const budget = `INSERT INTO usage_budgets (workspace_id, id, project_id, allocated, period_start, period_end)
    VALUES ($1, uuidv7(), $2, $3, now() - interval '1 day', now() + interval '1 day')`;
  const total = runs.reduce((sum, run) => sum + boundsOf(run), 0);
  const part = (percent: number) => Math.ceil((total * percent) / 100);
  await db.owner.query(budget, [workspaceId, null, part(workspace)]);
  if (project !== null) await db.owner.query(budget, [workspaceId, projectId, part(project)]);
  const held: Run[] = [];
  for (const run of runs) {
    const agentId = await anAgent(db.owner, workspaceId);
    const values = run.ofProject ? { projectId } : {};
    const ids = await aHeldTask(db.owner, { workspaceId, agentId }, values);
    await handOut(workspaceId, ids.runId, run.estimate);
    held.push({ ...run, ...ids, agentId });
  }
  return { workspaceId, projectId, runs: held };
}

/** Lets the run hold its estimate, as a claim does, if its budgets have so much. */
async function handOut(workspaceId: string, runId: string, estimate: number): Promise<void> {
  await db.owner.query(
    `WITH own AS (
       SELECT b.id, b.available FROM usage_budgets b
       JOIN task_runs r ON r.id = $2 JOIN agent_tasks t ON t.id = r.task_id
       WHERE b.workspace_id = $1 AND b.scope_id IN ($1, t.project_id)),
     fits AS (SELECT bool_and(available >= $3) AS fits FROM own),
     taken AS (UPDATE usage_budgets b SET reserved = reserved + $3 FROM own, fits
       WHERE b.id = own.id AND fits.fits)
     UPDATE task_runs SET held_tokens = $3, estimated_tokens = $3,
       budget_ids = (SELECT array_agg(id) FROM own)
     FROM fits WHERE id = $2 AND fits.fits`,
    [workspaceId, runId, estimate],
  );
}

/** The tokens that the scarcest budget has available. */
async function scarcest(workspaceId: string): Promise<number> {
  const { rows } = await db.owner.query<{ tokens: number }>(
    `SELECT min(available)::float8 AS tokens FROM usage_budgets WHERE workspace_id = $1`,
    [workspaceId],
  );
  return rows[0]?.tokens ?? 0;
}

interface Sent {
  isGranted: boolean;
  /** The tokens that the scarcest budget had available while the request was under way. */
  available: number;
}

async function send(workspaceId: string, run: Run, one: Request): Promise<Sent> {
  const [asking, reporting] = one.servers.map((index) => servers[index]!) as [
    (typeof servers)[number],
    (typeof servers)[number],
  ];
  const { runId, agentId } = run;
  const requestId = newId();
  const tokens = BigInt(one.bound);
  const wish = { runId, agentId, requestId, tokens, isFinal: true, isPriced: true };
  const answer = await asking.holds.ask(workspaceId, wish);
  if (one.ending === 'twice') await reporting.holds.ask(workspaceId, wish);
  const available = await scarcest(workspaceId);
  if (answer.kind !== 'granted') return { isGranted: false, available };
  if (one.ending === 'unsent') {
    await reporting.holds.release(workspaceId, { runId, agentId, requestId });
    return { isGranted: true, available };
  }
  const inputTokens = Math.min(Math.floor((one.bound * one.used) / 100), MAX_ANSWER);
  const report = { id: requestId, model: 'claude-sonnet-4', inputTokens, outputTokens: 0 };
  const usage = { runId, agentId, reports: [report] };
  await reporting.charges.record(workspaceId, usage);
  if (one.ending === 'twice') {
    await asking.charges.record(workspaceId, usage);
    await asking.holds.ask(workspaceId, wish);
  }
  return { isGranted: true, available };
}

async function play(place: Place): Promise<Sent[]> {
  const lanes = place.runs.flatMap((run) =>
    run.lanes.map(async (lane) => {
      const sent: Sent[] = [];
      for (const one of lane) sent.push(await send(place.workspaceId, run, one));
      return sent;
    }),
  );
  return (await Promise.all(lanes)).flat();
}

interface BudgetRow {
  scope: string;
  allocated: number;
  consumed: number;
  reserved: number;
  held: number;
}

async function budgetsOf({ workspaceId }: Place): Promise<BudgetRow[]> {
  const { rows } = await db.owner.query<BudgetRow>(
    `SELECT b.scope, b.allocated::float8, b.consumed::float8, b.reserved::float8,
       (SELECT coalesce(sum(r.held_tokens), 0) FROM task_runs r
        WHERE b.id = ANY (r.budget_ids))::float8 AS held
     FROM usage_budgets b WHERE b.workspace_id = $1`,
    [workspaceId],
  );
  return rows;
}

const boundsOf = ({ lanes }: Pick<Run, 'lanes'>): number =>
  lanes.flat().reduce((sum, { bound }) => sum + bound, 0);

describe('requests of concurrent runs, several at once', () => {
  it('no budget is overdrawn by requests within their bounds, and none is refused in vain', async () => {
    const property = fc.asyncProperty(scene({ min: 50, max: 100 }), async (values) => {
      const place = await setUp(values);
      const sent = await play(place);
      const budgets = await budgetsOf(place);
      for (const { available } of sent) expect(available).toBeGreaterThanOrEqual(0);
      for (const { consumed, allocated, reserved, held } of budgets) {
        expect(consumed + reserved).toBeLessThanOrEqual(allocated);
        expect(reserved).toBe(held);
      }
      const most = place.runs.reduce((sum, run) => sum + boundsOf(run) + run.estimate, 0);
      const isAmple = budgets.every(({ allocated }) => allocated >= most);
      if (isAmple) expect(sent.every(({ isGranted }) => isGranted)).toBe(true);
    });
    await fc.assert(property, { numRuns: 8, endOnFailure: true });
  });

  it('requests without a bound overdraw a budget by an answer for each request under way', async () => {
    const property = fc.asyncProperty(scene({ min: 0, max: 1_000 }), async (values) => {
      const place = await setUp(values);
      await play(place);
      const lanes = place.runs.reduce((sum, run) => sum + run.lanes.length, 0);
      for (const { consumed, allocated, reserved, held } of await budgetsOf(place)) {
        expect(consumed).toBeLessThanOrEqual(allocated + lanes * MAX_ANSWER);
        expect(reserved).toBe(held);
      }
    });
    await fc.assert(property, { numRuns: 5, endOnFailure: true });
  });
});

describe('a report of a model without a price', () => {
  it('the price of the requested model counts, and the report is estimated', async () => {
    const workspaceId = await aWorkspace(db.owner);
    const agentId = await anAgent(db.owner, workspaceId);
    const { runId } = await aHeldTask(db.owner, { workspaceId, agentId });
    const { charges } = servers[0]!;
    const report = {
      id: 'answer',
      model: 'served-under-another-name',
      requestedModel: 'claude-haiku-4-5',
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      estimated: false,
    };
    const record = (one: UsageReport) =>
      charges.record(workspaceId, { runId, agentId, reports: [one] });
    expect(await record(report)).toMatchObject({ accepted: 1 });
    expect(await record(report)).toMatchObject({ accepted: 0, repeated: 1 });
    const { rows } = await db.owner.query(
      'SELECT model, cost_usd::float8 AS cost, estimated FROM agent_usage_logs WHERE run_id = $1',
      [runId],
    );
    expect(rows).toEqual([{ model: report.model, cost: 1.5, estimated: true }]);
    const alone = { ...report, id: 'alone', requestedModel: undefined };
    await expect(record(alone)).rejects.toMatchObject({ code: 'unknown_model' });
  });
});
