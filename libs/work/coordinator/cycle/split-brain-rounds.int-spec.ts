import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EVERYWHERE } from '#lib/transitions';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { DetectSplitBrain } from '../patterns/detect-split-brain.js';
import { type Held, Scene } from '../testing/scene.js';
import { Pass } from './pass.js';
import { SearchRounds } from './search-rounds.js';

const NAME = 'detect_split_brain';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

let server: TestApp;
let scene: Scene;
let first: Held;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});

afterAll(() => server.stop());

/** The first agent was taken for dead while it worked, and another one holds its task. */
beforeEach(async () => {
  scene = await Scene.of(server);
  await scene.sql('DELETE FROM coordinator_searches');
  first = await scene.held();
  await scene.sql(
    `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
    first.agent.id,
  );
  expect((await scene.recover())['lostRunsRecovered']).toBe(1);
  await scene.recover();
  await lookOnlyAtChanges();
  const second = await scene.claim(await scene.heirOf(first));
  expect(second.id).toBe(first.id);
});

/** A round with a window of one task. */
async function round(): Promise<number> {
  const pass = new Pass(server.db.database, () => Promise.resolve(), 100, EVERYWHERE);
  const search = server.app.get(DetectSplitBrain, { strict: false });
  const rounds = new SearchRounds(server.db.database, NAME, 1);
  return (await rounds.run(pass, (given) => search.sweep(given))).moved;
}

async function position(): Promise<Record<string, unknown> | undefined> {
  return (await scene.sql('SELECT * FROM coordinator_searches WHERE name = $1', NAME)).rows[0];
}

/** Looks at all entries of the journal so far, past all keys. */
async function lookOnlyAtChanges(): Promise<number> {
  const { rows } = await scene.sql('SELECT max(id) AS last FROM journal');
  const last = BigInt(rows[0]?.['last'] as string);
  let moved = 0;
  await waitFor('the position in the journal', async () => {
    await scene.sql(
      `INSERT INTO coordinator_searches AS c (name, after_workspace_id, after_task_id)
       VALUES ($1, $2, $2)
       ON CONFLICT (name) DO UPDATE SET after_workspace_id = $2, after_task_id = $2`,
      NAME,
      HIGHEST,
    );
    moved += await round();
    return BigInt(((await position())?.['journal_id'] ?? -1) as string) >= last;
  });
  return moved;
}

/** The heartbeat is written directly, so that it revives nobody and the journal does not name it. */
const namesItsTask = () =>
  scene.sql(
    `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, current_task_id)
     SELECT workspace_id, agent_id, 'healthy', task_id FROM task_runs WHERE id = $1
     ON CONFLICT (workspace_id, agent_id) DO UPDATE SET
       last_seen_at = now(), current_task_id = excluded.current_task_id`,
    first.runId,
  );

const ago = (interval: string) =>
  scene.sql(
    `UPDATE agent_tasks SET assigned_at = assigned_at - $2::interval WHERE id = $1`,
    first.id,
    interval,
  );

it('the entries of the second run name the agent of the first one', async () => {
  await ago('10 minutes');
  await namesItsTask();
  expect(await lookOnlyAtChanges()).toBe(1);
  expect(await lookOnlyAtChanges()).toBe(0);
});

it('an agent whose entries were read too early is found by a later heartbeat', async () => {
  await namesItsTask();
  expect(await lookOnlyAtChanges()).toBe(0);
  await ago('10 minutes');
  await namesItsTask();
  expect(await lookOnlyAtChanges()).toBe(1);
});

it('an agent that the journal named long ago is found by the walk', async () => {
  await ago('10 minutes');
  expect(await lookOnlyAtChanges()).toBe(0);
  await namesItsTask();
  expect(await lookOnlyAtChanges()).toBe(0);
  let moved = 0;
  await waitFor('the end of the walk', async () => {
    moved += await round();
    return moved === 1;
  });
});
