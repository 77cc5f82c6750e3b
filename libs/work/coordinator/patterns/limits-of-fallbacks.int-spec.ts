import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { MODEL_TIERS, TIER_MODELS } from '../../../usage/models/domain/tiers.js';
import { plainName, VERSION_OF_MODEL } from '../../../usage/models/domain/model-names.js';
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
const { opus: OPUS, sonnet: SONNET, haiku: HAIKU } = TIER_MODELS;
const CODEX = { agent: { kind: 'codex' } };

/** All tasks get Opus, whose requests Sonnet and Haiku can answer. */
async function routed(models = [SONNET, HAIKU]): Promise<void> {
  const fallbacks = [{ model: OPUS, models }];
  const body = { enabled: true, rules: [{ model: `${OPUS}-20260101` }], tiers: {}, fallbacks };
  expect((await scene.workspace.api.put('/model-routing', body)).status).toBe(200);
}

async function report({ agent, runId }: Held, body: Body): Promise<Body> {
  const path = `/runs/${runId}/provider-limits`;
  const answer = await agent.api.post<Body>(path, { retryAfterSeconds: 600, ...body });
  expect(answer.status).toBe(200);
  return answer.body;
}

async function claimed(agent: TestAgent): Promise<{ ids: string[]; reason?: string }> {
  type Claimed = { tasks: { task: { id: string } }[]; reason?: string };
  const { body } = await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, {});
  return { ids: body.tasks.map(({ task }) => task.id), reason: body.reason };
}

interface Reason {
  code: string;
  message: string;
  facts: { limitId: string; model: string; until: string; isOfFallback: boolean };
}

async function whyLimited(id: string): Promise<Reason[]> {
  const { body } = await scene.workspace.api.get<{ reasons: Reason[] }>(
    `/agent-tasks/${id}/explain`,
  );
  return body.reasons.filter(({ code }) => code === 'provider_limited');
}

it('a limit holds no coding agent whose model has a free fallback, and each command', async () => {
  await routed();
  const [first, live, liveCommand] = [
    await scene.held({}, { start: false }),
    await scene.held(CODEX),
    await scene.held(),
  ];
  const [waiting, command] = [await scene.held(CODEX), await scene.held()];
  for (const { agent, runId } of [waiting, command]) {
    expect((await agent.api.post(`/runs/${runId}/release`, { reason: 'drain' })).status).toBe(200);
  }
  await scene.recover();
  await report(first, { model: OPUS, fallbacks: [{ model: SONNET, retryAfterSeconds: 900 }] });
  expect(await whyLimited(waiting.id)).toEqual([]);
  expect(await claimed(await scene.heirOf(waiting))).toMatchObject({ ids: [waiting.id] });
  expect(await claimed(await scene.heirOf(command))).toEqual({
    ids: [],
    reason: 'provider_limited',
  });
  await scene.recover();
  expect(await scene.read(live.id)).toMatchObject({ status: 'RUNNING' });
  expect(await scene.read(liveCommand.id)).toMatchObject({ status: 'PAUSED' });
});

it('a coding agent waits while all models of its chain are refused, until the first is free', async () => {
  await routed();
  const [refused, live] = [await scene.held(CODEX), await scene.held(CODEX)];
  const fallbacks = [{ model: SONNET, retryAfterSeconds: 60 }, { model: `${HAIKU}-latest` }];
  await report(refused, { model: OPUS, retryAfterSeconds: 3_600, fallbacks });
  await scene.recover();
  expect(await scene.read(live.id)).toMatchObject({ status: 'PAUSED' });
  expect(await scene.read(refused.id)).toMatchObject({ status: 'PENDING', retryCount: 0 });
  expect(await claimed(await scene.heirOf(refused))).toEqual({
    ids: [],
    reason: 'provider_limited',
  });
  const reasons = await whyLimited(refused.id);
  expect(reasons.map(({ facts }) => [facts.model, facts.isOfFallback])).toEqual([
    [OPUS, false],
    [expect.stringMatching(`${SONNET}|${HAIKU}`), true],
    [expect.stringMatching(`${SONNET}|${HAIKU}`), true],
  ]);
  const times = new Set(reasons.map(({ facts }) => facts.until));
  expect(times.size).toBe(1);
  expect(Date.parse([...times][0]!) - Date.now()).toBeLessThan(125_000);
  expect(reasons[1]?.message).toContain('the fallback of its model, as well');
  const haiku = reasons.find(({ facts }) => facts.model === HAIKU);
  await scene.workspace.api.delete(`/provider-limits/${haiku?.facts.limitId}`);
  expect(await claimed(await scene.heirOf(refused))).toMatchObject({ ids: [refused.id] });
  await scene.holdsEverything();
});

it('a task does not begin at once again because of a fallback that its run did not ask', async () => {
  await routed([SONNET]);
  const [refused, other] = [await scene.held(CODEX), await scene.held(CODEX)];
  expect((await other.agent.api.post(`/runs/${other.runId}/release`, {})).status).toBe(200);
  await scene.recover();
  await report(refused, { model: OPUS, retryAfterSeconds: 3_600 });
  const { status, retryAt } = await scene.read(refused.id);
  expect(status).toBe('ABORTED');
  const waits = Date.parse(String(retryAt)) - Date.now();
  expect([waits > 50_000, waits < 61_000]).toEqual([true, true]);
  expect(await claimed(await scene.heirOf(other))).toMatchObject({ ids: [other.id] });
});

it('Postgres and the server find the same version in the name of a model', async () => {
  const names = Object.values(MODEL_TIERS).flatMap((tier) => [TIER_MODELS[tier]]);
  const all = names.flatMap((name) => [
    name,
    `${name}-20260101`,
    `${name}-2026-01-01`,
    `${name}-latest`,
    `${name}@eu`,
    `${name}:12`,
    `${name}:free`,
  ]);
  const { rows } = await scene.sql(
    `SELECT regexp_replace(name, $2, '') AS plain FROM unnest($1::text[]) WITH ORDINALITY AS n (name, place)
     ORDER BY place`,
    all,
    VERSION_OF_MODEL,
  );
  expect(rows.map(({ plain }) => plain)).toEqual(all.map(plainName));
});
