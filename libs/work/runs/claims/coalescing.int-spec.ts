import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { ClaimService } from './claim.service.js';
import { RunReports } from '../reports/run-reports.js';
import type { ClaimedTask } from './run-view.js';

let server: TestApp;
let workspace: TestWorkspace;
let claiming: ClaimService;
let reports: RunReports;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  claiming = server.app.get(ClaimService, { strict: false });
  reports = server.app.get(RunReports, { strict: false });
});
afterAll(() => server.stop());

const claim = (agentId: string, maxTasks: number) =>
  claiming.claimNow({
    agent: { kind: 'agent', workspaceId: workspace.id, agentId },
    maxTasks,
  });

const complete = (agentId: string, runId: string, outputResult?: unknown) =>
  reports.complete(
    { workspaceId: workspace.id, agentId, runId, actor: { kind: 'agent', id: agentId } },
    { outputResult },
  );

const tasks = async (count: number, requiredCapabilities: string[] = []) => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push(await aTask(server.db.owner, workspace.id, { requiredCapabilities }));
  }
  return ids;
};

const idsOf = (claimed: ClaimedTask[]) => claimed.map(({ task }) => task.id);

async function liveRuns(agentId: string): Promise<number> {
  const { rows } = await server.db.owner.query<{ live_runs: number }>(
    'SELECT live_runs FROM agents WHERE id = $1',
    [agentId],
  );
  return rows[0]?.live_runs ?? -1;
}

describe('concurrent claims', () => {
  it('concurrent claims follow the order of the queue and their own limits', async () => {
    workspace = await server.newWorkspace();
    const queue = await tasks(6);
    const [small, large, late] = await Promise.all([
      workspace.newAgent({ maxConcurrentTasks: 1 }),
      workspace.newAgent({ maxConcurrentTasks: 10 }),
      workspace.newAgent({ maxConcurrentTasks: 10 }),
    ]);
    const answers = await Promise.all([claim(small.id, 3), claim(large.id, 3), claim(late.id, 3)]);
    expect(answers.map(idsOf)).toEqual([queue.slice(0, 1), queue.slice(1, 4), queue.slice(4)]);
    expect(await liveRuns(small.id)).toBe(1);
    expect(await liveRuns(large.id)).toBe(3);
    expect(await liveRuns(late.id)).toBe(2);
  });

  it('concurrent claims serve agents of different capabilities, known and unknown', async () => {
    workspace = await server.newWorkspace();
    const capable = async (capabilities: string[]) =>
      workspace.newAgent({ capabilities, maxConcurrentTasks: 10 });
    const [typist, builder, other] = [
      await capable(['type']),
      await capable(['build']),
      await capable(['build']),
    ];
    for (let round = 0; round < 3; round++) {
      const [typing] = await tasks(1, ['type']);
      const building = await tasks(2, ['build']);
      const answers = await Promise.all([
        claim(builder.id, 1),
        claim(typist.id, 1),
        claim(other.id, 1),
      ]);
      expect(answers.map(idsOf)).toEqual([[building[0]], [typing], [building[1]]]);
    }
  });

  it('agents that cannot claim get nothing and do not affect others', async () => {
    workspace = await server.newWorkspace();
    const [task] = await tasks(1);
    const draining = await workspace.newAgent({ lifecycle: 'DRAINING' });
    const active = await workspace.newAgent();
    const foreign = await (await server.newWorkspace()).newAgent();
    const answers = await Promise.all([
      claim(draining.id, 1),
      claim(foreign.id, 1),
      claim(active.id, 1),
    ]);
    expect(answers.map(idsOf)).toEqual([[], [], [task]]);
  });

  it('concurrent claims of one agent never exceed its limit', async () => {
    workspace = await server.newWorkspace();
    await tasks(8);
    const agent = await workspace.newAgent({ maxConcurrentTasks: 3 });
    const answers = await Promise.all(Array.from({ length: 4 }, () => claim(agent.id, 2)));
    expect(answers.flat()).toHaveLength(3);
    expect(await liveRuns(agent.id)).toBe(3);
  });
});

describe('concurrent completions', () => {
  it('concurrent completions are each decided on their own', async () => {
    workspace = await server.newWorkspace();
    await tasks(4);
    const first = await workspace.newAgent({ maxConcurrentTasks: 10 });
    const second = await workspace.newAgent({ maxConcurrentTasks: 10 });
    const [a, b] = (await claim(first.id, 2)).map(({ run }) => run.id) as [string, string];
    const [c, d] = (await claim(second.id, 2)).map(({ run }) => run.id) as [string, string];
    const answers = await Promise.allSettled([
      complete(first.id, a, { files: 1 }),
      complete(first.id, a, { files: 1 }),
      complete(first.id, b, { text: 'not to be stored: \u0000' }),
      complete(first.id, c),
      complete(second.id, c),
      complete(second.id, d, { files: 2 }),
    ]);
    expect(answers).toMatchObject([
      { status: 'fulfilled', value: { runId: a, status: 'COMPLETED' } },
      { status: 'fulfilled', value: { runId: a, status: 'COMPLETED' } },
      { status: 'rejected' },
      { status: 'rejected', reason: { code: 'run_not_found' } },
      { status: 'fulfilled', value: { runId: c, status: 'COMPLETED' } },
      { status: 'fulfilled', value: { runId: d, status: 'COMPLETED' } },
    ]);
    expect(await liveRuns(first.id)).toBe(1);
    expect(await liveRuns(second.id)).toBe(0);
    const { rows } = await server.db.owner.query(
      `SELECT r.id, t.output_result, r.state, (SELECT count(*)::int FROM agent_task_logs l
         WHERE l.task_id = t.id AND l.new_status = 'COMPLETED') AS logged
       FROM task_runs r JOIN agent_tasks t ON t.id = r.task_id
       WHERE r.workspace_id = $1 AND r.state = 'COMPLETED' ORDER BY r.id`,
      [workspace.id],
    );
    expect(rows).toEqual([
      { id: a, output_result: { files: 1 }, state: 'COMPLETED', logged: 1 },
      { id: c, output_result: null, state: 'COMPLETED', logged: 1 },
      { id: d, output_result: { files: 2 }, state: 'COMPLETED', logged: 1 },
    ]);
  });
});
