import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ValkeyClient } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask, aTask } from '../../../../test/support/task-factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { compareViews, readViews } from './views.js';

const place = testValkey();
let db: TestDatabase;
let client: ValkeyClient;
/** Ids by the words of the tests. */
let ids: Record<'WORKSPACE' | 'AGENT' | 'TASK' | 'RUN' | 'WAITING' | 'RETRYING', string>;

beforeAll(async () => {
  db = await createTestDatabase();
  client = new ValkeyClient(place);
  await client.ready(5_000);
  const workspaceId = await aWorkspace(db.owner);
  const agentId = await anAgent(db.owner, workspaceId);
  const { taskId, runId } = await aHeldTask(db.owner, { workspaceId, agentId });
  const WAITING = await aTask(db.owner, workspaceId);
  const RETRYING = await aTask(db.owner, workspaceId, { status: 'ABORTED' });
  await db.owner.query(
    `UPDATE agent_tasks SET retry_at = now() + interval '1 hour' WHERE id = $1`,
    [RETRYING],
  );
  ids = { WORKSPACE: workspaceId, AGENT: agentId, TASK: taskId, RUN: runId, WAITING, RETRYING };
});

/** The views of a waiting task, a live run and a task that waits for its retry. */
beforeEach(async () => {
  const { commands } = client;
  for (const key of await allKeys()) await commands.del(key);
  const { rows } = await db.owner.query<Record<'score' | 'at' | 'started' | 'status', string>>(
    `SELECT ((10 - t.priority) * 1e13 + floor(extract(epoch FROM t.created_at) * 1000))::bigint::text AS score,
       floor(extract(epoch FROM r.assigned_at) * 1000)::text AS at,
       floor(extract(epoch FROM r.started_at) * 1000)::text AS started, a.status
     FROM agent_tasks t, task_runs r, agents a WHERE t.id = $1 AND r.id = $2 AND a.id = $3`,
    [ids.WAITING, ids.RUN, ids.AGENT],
  );
  const { score, at, started, status } = rows[0] as (typeof rows)[0];
  const { WORKSPACE, AGENT, TASK, RUN } = ids;
  await commands.zadd(`tasks:pending:${WORKSPACE}`, score, ids.WAITING);
  await commands.sadd(`tasks:active:${WORKSPACE}`, `${TASK}:${RUN}`);
  await commands.hset(`agent:tasks:${AGENT}`, TASK, at);
  const heard = { status, current_task: TASK, last_heartbeat: 7 };
  await commands.hset(`agent:status:${AGENT}`, heard);
  await commands.lpush(`coordinator:recovery_queue:${WORKSPACE}`, ids.RETRYING);
  const context = { workspace_id: WORKSPACE, agent_id: AGENT, task_id: TASK, started_at: started };
  await commands.hset(`session:context:${RUN}`, context);
  await commands.hset('session:context:of-an-ended-run', 'task_id', 'x');
  await commands.set('views:position', 1_000_000);
});

afterAll(async () => {
  client.close();
  await db.drop();
});

async function allKeys(): Promise<string[]> {
  const keys = await client.commands.keys(`${place.keyPrefix}*`);
  return keys.map((key) => key.slice(place.keyPrefix.length));
}

async function problems(): Promise<string[] | undefined> {
  const seen = await readViews(client.commands, allKeys);
  if (!seen) return undefined;
  const found = await compareViews(seen, db.database.service);
  return found.map(({ subject, problem }) => `${subject} ${problem}`);
}

/** Puts ids in the place of their words. */
const named = (text: string) =>
  Object.entries(ids).reduce((all, [word, id]) => all.replaceAll(word, id), text);

it('views that show the state of Postgres differ in nothing', async () => {
  expect(await problems()).toEqual([]);
});

it.each([
  ['zadd tasks:pending:WORKSPACE 1 x', 'has x, and Postgres has not'],
  ['zadd tasks:pending:WORKSPACE 7 WAITING', 'has WAITING with 7, and Postgres with '],
  ['del tasks:pending:WORKSPACE', 'lacks WAITING'],
  ['sadd tasks:active:WORKSPACE x:y', 'has x:y, and Postgres has not'],
  ['del tasks:active:WORKSPACE', 'lacks TASK:RUN'],
  ['hset agent:tasks:AGENT TASK 7', 'has TASK with 7, and Postgres with '],
  ['hset agent:status:AGENT status IDLE', 'has status with IDLE, and Postgres with WORKING'],
  ['hdel agent:status:AGENT current_task', 'lacks current_task'],
  ['hset agent:status:x status IDLE', 'has status, and Postgres has not'],
  ['zadd coordinator:stale_agents 1 AGENT', 'has AGENT, and Postgres has not'],
  ['rpush coordinator:recovery_queue:WORKSPACE x', 'has RETRYING with 2, and Postgres with 1'],
  ['del coordinator:recovery_queue:WORKSPACE', 'lacks RETRYING'],
  ['hset session:context:RUN task_id x', 'has task_id with x, and Postgres with TASK'],
])('after %s a view differs', async (command, problem) => {
  const [name, key, ...args] = named(command).split(' ') as [string, string, ...string[]];
  await client.commands.call(name, key, ...args);
  const found = await problems();
  expect(found).toContainEqual(expect.stringContaining(`key ${key} ${named(problem)}`));
});

it('a task that changed after the position of the views is left out', async () => {
  const { rows } = await db.owner.query<{ id: string }>(
    `INSERT INTO journal (workspace_id, event, task_id, actor_kind)
     VALUES ($1, 'task.updated', $2, 'system') RETURNING id`,
    [ids.WORKSPACE, ids.WAITING],
  );
  const [changed] = rows as [{ id: string }];
  const { commands } = client;
  await commands.del(`tasks:pending:${ids.WORKSPACE}`);
  await commands.set('views:position', String(BigInt(changed.id) - 1n));
  expect(await problems()).toEqual([]);
  await commands.set('views:position', changed.id);
  expect(await problems()).toHaveLength(1);
});

it('views that are being made anew are not compared', async () => {
  await client.commands.set('views:position', 'rebuilding');
  expect(await problems()).toBeUndefined();
});
