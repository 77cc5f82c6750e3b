import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { apiClient, type ApiClient } from '../support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../support/app.js';
import { aTask } from '../support/task-factories.js';

const MIB = 1_048_576;
/** A little more than 0.5 MiB. */
const HALF = Array.from({ length: 55 }, () => ({ message: 'x'.repeat(10_000) }));

let server: TestApp;

beforeAll(async () => {
  server = await startTestApp({ LOG_MB_PER_RUN: '1', LOG_MB_PER_WORKSPACE_AND_DAY: '2' });
});
afterAll(() => server.stop());

interface Run {
  id: string;
  api: ApiClient;
}

async function newRun(workspace: TestWorkspace): Promise<Run> {
  const agent = await workspace.newAgent();
  await aTask(server.db.owner, workspace.id);
  const { body } = await agent.api.post<{ tasks: { run: { id: string; token: string } }[] }>(
    `/agents/${agent.id}/claim`,
    { maxTasks: 1 },
  );
  const { id, token } = body.tasks[0]!.run;
  const api = apiClient(server.url, { authorization: `Bearer ${token}` });
  expect((await api.post(`/runs/${id}/start`)).status).toBe(200);
  return { id, api };
}

const write = ({ id, api }: Run) => api.post(`/runs/${id}/logs`, { entries: HALF });

async function storedBy({ id }: Run) {
  const { rows } = await server.db.owner.query<{ bytes: string; notices: string[] }>(
    `SELECT sum(octet_length(message)) AS bytes,
       array_agg(message) FILTER (WHERE event = 'log_limit_reached') AS notices
     FROM agent_task_logs WHERE run_id = $1`,
    [id],
  );
  return rows[0]!;
}

test('a run that floods its log stores its share, one entry says so, and the run completes', async () => {
  const workspace = await server.newWorkspace();
  const run = await newRun(workspace);
  for (let times = 0; times < 8; times += 1) expect((await write(run)).status).toBe(202);
  const { bytes, notices } = await storedBy(run);
  expect(Number(bytes)).toBeLessThan(1.01 * MIB);
  expect(Number(bytes)).toBeGreaterThan(0.9 * MIB);
  expect(notices).toEqual([
    'Log limit reached: 1 MiB of this run. Further entries are not stored.',
  ]);
  expect(await run.api.post(`/runs/${run.id}/complete`, {})).toMatchObject({ status: 200 });
});

test('many runs that flood their logs use up the share of their own workspace only', async () => {
  const [attacked, other] = [await server.newWorkspace(), await server.newWorkspace()];
  const runs = [await newRun(attacked), await newRun(attacked), await newRun(attacked)];
  for (const run of runs) {
    for (let times = 0; times < 3; times += 1) await write(run);
  }
  const [, , last] = runs;
  const { notices } = await storedBy(last!);
  expect(notices).toEqual([expect.stringContaining('2 MiB of the workspace on this day')]);
  const neighbour = await newRun(other);
  expect(await write(neighbour)).toMatchObject({ body: { accepted: HALF.length } });
});
