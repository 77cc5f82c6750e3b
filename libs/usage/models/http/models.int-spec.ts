import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';
import { costOf } from '../domain/cost.js';
import { ModelPrices } from '../prices/model-prices.js';
import { MODEL_TIERS, TIER_MODELS } from '../domain/tiers.js';

let server: TestApp;
let workspace: TestWorkspace;
let operator: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  operator = await server.newWorkspace();
  await server.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [
    operator.userId,
  ]);
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

const HOUR_MS = 3_600_000;
const inAnHour = () => new Date(Date.now() + HOUR_MS).toISOString();
const later = (time: string) => new Date(Date.parse(time) + 1_000);

const NUMBERS = { inputUsd: '1.50', outputUsd: '6', cacheReadUsd: '0.15', cacheWriteUsd: '1.875' };
const SHORTEST = { ...NUMBERS, inputUsd: '1.5' };

function price(values: Record<string, unknown> = {}) {
  return { model: `model-${newId()}`, tier: 'sonnet', ...NUMBERS, ...values };
}

describe('prices', () => {
  const prices = () => server.app.get(ModelPrices, { strict: false });

  it('well-known models and the models of the tiers have prices', async () => {
    const now = new Date();
    expect(await prices().priceOf('claude-sonnet-4-20250514', now)).toMatchObject({
      model: 'claude-sonnet-4',
      tier: 'sonnet',
      inputUsd: '3',
      outputUsd: '15',
      cacheReadUsd: '0.3',
      cacheWriteUsd: '3.75',
    });
    for (const tier of MODEL_TIERS) {
      const model = TIER_MODELS[tier];
      expect(await prices().priceOf(model, now)).toMatchObject({ model, tier });
    }
    expect(await prices().priceOf('a model of nobody', now)).toBeUndefined();
    expect(await prices().priceOf('claude-sonnet-4', new Date('2024-12-31'))).toBeUndefined();
  });

  it('prices equal those of the providers, also for caches', async () => {
    const now = new Date();
    expect(await prices().priceOf('claude-3-haiku-20240307', now)).toMatchObject({
      cacheReadUsd: '0.03',
      cacheWriteUsd: '0.3',
    });
    expect(await prices().priceOf('gemini-3.1-pro-preview', now)).toMatchObject({ inputUsd: '2' });
  });

  it('everybody can list prices by model and time', async () => {
    const list = (query: string) =>
      workspace.api.get<{ items: Record<string, unknown>[]; nextCursor: string | null }>(
        `/model-prices?${query}`,
      );
    const { body } = await list('model=claude-haiku-3.5');
    expect(body.items).toEqual([
      {
        model: 'claude-haiku-3.5',
        tier: 'haiku',
        inputUsd: '0.8',
        outputUsd: '4',
        cacheReadUsd: '0.08',
        cacheWriteUsd: '1',
        createdBy: null,
        effectiveFrom: '2025-01-01T00:00:00.000Z',
        createdAt: expect.any(String),
      },
    ]);
    expect((await list('model=claude-opus-4@20250514')).body.items).toMatchObject([
      { model: 'claude-opus-4' },
    ]);
    expect((await list('at=2024-12-31T00:00:00Z')).body.items).toEqual([]);
    const all = (await list('limit=200')).body.items;
    const first = (await list('limit=20')).body;
    const rest = (await list(`limit=200&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...rest.items]).toEqual(all);
  });

  it('a new price applies at once on the server that received it', async () => {
    const effectiveFrom = inAnHour();
    const wanted = price({ effectiveFrom });
    const made = await operator.api.post('/model-prices', wanted);
    expect(made).toMatchObject({
      status: 201,
      body: { ...wanted, ...SHORTEST, createdBy: `user:${operator.userId}` },
    });
    expect(await prices().priceOf(wanted.model, new Date())).toBeUndefined();
    const held = await prices().priceOf(`${wanted.model}-20270101`, later(effectiveFrom));
    expect(held).toMatchObject(SHORTEST);
    const usage = { inputTokens: 1n, outputTokens: 1n, cacheReadTokens: 1n, cacheWriteTokens: 1n };
    expect(costOf(usage, held)).toBe('0.000009525');
  });

  it('a price cannot change: a correction is a new price from now on', async () => {
    const wanted = price({ effectiveFrom: inAnHour() });
    const { status, body } = await operator.api.post('/model-prices', wanted);
    expect(await operator.api.post('/model-prices', wanted)).toMatchObject({ status, body });
    const others = [{ inputUsd: '1.51' }, { cacheWriteUsd: '0' }, { tier: 'opus' }];
    for (const other of others) {
      const refused = await operator.api.post('/model-prices', { ...wanted, ...other });
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'price_exists', current: { ...SHORTEST, tier: 'sonnet' } },
      });
    }
    const past = { ...wanted, effectiveFrom: new Date(Date.now() - 1_000).toISOString() };
    expect(await operator.api.post('/model-prices', past)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'effectiveFrom' }] },
    });
    const fromNow = price({ model: wanted.model, inputUsd: '2' });
    expect((await operator.api.post('/model-prices', fromNow)).status).toBe(201);
    expect(await prices().priceOf(wanted.model, new Date())).toMatchObject({ inputUsd: '2' });
    const { rows } = await server.db.owner.query(
      `SELECT has_table_privilege('drover_service', 'model_prices', 'UPDATE, DELETE') AS may`,
    );
    expect(rows).toEqual([{ may: false }]);
  });

  it('only operators can add prices, as decimals', async () => {
    const refused = await workspace.api.post('/model-prices', price());
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    for (const inputUsd of ['-1', '1e3', 'NaN', '', '0.1234567', '1234567', 3]) {
      const answer = await operator.api.post('/model-prices', price({ inputUsd }));
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'inputUsd' }] } });
    }
  });
});

interface Claimed {
  run: { id: string; model: string | null; modelTier: string | null };
}

async function claimed(task: Record<string, unknown> = {}, model?: string) {
  const made = { title: 'A task', taskType: 'test', ...task };
  const { body } = await workspace.api.post<{ id: string }>('/agent-tasks', made);
  const agent = await workspace.newAgent();
  if (model !== undefined) await setModel(agent.id, model);
  const answer = await agent.api.post<{ tasks: Claimed[] }>(`/agents/${agent.id}/claim`, {});
  const [{ run }] = answer.body.tasks as [Claimed];
  const path = `/agent-tasks/${body.id}/runs`;
  const runs = await workspace.api.get<{ items: { model: string | null }[] }>(path);
  return { model: run.model, tier: run.modelTier, ofRun: runs.body.items[0]?.model };
}

async function setModel(agentId: string, model: string): Promise<void> {
  await server.db.owner.query('UPDATE agents SET model = $2 WHERE id = $1', [agentId, model]);
}

interface Routing {
  version: number;
  tiers: Record<string, string>;
  rules: unknown[];
}

const route = (request: object, headers?: Record<string, string>) =>
  workspace.api.put<Routing>(
    '/model-routing',
    { enabled: true, rules: [], tiers: {}, ...request },
    headers,
  );

describe('routing', () => {
  const none = { model: null, tier: null, ofRun: null };

  it('routing is off until it is enabled, and agents keep their own models', async () => {
    const { body } = await workspace.api.get('/model-routing');
    expect(body).toEqual({
      enabled: false,
      rules: [],
      tiers: TIER_MODELS,
      fallbacks: [],
      version: 0,
    });
    expect(await claimed({ priority: 10 })).toEqual(none);
    const own = { model: 'claude-opus-4-1', tier: 'opus', ofRun: 'claude-opus-4-1' };
    expect(await claimed({}, 'claude-opus-4-1')).toEqual(own);
    await route({});
    expect(await claimed({}, 'claude-opus-4-1')).toEqual(own);
    expect(await claimed({}, 'a model of nobody')).toMatchObject({ tier: null });
    await route({ enabled: false });
    expect(await claimed({ priority: 10 })).toEqual(none);
  });

  it('each run gets the model of its task', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    const rules = [
      { projectId, tier: 'opus' },
      { taskType: 'review', minPriority: 3, model: 'gpt-5' },
    ];
    expect((await route({ rules, tiers: { opus: 'claude-opus-4-1' } })).status).toBe(200);
    const chosen = (model: string, tier: string) => ({ model, tier, ofRun: model });
    expect(await claimed()).toEqual(chosen(TIER_MODELS.sonnet, 'sonnet'));
    expect(await claimed({ priority: 9 })).toEqual(chosen('claude-opus-4-1', 'opus'));
    expect(await claimed({ taskType: 'boilerplate' })).toEqual(chosen(TIER_MODELS.haiku, 'haiku'));
    expect(await claimed({ projectId })).toEqual(chosen('claude-opus-4-1', 'opus'));
    expect(await claimed({ taskType: 'review' })).toEqual(chosen('gpt-5', 'sonnet'));
    expect(await claimed({ taskType: 'review', priority: 2 })).toMatchObject({
      model: TIER_MODELS.sonnet,
    });
  });

  it('each task of one claim gets its model', async () => {
    await route({});
    const claimMany = async (model?: string) => {
      for (const task of [{ priority: 9 }, { taskType: 'boilerplate' }]) {
        await workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test', ...task });
      }
      const agent = await workspace.newAgent({ maxConcurrentTasks: 20 });
      if (model !== undefined) await setModel(agent.id, model);
      const path = `/agents/${agent.id}/claim`;
      const { body } = await agent.api.post<{ tasks: Claimed[] }>(path, { maxTasks: 20 });
      return body.tasks.map(({ run }) => run.model);
    };
    expect(await claimMany()).toEqual([TIER_MODELS.opus, TIER_MODELS.haiku]);
    expect(await claimMany('gpt-5')).toEqual(['gpt-5', 'gpt-5']);
  });

  it('a preview names the model that a task would get, and the rule', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    await route({
      enabled: false,
      rules: [{ projectId: projectId.toUpperCase(), maxEstimatedTokens: 500, model: 'gpt-5-nano' }],
    });
    const preview = (query: string) =>
      workspace.api.get(`/model-routing/preview?taskType=test&${query}`);
    expect((await preview('estimatedComplexity=9')).body).toEqual({
      model: TIER_MODELS.opus,
      tier: 'opus',
      rule: 'complex',
      enabled: false,
    });
    expect((await preview('estimatedTokens=9999')).body).toMatchObject({ rule: 'small' });
    const own = { model: 'gpt-5-nano', tier: 'haiku', rule: 'own', index: 0, enabled: false };
    expect((await preview(`projectId=${projectId}&estimatedTokens=500`)).body).toEqual(own);
    expect((await preview(`projectId=${newId()}`)).body).toMatchObject({
      code: 'project_not_found',
    });
  });

  it('requests of a routed run ask its model instead of a dearer one', async () => {
    await workspace.api.put('/model-routing', { enabled: true, rules: [], tiers: {} });
    const agent = await workspace.newAgent({
      capabilities: ['command', 'kind:codex'],
      maxConcurrentTasks: 2,
    });
    const claimed = async (values: object) => {
      const task = { title: 'A task', taskType: 'test', ...values };
      await workspace.api.post('/agent-tasks', task);
      const { body } = await agent.api.post<{ tasks: { run: { id: string; model: string } }[] }>(
        `/agents/${agent.id}/claim`,
        {},
      );
      return body.tasks[0]!.run;
    };
    const ask = async (runId: string, model?: string) => {
      const path = `/runs/${runId}/model-holds/${newId()}`;
      const { body } = await agent.api.put<{ outcome: string }>(path, { tokens: 1_000, model });
      return body;
    };
    const routed = await claimed({});
    expect(routed.model).toBe(TIER_MODELS.sonnet);
    const nothing = { reason: null, message: null, budget: null, fallbacks: [] };
    const granted = { outcome: 'granted', ...nothing };
    expect(await ask(routed.id, TIER_MODELS.opus)).toEqual({ ...granted, model: routed.model });
    expect(await ask(routed.id, TIER_MODELS.haiku)).toEqual({ ...granted, model: null });
    expect(await ask(routed.id)).toEqual({ ...granted, model: null });
    const named = await claimed({ agent: { kind: 'codex', model: TIER_MODELS.opus } });
    expect(await ask(named.id, TIER_MODELS.opus)).toEqual({ ...granted, model: null });
  });

  it('a model without a price is refused where a budget covers the run', async () => {
    const agent = await workspace.newAgent({ capabilities: ['command'] });
    await workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
    const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      {},
    );
    const ask = async (model: string) => {
      const path = `/runs/${body.tasks[0]!.run.id}/model-holds/${newId()}`;
      return (await agent.api.put<object>(path, { tokens: 1_000, model })).body;
    };
    const model = `model-${newId()}`;
    expect(await ask(model)).toMatchObject({ outcome: 'granted' });
    const [periodStart, periodEnd] = [new Date(Date.now() - HOUR_MS).toISOString(), inAnHour()];
    const budget = { scope: 'global', allocated: 100_000, periodStart, periodEnd };
    expect((await workspace.api.post('/budgets', budget)).status).toBe(201);
    expect(await ask(TIER_MODELS.haiku)).toMatchObject({ outcome: 'granted' });
    expect(await ask(model)).toEqual({
      outcome: 'unpriced',
      reason: 'model_unpriced',
      message: expect.stringMatching(
        new RegExp(`^The model "${model}" has no price.* POST /api/v1/model-prices\\.$`),
      ),
      budget: null,
      model: null,
      fallbacks: [],
    });
    await operator.api.post('/model-prices', price({ model }));
    expect(await ask(model)).toMatchObject({ outcome: 'granted' });
  });

  it('fallbacks are kept until the next routing, and are models of one provider', async () => {
    const fallbacks = [{ model: TIER_MODELS.opus, models: [TIER_MODELS.sonnet] }];
    expect((await route({ fallbacks })).body).toMatchObject({ fallbacks });
    const wrong = [{ model: TIER_MODELS.opus, models: [TIER_MODELS.sonnet, 'gpt-5.5'] }];
    expect(await route({ fallbacks: wrong })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'fallbacks[0].models[1]' }] },
    });
    expect((await workspace.api.get('/model-routing')).body).toMatchObject({ fallbacks });
    expect((await route({})).body).toMatchObject({ fallbacks: [] });
  });

  it('administrators set routing, with If-Match if they want', async () => {
    const rules = [{ maxEstimatedTokens: '9223372036854775807', tier: 'haiku' }];
    const first = await route({ rules });
    expect(first.body).toMatchObject({ version: 1, rules });
    expect(first.headers.get('etag')).toBe('"1"');
    expect(await route({ tiers: first.body.tiers }, { 'if-match': '"1"' })).toMatchObject({
      status: 200,
      body: { version: 2, rules: [], tiers: TIER_MODELS },
    });
    expect(await route({}, { 'if-match': '"1"' })).toMatchObject({
      status: 412,
      body: { code: 'version_mismatch', currentVersion: 2 },
    });
    const kept = await server.db.owner.query(
      'SELECT tiers FROM model_routing WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(kept.rows).toEqual([{ tiers: {} }]);
    workspace = await server.newWorkspace('MEMBER');
    expect((await route({})).status).toBe(403);
    expect((await workspace.api.get('/model-routing')).status).toBe(200);
  });

  it.each([
    ['no model', [{ taskType: 'a' }], 'rules[0]'],
    ['a tier and a model', [{ tier: 'opus', model: 'gpt-5' }], 'rules[0]'],
    [
      'tokens below zero',
      [{ maxEstimatedTokens: -1, tier: 'opus' }],
      'rules[0].maxEstimatedTokens',
    ],
    [
      'too many tokens',
      [{ maxEstimatedTokens: '9223372036854775808', tier: 'opus' }],
      'rules[0].maxEstimatedTokens',
    ],
    ['half a token', [{ maxEstimatedTokens: 0.5, tier: 'opus' }], 'rules[0].maxEstimatedTokens'],
    ['a project of nobody', [{ projectId: newId(), tier: 'opus' }], 'rules[0].projectId'],
  ])('refuses a rule with %s', async (_, rules, field) => {
    expect(await route({ rules })).toMatchObject({ body: { errors: [{ field }] } });
    expect((await workspace.api.get('/model-routing')).body).toMatchObject({ version: 0 });
  });
});

describe('savings', () => {
  const DAY = '2026-05-01';
  const between = (from: string, to: string) =>
    workspace.api.get<{ models: Record<string, unknown>[] }>(
      `/model-routing/savings?from=${from}&to=${to}`,
    );

  async function used(
    model: string,
    tokens: number[],
    cost: string | null,
    at = `${DAY}T12:00:00Z`,
  ) {
    await server.db.owner.query(
      `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model,
        input_tokens,
         output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, logged_at)
       VALUES ($1, uuidv7(), 'a report', uuidv7(), uuidv7(), $2, $3, $4, $5, $6, $7, $8)`,
      [workspace.id, model, ...tokens, cost, at],
    );
  }

  it('savings are the difference to the dearest price of the list at that time', async () => {
    // 15 and 60 USD in April, cheaper than claude-3-opus, then ten times as much.
    const dearest = `dearest-${newId()}`;
    for (const [from, factor] of [
      ['2026-04-01', 1],
      ['2026-05-01', 10],
    ] as const) {
      await server.db.owner.query(
        `INSERT INTO model_prices VALUES ($1, $2, 'opus', 15 * $3::int, 60 * $3::int, 1.5 *
          $3::int, 18.75 * $3::int)`,
        [dearest, `${from}T00:00:00Z`, factor],
      );
    }
    await used('claude-haiku-4-5', [1_000_000, 100_000, 0, 0], '1.5');
    await used('claude-haiku-4-5', [0, 0, 1_000_000, 1], '0.10000125', `${DAY}T00:00:00Z`);
    await used(dearest, [1, 0, 0, 0], '0.000015', '2026-04-30T23:59:59Z');
    await used('unpriced', [7, 0, 0, 0], null);
    await used('claude-haiku-4-5', [5, 0, 0, 0], '0.000005', '2026-03-31T00:00:00Z');
    await used('claude-haiku-4-5', [1, 0, 0, 0], '1', '2026-06-01T00:00:00Z');
    const { body } = await between('2026-03-01T00:00:00Z', '2026-06-01T00:00:00Z');
    expect(body).toEqual({
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-06-01T00:00:00.000Z',
      dearestModel: dearest,
      dearestModels: ['claude-3-opus', dearest],
      tokens: '2100007',
      unpricedTokens: '7',
      actualUsd: '1.60002125',
      dearestUsd: '225.0002775',
      savedUsd: '223.40025625',
      savedPercent: 99.3,
      models: [
        {
          model: 'claude-haiku-4-5',
          tokens: '2100006',
          actualUsd: '1.60000625',
          dearestUsd: '225.0002625',
          savedUsd: '223.40025625',
          savedPercent: 99.3,
        },
        {
          model: dearest,
          tokens: '1',
          actualUsd: '0.000015',
          dearestUsd: '0.000015',
          savedUsd: '0',
          savedPercent: 0,
        },
        {
          model: 'unpriced',
          tokens: '0',
          actualUsd: '0',
          dearestUsd: '0',
          savedUsd: '0',
          savedPercent: null,
        },
      ],
    });
  });

  it('savings without usage are 0, and a reversed period is refused', async () => {
    const { body } = await between('2026-03-01T00:00:00Z', '2026-06-01T00:00:00Z');
    expect(body).toMatchObject({ savedUsd: '0', savedPercent: null, models: [] });
    const { body: last } =
      await workspace.api.get<Record<string, string>>('/model-routing/savings');
    const [from, to] = [last['from'], last['to']].map((time) => Date.parse(time ?? '')) as [
      number,
      number,
    ];
    expect(to - from).toBe(30 * 24 * HOUR_MS);
    expect(await between('2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z')).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'to' }] },
    });
  });
});
