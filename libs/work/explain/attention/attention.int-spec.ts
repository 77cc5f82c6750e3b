import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { aProject } from '../../../../test/support/factories.js';
import { sharedServer, type TestServer } from '../../../../test/support/shared-server.js';

const NOTHING = {
  failedTasks: 0,
  unclaimableTasks: 0,
  openQuestions: 0,
  changesInReview: 0,
  obstructedChanges: 0,
  usedUpBudgets: 0,
  endingBudgets: 0,
  failedSchedules: 0,
  silentAgents: 0,
  refusingProviders: 0,
  failingWebhooks: 0,
  failingNotices: 0,
};

let server: TestServer;

beforeAll(async () => {
  server = await sharedServer();
});
afterAll(() => server.stop());

it('a workspace counts its own failures, budgets, agents, providers and webhooks', async () => {
  const [workspace, neighbour] = [await server.newWorkspace(), await server.newWorkspace()];
  const agent = await workspace.newAgent({ maxConcurrentTasks: 2 });
  const sql = (text: string, ...values: unknown[]) =>
    server.db.owner.query(text, [workspace.id, ...values]);
  const counts = async (of = workspace) => (await of.api.get<object>('/attention')).body;
  expect(await counts()).toEqual(NOTHING);
  const wanted = { title: 'T', taskType: 'test', maxRetries: 0 };
  await workspace.api.post('/agent-tasks', wanted);
  const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
    {},
  );
  const runId = String(body.tasks[0]?.run.id);
  await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'Disk full' } });
  await workspace.api.post('/agent-tasks', { ...wanted, requiredCapabilities: ['folding'] });
  const projects = [await aProject(server.db.owner, workspace.id), null];
  const budgets = [
    [100, 0, 0],
    [95, 0, 1],
    [95, 1, 0],
  ];
  for (const [consumed, days, project] of budgets as [number, number, number][])
    await sql(
      `INSERT INTO usage_budgets
         (workspace_id, id, allocated, consumed, project_id, period_start, period_end)
       VALUES ($1, $2, 100, $3, $5, now() + $4 * interval '1 day',
         now() + ($4 + 1) * interval '1 day')`,
      newId(),
      consumed,
      days,
      projects[project],
    );
  await sql(
    `INSERT INTO provider_limits (workspace_id, id, provider, model, covers, kind, until, over_at,
       run_id, agent_id)
     SELECT $1, uuidv7(), 'anthropic', m, 'model', 'rate_limited', u, u, $2, $3
     FROM unnest(ARRAY['one', 'other']) m, (SELECT now() + interval '1 hour' AS u) t`,
    runId,
    agent.id,
  );
  await workspace.api.post('/webhooks', { url: 'https://example.com/', events: ['task.created'] });
  const slack = { kind: 'slack', url: 'https://hooks.slack.com/services/T/B/X' };
  for (const events of [['task.created'], ['change.merged']])
    await workspace.api.post('/webhooks', { ...slack, events });
  await sql(`UPDATE webhooks SET failures = 3 WHERE workspace_id = $1`);
  await sql(
    `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE workspace_id = $1 AND id = $2`,
    agent.id,
  );
  expect(await counts()).toEqual({
    ...NOTHING,
    failedTasks: 1,
    unclaimableTasks: 1,
    usedUpBudgets: 1,
    endingBudgets: 1,
    silentAgents: 1,
    refusingProviders: 1,
    failingWebhooks: 1,
    failingNotices: 2,
  });
  const listed = async (filter: string) =>
    (await workspace.api.get<{ items: object[] }>(`/agent-tasks?${filter}`)).body.items;
  expect(await listed('unclaimable=true')).toMatchObject([{ requiredCapabilities: ['folding'] }]);
  expect(await listed('unclaimable=false')).toMatchObject([{ status: 'FAILED' }]);
  expect(await counts(neighbour)).toEqual(NOTHING);
});
