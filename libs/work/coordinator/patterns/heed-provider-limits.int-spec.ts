import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '#lib/kernel';
import {
  type RoutingRule,
  selectModel,
  SERVER_RULES,
  type TaskFacts,
} from '../../../usage/models/domain/select-model.js';
import { MODEL_TIERS, TIER_MODELS } from '../../../usage/models/domain/tiers.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  soundServer,
  type TestAgent,
  type TestServer,
} from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

type Body = Record<string, unknown>;
const SONNET = TIER_MODELS.sonnet;

async function routed(rules: RoutingRule[] = [{ tier: 'sonnet' }]): Promise<void> {
  const body = { enabled: true, rules, tiers: {} };
  expect((await scene.workspace.api.put('/model-routing', body)).status).toBe(200);
}

function refuse({ agent, runId }: Pick<Held, 'agent' | 'runId'>, body: Body = {}) {
  const report = { retryAfterSeconds: 600, ...body };
  return agent.api.post<Body>(`/runs/${runId}/provider-limits`, report);
}

async function reportRefusal(held: Held, body: Body = {}): Promise<Body> {
  const answer = await refuse(held, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

async function limits(): Promise<Body[]> {
  return (await scene.workspace.api.get<{ items: Body[] }>('/provider-limits')).body.items;
}

async function tryClaim(
  agent: TestAgent,
  body: Body = {},
): Promise<{ ids: string[]; reason?: string }> {
  type Claimed = { tasks: { task: { id: string } }[]; reason?: string };
  const answer = await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, body);
  return { ids: answer.body.tasks.map(({ task }) => task.id), reason: answer.body.reason };
}

async function explainTask(id: string, code: string): Promise<Body | undefined> {
  type Explained = { reasons: { code: string; facts: Body }[] };
  const { body } = await scene.workspace.api.get<Explained>(`/agent-tasks/${id}/explain`);
  return body.reasons.find((reason) => reason.code === code)?.facts;
}

describe('a run that its provider refuses', () => {
  it('a refused run keeps its checkpoint, and tasks for the model wait', async () => {
    await routed([{ taskType: 'urgent', model: 'gpt-5' }, { tier: 'sonnet' }]);
    const held = await scene.held();
    const other = await scene.task({ requiredCapabilities: ['other'] });
    const urgent = await scene.task({ taskType: 'urgent', requiredCapabilities: ['other'] });
    const limited = await reportRefusal(held, {
      checkpointData: { page: 7 },
      message: 'Slow down',
    });
    expect(limited).toMatchObject({ runId: held.runId, taskId: held.id });
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PENDING',
      retryCount: 0,
      checkpointData: { page: 7 },
    });
    const [log] = (await scene.logs(held.id, 'state_transition')).filter(({ message }) =>
      message?.includes('Slow down'),
    );
    expect(log?.message).toBe(`The provider anthropic refuses ${SONNET}: Slow down`);
    expect(await limits()).toMatchObject([
      {
        id: limited['limitId'],
        provider: 'anthropic',
        model: SONNET,
        kind: 'rate_limited',
        until: limited['until'],
        reportedBy: { runId: held.runId, agentId: held.agent.id },
      },
    ]);
    // Neither task goes to agents that leave the choice to routing, and both show until when.
    const heir = await scene.heirOf(held);
    expect(await tryClaim(heir)).toEqual({ ids: [], reason: 'provider_limited' });
    const facts = await explainTask(other, 'provider_limited');
    expect(facts).toMatchObject({
      limitId: limited['limitId'],
      provider: 'anthropic',
      model: SONNET,
    });
    const [until, end] = [String(facts?.['until']), String(limited['until'])].map(Date.parse) as [
      number,
      number,
    ];
    expect(until).toBeGreaterThanOrEqual(end);
    expect(until).toBeLessThanOrEqual(end + 60_000);
    expect(await explainTask(other, 'provider_limited')).toEqual(facts);
    // A task that needs another model can be claimed.
    const able = await scene.workspace.newAgent({ capabilities: ['other'] });
    expect(await tryClaim(able)).toMatchObject({ ids: [urgent] });
    await scene.holdsEverything();
  });

  it("a refused run's task resumes by itself at the reported time", async () => {
    await routed();
    const held = await scene.held();
    await reportRefusal(held, { retryAfterSeconds: 1 });
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({ status: 'PENDING' });
    expect(await tryClaim(await scene.heirOf(held), { waitMs: 20_000 })).toEqual({
      ids: [held.id],
    });
    await scene.sql(
      `UPDATE provider_limits SET over_at = now(), until = now() WHERE workspace_id = $1`,
      scene.id,
    );
    await scene.recover();
    const { rows } = await scene.sql(
      'SELECT FROM provider_limits WHERE workspace_id = $1',
      scene.id,
    );
    expect(rows).toEqual([]);
  });

  it("a refused run's task resumes when an administrator removes the limit", async () => {
    await routed();
    const held = await scene.held();
    const { limitId } = await reportRefusal(held);
    await scene.recover();
    const path = `/provider-limits/${String(limitId)}`;
    const stranger = await server.newWorkspace();
    expect((await stranger.api.delete(path)).status).toBe(404);
    expect(await limits()).toHaveLength(1);
    expect(await scene.workspace.api.delete(path)).toMatchObject({
      status: 200,
      body: { id: limitId },
    });
    expect(await scene.workspace.api.delete(path)).toMatchObject({
      status: 404,
      body: { code: 'provider_limit_not_found' },
    });
    expect(await tryClaim(await scene.heirOf(held))).toEqual({ ids: [held.id] });
  });

  it('an agent that only reported the model cannot claim the task again itself', async () => {
    const held = await scene.held();
    await reportRefusal(held, { model: 'o3-mini-2025-01-31' });
    await scene.recover();
    expect(await tryClaim(held.agent)).toEqual({ ids: [], reason: 'provider_limited' });
    const untouched = await scene.task({ requiredCapabilities: ['free'] });
    const able = await scene.workspace.newAgent({ capabilities: ['free'] });
    expect(await tryClaim(able)).toMatchObject({ ids: [untouched] });
  });
});

describe('an agent with a model of its own', () => {
  it('an agent with a refused model gets nothing until the limit ends', async () => {
    const held = await scene.held({}, { start: false });
    await scene.sql(`UPDATE agents SET model = 'gpt-5' WHERE id = $1`, held.agent.id);
    await scene.sql(`UPDATE task_runs SET model = 'gpt-5' WHERE id = $1`, held.runId);
    await reportRefusal(held, { kind: 'quota_exhausted', allModels: true });
    expect(await tryClaim(held.agent)).toEqual({ ids: [], reason: 'provider_limited' });
    expect(await explainTask(held.id, 'agents_provider_limited')).toMatchObject({
      count: 1,
      agents: [{ id: held.agent.id, limitedUntil: expect.any(String) }],
    });
    expect(await tryClaim(await scene.heirOf(held))).toEqual({ ids: [held.id] });
  });
});

describe('other runs of that model', () => {
  it('other runs of the refused model release their tasks', async () => {
    await routed([{ taskType: 'other', model: 'gpt-5' }, { tier: 'sonnet' }]);
    const [held, same, fresh] = [
      await scene.held(),
      await scene.held(),
      await scene.held({}, { start: false }),
    ];
    const other = await scene.held({ taskType: 'other' });
    const { limitId } = await reportRefusal(held);
    expect((await scene.recover())['providerLimitsHeeded']).toBeGreaterThan(0);
    expect(await scene.read(fresh.id)).toMatchObject({ status: 'PENDING', retryCount: 0 });
    expect(await scene.read(other.id)).toMatchObject({ status: 'RUNNING' });
    expect(await scene.read(same.id)).toMatchObject({
      status: 'PAUSED',
      pausedBy: `coordinator:provider:${String(limitId)}`,
    });
    const path = `/agents/${same.agent.id}/signals`;
    const { body } = await same.agent.api.post<{ runs: unknown[] }>(path, {
      runIds: [same.runId],
      waitMs: 0,
    });
    expect(body.runs).toMatchObject([{ action: 'pause', reason: 'provider_limited' }]);
    const released = { reason: 'paused', checkpointData: { page: 9 } };
    expect((await same.agent.api.post(`/runs/${same.runId}/release`, released)).status).toBe(200);
    await scene.recover();
    expect(await scene.read(same.id)).toMatchObject({
      status: 'PENDING',
      retryCount: 0,
      checkpointData: { page: 9 },
    });
    expect(await tryClaim(same.agent)).toEqual({ ids: [], reason: 'provider_limited' });
    expect((await scene.recover())['providerLimitsHeeded']).toBe(0);
    await scene.holdsEverything();
  });

  it('other runs resume in place if the limit ends before they release their tasks', async () => {
    await routed();
    const [held, same] = [await scene.held(), await scene.held()];
    const { limitId } = await reportRefusal(held);
    await scene.recover();
    await scene.workspace.api.delete(`/provider-limits/${String(limitId)}`);
    await scene.recover();
    expect(await scene.read(same.id)).toMatchObject({ status: 'RUNNING', pausedBy: null });
  });
});

type Queries = { query: (text: string, values: unknown[]) => Promise<unknown> };

describe('between the search and the locks', () => {
  /** Runs the change while the coordinator waits for the locked task, and returns the result. */
  async function changeDuringSweep(
    id: string,
    change: (other: Queries) => Promise<unknown>,
  ): Promise<void> {
    const other = await server.db.owner.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM agent_tasks WHERE id = $1 FOR UPDATE', [id]);
    const recovering = scene.recover();
    await waitFor('the coordinator to wait', async () => {
      const waiting = await other.query(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      return waiting.rows.length > 0;
    });
    await change(other);
    await other.query('COMMIT');
    other.release();
    await recovering;
  }

  it('a limit removed before the locks pauses nothing', async () => {
    await routed();
    const [held, same] = [await scene.held(), await scene.held()];
    const remove = async ({ limitId }: Body) =>
      scene.workspace.api.delete(`/provider-limits/${String(limitId)}`);
    const first = await reportRefusal(held);
    const { version } = await scene.read(same.id);
    await changeDuringSweep(same.id, () => remove(first));
    expect(await scene.read(same.id)).toMatchObject({ status: 'RUNNING', version });
    const second = await reportRefusal(await scene.held({}, { start: false }), { model: SONNET });
    await scene.recover();
    expect(await scene.read(same.id)).toMatchObject({ status: 'PAUSED' });
    await remove(second);
    const takeOver = `UPDATE agent_tasks
      SET paused_by = 'user:somebody', paused_for = 'request', paused_for_id = NULL WHERE id = $1`;
    await changeDuringSweep(same.id, (other) => other.query(takeOver, [same.id]));
    expect(await scene.read(same.id)).toMatchObject({
      status: 'PAUSED',
      pausedBy: 'user:somebody',
    });
  });
});

describe('a report', () => {
  it('repeated reports only prolong a limit, and count once', async () => {
    await routed();
    const [held, same, third] = [await scene.held(), await scene.held(), await scene.held()];
    const first = await reportRefusal(held, { retryAfterSeconds: 600 });
    expect(await reportRefusal(held, { retryAfterSeconds: 900 })).toMatchObject({
      limitId: first['limitId'],
      until: first['until'],
    });
    expect(await reportRefusal(same, { retryAfterSeconds: 5 })).toMatchObject({
      until: first['until'],
    });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect(await reportRefusal(same, { until, retryAfterSeconds: undefined })).toMatchObject({
      limitId: null,
    });
    const later = await reportRefusal(third, { until, retryAfterSeconds: undefined });
    expect(Math.abs(Date.parse(String(later['until'])) - Date.parse(until))).toBeLessThan(10_000);
    expect(await limits()).toMatchObject([{ id: first['limitId'], until: later['until'] }]);
  });

  it('a report about all models covers each refused model, whatever its name', async () => {
    await routed([{ taskType: 'other', model: 'codestral' }, { model: 'devstral' }]);
    const [held, other] = [await scene.held(), await scene.held({ taskType: 'other' })];
    const all = { provider: 'mistral', allModels: true };
    const first = await reportRefusal(held, all);
    expect(await reportRefusal(other, { ...all, retryAfterSeconds: 5 })).toMatchObject({
      limitId: first['limitId'],
      until: first['until'],
    });
    await scene.recover();
    for (const one of [held, other]) {
      expect(await tryClaim(one.agent)).toEqual({ ids: [], reason: 'provider_limited' });
    }
  });

  it('a report of an ended run counts from its end, unless that time is past', async () => {
    const held = await scene.held();
    const first = await reportRefusal(held, { model: 'gpt-5', retryAfterSeconds: 600 });
    await scene.workspace.api.delete(`/provider-limits/${String(first['limitId'])}`);
    await scene.sql(
      `UPDATE task_runs SET assigned_at = assigned_at - interval '1 hour',
         started_at = started_at - interval '1 hour', ended_at = ended_at - interval '1 hour'
           WHERE id = $1`,
      held.runId,
    );
    expect(await reportRefusal(held, { model: 'gpt-5' })).toMatchObject({
      limitId: null,
      until: null,
    });
    const later = await reportRefusal(held, { model: 'gpt-5', retryAfterSeconds: 4_200 });
    expect(Date.parse(String(later['until'])) - Date.now()).toBeLessThan(601_000);
  });

  it('a report only releases the task when fifty limits are open', async () => {
    const [held, last] = [await scene.held(), await scene.held()];
    await reportRefusal(held, { model: 'gpt-5' });
    await scene.sql(
      `INSERT INTO provider_limits (workspace_id, id, provider, covers, kind, until, over_at,
        run_id, agent_id)
       SELECT workspace_id, uuidv7(), 'p' || n, '^p$', kind, until, over_at, run_id, agent_id
       FROM provider_limits, generate_series(1, 49) AS n WHERE workspace_id = $1`,
      scene.id,
    );
    expect(await reportRefusal(last, { model: 'gpt-5-mini' })).toMatchObject({ limitId: null });
    expect(await limits()).toHaveLength(50);
    expect(await scene.read(last.id)).toMatchObject({ status: 'ABORTED', retryCount: 0 });
  });

  it("only a run's own agent can report a limit after its end", async () => {
    const held = await scene.held();
    expect((await held.agent.api.post(`/runs/${held.runId}/complete`, {})).status).toBe(200);
    expect(await reportRefusal(held, { model: 'gpt-5' })).toMatchObject({ status: 'COMPLETED' });
    expect(await limits()).toMatchObject([{ provider: 'openai', model: 'gpt-5' }]);
    const stranger = await scene.heirOf(held);
    expect(await refuse({ ...held, agent: stranger })).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
  });

  it.each<[Body, waits: boolean]>([
    [{}, true],
    [{ model: 'devstral' }, true],
    [{ model: 'gpt-5', retryAfterSeconds: undefined, until: '2020-01-01T00:00:00Z' }, false],
  ])('a report with %p only releases the task', async (body, waits) => {
    for (const held of [await scene.held(), await scene.held({}, { start: false })]) {
      const answer = await reportRefusal(held, { ...body, checkpointData: { page: 7 } });
      expect(answer).toMatchObject({ limitId: null, until: null });
      await scene.recover();
      expect(await scene.read(held.id)).toMatchObject({
        status: waits ? 'ABORTED' : 'PENDING',
        retryCount: 0,
        checkpointData: { page: 7 },
      });
      const ids = waits ? [] : [held.id];
      expect(await tryClaim(await scene.heirOf(held))).toMatchObject({ ids });
    }
    expect(await limits()).toEqual([]);
    await scene.holdsEverything();
  });

  it('a report with a distant time sets a limit of seven days', async () => {
    const until = '2999-01-01T00:00:00Z';
    const body = { model: 'gpt-5', until, retryAfterSeconds: undefined };
    const noted = await reportRefusal(await scene.held(), body);
    const ahead = Date.parse(String(noted['until'])) - Date.now();
    expect(ahead).toBeGreaterThan(604_700_000);
    expect(ahead).toBeLessThan(604_900_000);
  });

  it.each<[Body, string]>([
    [{ retryAfterSeconds: 604_801 }, 'retryAfterSeconds'],
    [{ retryAfterSeconds: 0 }, 'retryAfterSeconds'],
    [{ until: '2999-01-01T00:00:00Z' }, 'until'],
    [{ retryAfterSeconds: undefined, until: 'tomorrow' }, 'until'],
    [{ model: 'two words' }, 'model'],
    [{ kind: 'bored' }, 'kind'],
  ])('a report with %p is refused and changes nothing', async (body, field) => {
    const held = await scene.held();
    expect(await refuse(held, { model: 'gpt-5', ...body })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field }] },
    });
    expect(await limits()).toEqual([]);
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING' });
  });
});

describe('routed_model', () => {
  const projects = [newId(), newId()];
  const tokens = fc.bigInt({ min: 9_990n, max: 10_010n });
  const types = fc.constantFrom('boilerplate', 'review', 'test');
  const condition = fc.record(
    {
      taskType: types,
      minPriority: fc.integer({ min: 1, max: 10 }),
      minComplexity: fc.integer({ min: 1, max: 12 }),
      maxEstimatedTokens: tokens.map(String),
      projectId: fc.constantFrom(...projects),
    },
    { requiredKeys: [] },
  );
  const target = fc.oneof(
    fc.record({ tier: fc.constantFrom(...MODEL_TIERS) }),
    fc.record({ model: fc.constantFrom('gpt-5', 'o3') }),
  );
  const rule = fc
    .tuple(condition, target)
    .map(([when, then]): RoutingRule => ({ ...when, ...then }));
  const orUnknown = <T>(known: fc.Arbitrary<T>) => fc.option(known, { nil: null });
  const task = fc.record<TaskFacts>({
    taskType: types,
    priority: fc.integer({ min: 1, max: 10 }),
    estimatedComplexity: orUnknown(fc.integer({ min: 1, max: 12 })),
    estimatedTokens: orUnknown(tokens),
    projectId: orUnknown(fc.constantFrom(...projects)),
  });
  const tiers = { ...TIER_MODELS, opus: 'another-one' };

  it('routed_model chooses the same model as selectModel', async () => {
    const samples = fc.sample(fc.tuple(task, fc.array(rule, { maxLength: 4 })), {
      numRuns: 500,
      seed: 1,
    });
    const asked = samples.map(([facts, rules]) => ({
      ...facts,
      estimatedTokens: facts.estimatedTokens?.toString(),
      rules: [...rules, ...Object.values(SERVER_RULES)],
    }));
    const { rows } = await scene.sql(
      `SELECT routed_model(c->'rules', $2, c->>'taskType', (c->>'priority')::int,
        (c->>'projectId')::uuid,
         (c->>'estimatedComplexity')::int, (c->>'estimatedTokens')::bigint) AS model
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS a (c, place) ORDER BY place`,
      JSON.stringify(asked),
      JSON.stringify(tiers),
    );
    const chosen = samples.map(([facts, rules]) => selectModel(facts, rules, tiers).model);
    expect(rows.map(({ model }) => model)).toEqual(chosen);
  });
});
