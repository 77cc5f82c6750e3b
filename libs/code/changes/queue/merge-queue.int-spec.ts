import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Body, changesIn, commit, green } from '../../../../test/support/changes-in.js';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { Scene } from '../../../work/coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const { repository, start, submitted, step, report, done } = changesIn(() => scene);

it('the merge queue has the order of the merges, who merges, obstacles and expected times', async () => {
  const host = await scene.workspace.newAgent({ capabilities: ['git'] });
  const shop = await repository({ review: 'none' });
  const garden = await repository({ name: 'garden', review: 'none' });
  const approved = async (repositoryId: string) => {
    const id = await scene.task({ repositoryId });
    await submitted(await start(await scene.claim(host, id)), commit(1));
    const proof = await step(host);
    expect((await report(host, proof!, green(commit(1)))).status).toBe(200);
    return id;
  };
  const queues = async (query = '') =>
    (await scene.workspace.api.get<{ items: Body[] }>(`/changes/merge-queue${query}`)).body.items;
  expect(await queues()).toEqual([]);
  // Three merges of 10, 20 and 30 s, without the time in which nothing waited.
  for (const [seconds, ago] of [
    [10, 300],
    [20, 200],
    [30, 100],
  ]) {
    const id = await approved(shop);
    await done(host, 'land', { outcome: 'merged', commit: commit('c') });
    await done(host, 'remove', { outcome: 'removed' });
    await scene.sql(
      `UPDATE changes SET merged_at = now() - make_interval(secs => $2),
         approved_at = now() - make_interval(secs => $2 + $3) WHERE task_id = $1`,
      id,
      ago,
      seconds,
    );
  }
  const first = await approved(shop);
  const merging = await step(host);
  expect(merging).toMatchObject({ step: { kind: 'land', changeId: first } });
  const [second, blocked, stopped] = [
    await approved(shop),
    await approved(shop),
    await approved(shop),
  ];
  const wait = (id: string, due: string, obstacle: string) =>
    scene.sql(
      `UPDATE changes SET step_due_at = ${due}, obstacle = $2, step_attempts = 5 WHERE task_id = $1`,
      id,
      obstacle,
    );
  await wait(blocked, `now() + interval '1 minute'`, 'The checkout is dirty.');
  await wait(stopped, `'infinity'`, 'The repository is away.');
  const other = await approved(garden);

  const within = (seconds: number, at: unknown) =>
    Math.abs(Date.parse(String(at)) - Date.now() - seconds * 1_000) < 20_000;
  const [ofGarden, ofShop] = await queues();
  expect(ofGarden).toMatchObject({
    repositoryName: 'garden',
    secondsPerMerge: null,
    changes: [{ id: other, status: 'queued', expectedAt: null }],
  });
  expect(ofShop).toMatchObject({
    repositoryId: shop,
    target: 'main',
    secondsPerMerge: 20,
    changes: [
      { id: first, position: 1, status: 'merging', agentId: host.id, obstacle: null },
      { id: second, position: 2, status: 'queued', agentId: null },
      { id: blocked, position: 3, status: 'blocked', obstacle: 'The checkout is dirty.' },
      { id: stopped, position: 4, status: 'stopped', attempts: 5, dueAt: null, expectedAt: null },
    ],
  });
  const expected = (ofShop!['changes'] as Body[]).map(({ expectedAt }) => expectedAt);
  expect([within(20, expected[0]), within(40, expected[1]), within(120, expected[2])]).toEqual([
    true,
    true,
    true,
  ]);
  // Its host is lost: the change is still the next one, and nobody merges it.
  await scene.sql('UPDATE changes SET step_until = now() WHERE task_id = $1', first);
  expect((await queues(`?repositoryId=${shop}`))[0]).toMatchObject({
    changes: [
      { id: first, position: 1, status: 'queued', agentId: null, agentName: null },
      {},
      {},
      {},
    ],
  });
  // Hosts take them in this order.
  await report(host, merging!, { outcome: 'merged', commit: commit('d') });
  expect(await step(host)).toMatchObject({ step: { kind: 'land', changeId: second } });
  expect(await queues(`?repositoryId=${garden}`)).toHaveLength(1);
});
