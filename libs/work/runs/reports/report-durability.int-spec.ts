import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { apiClient, type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';

/** Reports that wait for the disk, and those that a crash of Postgres may take back. */

let server: TestServer;
let workspace: TestWorkspace;
let agent: ApiClient;
let run: string;

beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
  // A transaction that does not wait sets `synchronous_commit` by itself. The tests' Postgres never
  // waits, so the source of the value tells, not the value.
  await server.db.owner.query(`
    CREATE TABLE seen_commits (waits boolean NOT NULL);
    GRANT INSERT ON seen_commits TO drover_app;
    CREATE FUNCTION see_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.seen_commits
      SELECT source <> 'session' FROM pg_settings WHERE name = 'synchronous_commit';
      RETURN NULL;
    END $$;
    CREATE TRIGGER see_commit AFTER INSERT ON task_log_lines
      FOR EACH ROW EXECUTE FUNCTION see_commit();
    CREATE TRIGGER see_commit AFTER UPDATE ON task_runs
      FOR EACH ROW EXECUTE FUNCTION see_commit()`);
});

afterAll(async () => {
  await server.db.owner.query(`
    DROP TRIGGER see_commit ON task_log_lines;
    DROP TRIGGER see_commit ON task_runs;
    DROP FUNCTION see_commit;
    DROP TABLE seen_commits`);
  await server.stop();
});

beforeEach(async () => {
  await aTask(server.db.owner, workspace.id);
  const { id, token } = await workspace.newAgent();
  agent = apiClient(server.url, { authorization: `Bearer ${token}` });
  const { body } = await agent.post<{ tasks: [{ run: { id: string } }] }>(
    `/agents/${id}/claim`,
    {},
  );
  run = body.tasks[0].run.id;
});

/** @returns whether each transaction of these requests waited for the disk */
async function waits(work: () => Promise<{ status: number }>): Promise<boolean[]> {
  await server.db.owner.query('TRUNCATE seen_commits');
  expect([200, 202]).toContain((await work()).status);
  const { rows } = await server.db.owner.query<{ waits: boolean }>(
    'SELECT DISTINCT waits FROM seen_commits',
  );
  return rows.map(({ waits }) => waits);
}

const start = () => agent.post(`/runs/${run}/start`, {});
const log = (event: string) =>
  agent.post(`/runs/${run}/logs`, { entries: [{ event, message: 'A line' }] });

it('log lines do not wait for the disk', async () => {
  await start();
  expect(await waits(() => log('output'))).toEqual([false]);
});

it('progress does not wait for the disk', async () => {
  await start();
  const progress = () => agent.patch(`/runs/${run}/progress`, { progressPercent: 40 });
  expect(await waits(progress)).toEqual([false]);
});

it('a checkpoint waits for the disk', async () => {
  await start();
  const body = { progressPercent: 40, checkpointData: { step: 4 } };
  expect(await waits(() => agent.patch(`/runs/${run}/progress`, body))).toEqual([true]);
});

it.each(['agent_tool', 'agent_tool_result'])('%s waits for the disk', async (event) => {
  await start();
  expect(await waits(() => log(event))).toEqual([true]);
});

it('log lines that start a run wait for the disk', async () => {
  expect(await waits(() => log('output'))).toEqual([true]);
});
