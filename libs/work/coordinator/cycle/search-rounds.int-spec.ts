import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Fence } from '#lib/database';
import { EVERYWHERE } from '#lib/transitions';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { LeadershipLost } from '../leadership/fence.js';
import { RecoverOrphans } from '../patterns/recover-orphans.js';
import { type Held, Scene } from '../testing/scene.js';
import { Pass } from './pass.js';
import { SearchRounds } from './search-rounds.js';

const NAME = 'recover_orphans';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

let server: TestApp;
let scene: Scene;
let held: Held;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});

afterAll(() => server.stop());

beforeEach(async () => {
  scene = await Scene.of(server);
  held = await scene.held();
  for (let count = 0; count < 3; count++) await scene.task();
  await scene.sql('DELETE FROM coordinator_searches');
});

/** A round of a leader that has just begun, with a window of one task. */
async function round(fence: Fence = () => Promise.resolve()): Promise<number> {
  const pass = new Pass(server.db.database, fence, 100, EVERYWHERE);
  const search = server.app.get(RecoverOrphans, { strict: false });
  const rounds = new SearchRounds(server.db.database, NAME, 1);
  return (await rounds.run(pass, (given) => search.sweep(given))).moved;
}

async function position(): Promise<Record<string, unknown> | undefined> {
  return (await scene.sql('SELECT * FROM coordinator_searches')).rows[0];
}

/** Looks at all entries of the journal so far, past all keys. */
async function lookOnlyAtChanges(): Promise<number> {
  const { rows } = await scene.sql('SELECT max(id) AS last FROM journal');
  const last = BigInt(rows[0]?.['last'] as string);
  let moved = 0;
  await waitFor('the position in the journal', async () => {
    await scene.sql(
      `UPDATE coordinator_searches SET after_workspace_id = $1, after_task_id = $1`,
      HIGHEST,
    );
    moved += await round();
    return BigInt(((await position())?.['journal_id'] ?? -1) as string) >= last;
  });
  return moved;
}

const BREAK = `UPDATE task_runs SET state = 'FAILED', ended_at = now(), end_reason = 'by hand' WHERE id = $1`;
const NAME_IT = `
INSERT INTO journal (workspace_id, event, log_event, task_id, actor_kind)
SELECT workspace_id, 'run.state_changed', '', task_id, 'system' FROM task_runs WHERE id = $1`;

const breakByHand = () => scene.sql(BREAK, held.runId);

it('a task that the journal names is found by the next round, also of a new leader', async () => {
  expect(await lookOnlyAtChanges()).toBe(0);
  await breakByHand();
  expect(await lookOnlyAtChanges()).toBe(0);
  await scene.sql(NAME_IT, held.runId);
  expect(await lookOnlyAtChanges()).toBe(1);
});

it('a task that was broken by hand is found within a round of the walk', async () => {
  await breakByHand();
  let moved = 0;
  await waitFor('the end of the walk', async () => {
    moved += await round();
    return Number((await position())?.['rounds']) === 1;
  });
  expect(moved).toBe(1);
});

it('a change that commits late is found', async () => {
  await lookOnlyAtChanges();
  const client = await server.db.owner.connect();
  await client.query('BEGIN');
  await client.query(BREAK, [held.runId]);
  await client.query(NAME_IT, [held.runId]);
  // Later entries exist, and the position must not pass the open one.
  await scene.task();
  await scene.sql(
    `UPDATE coordinator_searches SET after_workspace_id = $1, after_task_id = $1`,
    HIGHEST,
  );
  expect(await round()).toBe(0);
  await client.query('COMMIT');
  client.release();
  expect(await lookOnlyAtChanges()).toBe(1);
});

it('a round whose rows are locked, or whose leader has changed, comes again', async () => {
  await lookOnlyAtChanges();
  await breakByHand();
  await scene.sql(NAME_IT, held.runId);
  const before = (await position())?.['journal_id'];

  const client = await server.db.owner.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM agent_tasks WHERE id = $1 FOR UPDATE', [held.id]);
  await round();
  await client.query('COMMIT');
  client.release();
  const lost = () => Promise.reject(new LeadershipLost('0'));
  await expect(round(lost)).rejects.toThrow(LeadershipLost);

  expect((await position())?.['journal_id']).toBe(before);
  expect(await lookOnlyAtChanges()).toBe(1);
});
