import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { TIER_MODELS } from '#lib/models';
import { aProject } from '../../../../test/support/factories.js';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

const { haiku, sonnet, opus } = TIER_MODELS;
const GRANTED = {
  outcome: 'granted',
  reason: null,
  message: null,
  budget: null,
  model: null,
  fallbacks: [],
};

let server: TestServer;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ capabilities: ['command'], maxConcurrentTasks: 5 });
});
afterAll(() => server.stop());

async function aRun(values: object = {}): Promise<string> {
  await workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test', ...values });
  const path = `/agents/${agent.id}/claim`;
  const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(path, {});
  return body.tasks[0]!.run.id;
}

async function ask(runId: string, model?: string): Promise<object> {
  const path = `/runs/${runId}/model-holds/${newId()}`;
  const { status, body } = await agent.api.put<object>(path, { tokens: 1_000, model });
  expect(status).toBe(200);
  return body;
}

async function allow(allowedModels: string[], path = `/workspaces/${workspace.id}`): Promise<void> {
  expect((await workspace.api.patch(path, { allowedModels })).status).toBe(200);
}

const refusal = (message: string) => ({
  ...GRANTED,
  outcome: 'unpriced',
  reason: 'model_not_allowed',
  message,
});

describe('a request to a model', () => {
  it('that its workspace does not allow is refused from the next one on', async () => {
    const runId = await aRun();
    expect(await ask(runId, opus)).toEqual(GRANTED);
    await allow(['claude-haiku-*', sonnet]);
    expect(await ask(runId, opus)).toEqual(
      refusal(
        `The model "${opus}" is not allowed: its workspace allows only claude-haiku-*, ${sonnet}.`,
      ),
    );
    expect(await ask(runId, `${sonnet}-20260101`)).toEqual(GRANTED);
    expect(await ask(runId)).toEqual(
      refusal(
        `A model without a valid name is not allowed: its workspace allows only claude-haiku-*, ${sonnet}.`,
      ),
    );
    const { rows } = await server.db.owner.query(
      'SELECT status FROM agent_tasks WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(rows).toEqual([{ status: 'ASSIGNED' }]);
  });

  it('must be allowed by its project as well', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    const [inside, outside] = [await aRun({ projectId }), await aRun()];
    await allow(['claude-*']);
    await allow(['*-haiku-*', 'gpt-*'], `/projects/${projectId}`);
    expect(await ask(inside, haiku)).toEqual(GRANTED);
    expect(await ask(inside, sonnet)).toMatchObject({
      message: expect.stringMatching(/its project allows only \*-haiku-\*, gpt-\*\.$/),
    });
    expect(await ask(inside, 'gpt-5.5')).toMatchObject({
      message: expect.stringMatching(/its workspace allows only claude-\*\.$/),
    });
    expect(await ask(outside, sonnet)).toEqual(GRANTED);
  });

  it('is refused for the model that routing gives it', async () => {
    await workspace.api.put('/model-routing', { enabled: true, rules: [], tiers: {} });
    const runId = await aRun();
    await allow([haiku, opus]);
    expect(await ask(runId, opus)).toEqual(
      refusal(
        `The model "${sonnet}" is not allowed: its workspace allows only ${haiku}, ${opus}. ` +
          `Routing chose it instead of "${opus}".`,
      ),
    );
  });

  it('names no lack of a price where it is not allowed', async () => {
    const runId = await aRun();
    const budget = { scope: 'global', allocated: 100_000, recurrence: { every: 'day' } };
    expect((await workspace.api.post('/budgets', budget)).status).toBe(201);
    expect(await ask(runId, 'unpriced')).toMatchObject({ reason: 'model_unpriced' });
    await allow(['claude-*']);
    expect(await ask(runId, 'unpriced')).toMatchObject({ reason: 'model_not_allowed' });
  });
});

describe('the fallbacks of a request', () => {
  const route = async (models: string[], model = opus) => {
    const request = { enabled: false, rules: [], tiers: {}, fallbacks: [{ model, models }] };
    expect((await workspace.api.put('/model-routing', request)).status).toBe(200);
  };

  it('are those of its model in any version, also without routing', async () => {
    await route([sonnet, haiku]);
    const runId = await aRun();
    expect(await ask(runId, `${opus}-20260101`)).toEqual({
      ...GRANTED,
      fallbacks: [sonnet, haiku],
    });
    expect(await ask(runId, sonnet)).toEqual(GRANTED);
  });

  it('are allowed, and have a price', async () => {
    await route(['claude-unpriced', sonnet, haiku]);
    const runId = await aRun();
    expect(await ask(runId, opus)).toMatchObject({ fallbacks: [sonnet, haiku] });
    await allow([opus, haiku]);
    expect(await ask(runId, opus)).toMatchObject({ outcome: 'granted', fallbacks: [haiku] });
  });

  it('are those of the model that routing gives the request', async () => {
    const fallbacks = [
      { model: opus, models: [haiku] },
      { model: sonnet, models: ['claude-sonnet-4-5'] },
    ];
    await workspace.api.put('/model-routing', { enabled: true, rules: [], tiers: {}, fallbacks });
    expect(await ask(await aRun(), opus)).toEqual({
      ...GRANTED,
      model: sonnet,
      fallbacks: ['claude-sonnet-4-5'],
    });
  });
});
