import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Body, changesIn, commit, green } from '../../../../test/support/changes-in.js';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../../../work/coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const { repository, working, start, submitted, done, review, approve } = changesIn(() => scene);

const read = async (path: string) => (await scene.workspace.api.get<Body>(path)).body;
const items = async (path: string) => (await read(path))['items'] as Body[];

const MODEL = 'claude-sonnet-4';

async function use({ agent, runId }: Held, tokens: number, model = MODEL): Promise<void> {
  const report = { id: `${runId}-${model}`, model, inputTokens: tokens, outputTokens: 0 };
  const { status } = await agent.api.post(`/runs/${runId}/usage`, { reports: [report] });
  expect(status).toBe(200);
}

async function merge(held: Held, head: string): Promise<void> {
  await done(held.agent, 'land', { outcome: 'merged', commit: head });
  await done(held.agent, 'remove', { outcome: 'removed' });
}

/** Moves the times of a change and its reviews by so many seconds before its merge. */
async function lasted(id: string, { created, proven }: { created: number; proven: number }) {
  await scene.sql(
    `UPDATE changes SET created_at = merged_at - make_interval(secs => $2) WHERE task_id = $1`,
    id,
    created,
  );
  await scene.sql(
    `UPDATE change_reviews v SET created_at = (SELECT max(o.created_at) FROM change_reviews o
       WHERE o.task_id = $1 AND o.revision = v.revision AND o.kind = 'review')
       - make_interval(secs => $2) WHERE v.task_id = $1 AND v.verdict = 'green'`,
    id,
    proven,
  );
  await scene.sql(
    `UPDATE task_runs SET started_at = ended_at - interval '40 seconds' WHERE task_id = $1`,
    id,
  );
}

it('a merged change has the cost of its runs, of its reviewers and of its reviews', async () => {
  const held = await working({ review: 'both', reviewer: { kind: 'codex' } });
  await use(held, 100);
  await submitted(held, commit(1));
  await done(held.agent, 'prove', green(commit(1)));
  const reviewer = await scene.workspace.newAgent({ capabilities: ['command', 'kind:codex'] });
  const askReviewer = async (verdict: string) => {
    await scene.recover();
    const { reviewTaskId } = await read(`/changes/${held.id}`);
    const run = await start(await scene.claim(reviewer, String(reviewTaskId)));
    await use(run, 5);
    const outputResult = { summary: JSON.stringify({ verdict }) };
    await reviewer.api.post(`/runs/${run.runId}/complete`, { outputResult });
    await scene.recover();
  };
  await askReviewer('request_changes');
  const next = await start(await scene.claim(held.agent, held.id));
  await use(next, 1_000);
  await use(next, 10, 'claude-haiku-4-5');
  await submitted(next, commit(2));
  await done(held.agent, 'prove', green(commit(2)));
  await askReviewer('approve');
  await approve(held.id, commit(2));
  await merge(held, commit(3));
  await lasted(held.id, { created: 900, proven: 60 });
  const cost = {
    runs: 2,
    tokens: '1120',
    workSeconds: 80,
    reviewSeconds: 120,
    reviewRounds: 2,
  };
  expect(await read(`/changes/${held.id}`)).toMatchObject({ cost });
  const merged = { id: held.id, taskType: 'test', repositoryName: 'shop', model: MODEL };
  expect(await items('/changes/costs')).toEqual([
    expect.objectContaining({ ...merged, ...cost, timeToMergeSeconds: 900, revisions: 2 }),
  ]);
  const { costUsd } = (await items('/changes/costs'))[0] as { costUsd: string };
  expect(Number(costUsd)).toBeGreaterThan(0);
});

it('kinds stand side by side, with what they used for changes that were not merged', async () => {
  const repositoryId = await repository({ review: 'none' });
  const make = async (kind: string, tokens: number, isMerged = true) => {
    const host = await scene.workspace.newAgent({
      capabilities: ['command', `kind:${kind}`, 'git'],
    });
    const id = await scene.task({ repositoryId, agent: { kind }, title: `=${kind}` });
    const held = await start(await scene.claim(host, id));
    await use(held, tokens);
    if (!isMerged) return review(held.id, 'close');
    await submitted(held, commit(1));
    await done(host, 'prove', green(commit(1)));
    await merge(held, commit(2));
    return undefined;
  };
  for (const tokens of [10, 20, 30, 40, 50]) await make('codex', tokens);
  await make('gemini-cli', 7);
  await make('gemini-cli', 900, false);
  // It ended without work.
  await review(await scene.task({ repositoryId }), 'close');
  const summary = await read('/changes/costs/summary?groupBy=agentKind');
  expect(summary).toMatchObject({
    more: false,
    items: [
      {
        key: 'codex',
        merged: 5,
        unmerged: 0,
        tokens: '150',
        ranges: {
          tokens: { p10: '10', p50: '30', p90: '50' },
          revisions: { p10: 1, p50: 1, p90: 1 },
          reviewRounds: { p50: 0 },
        },
      },
      {
        key: 'gemini-cli',
        merged: 1,
        unmerged: 1,
        tokens: '7',
        unmergedTokens: '900',
        ranges: { tokens: { p10: '7', p90: '7' } },
      },
    ],
  });
  const groups: [string, unknown][] = [
    ['model', { key: MODEL, merged: 6 }],
    ['repository', { key: repositoryId, name: 'shop', merged: 6 }],
    ['taskType', { key: 'test', merged: 6 }],
  ];
  for (const [groupBy, group] of groups) {
    expect(await items(`/changes/costs/summary?groupBy=${groupBy}`)).toMatchObject([group]);
  }
  const first = await read('/changes/costs?limit=4');
  const next = `/changes/costs?limit=4&cursor=${String(first['nextCursor'])}`;
  const ids = [...(first['items'] as Body[]), ...(await items(next))].map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([6, 6]);

  const other = await repository({ name: 'garden' });
  expect(await items(`/changes/costs?repositoryId=${other}`)).toEqual([]);
  expect(await items('/changes/costs?to=2020-01-01T00:00:00Z')).toEqual([]);
  const early = 'groupBy=agentKind&to=2020-01-01T00:00:00Z';
  expect(await items(`/changes/costs/summary?${early}`)).toEqual([]);
  expect(await read('/changes/costs?from=2020-01-01T00:00:00Z')).toMatchObject({
    errors: [{ field: 'from' }],
  });

  const file = await scene.workspace.api.get('/changes/costs', { accept: 'text/csv' });
  expect(file.headers.get('content-disposition')).toContain('merged-changes.csv');
  const lines = String(file.body).trim().split('\r\n');
  expect([lines.length, lines[0]]).toEqual([
    7,
    expect.stringMatching(/^id,title,taskType,.*rounds$/i),
  ]);
  expect(lines[1]).toMatch(/^[0-9a-f-]{36},'=gemini-cli,test,/);
  const table = await scene.workspace.api.get('/changes/costs/summary?groupBy=model&format=csv');
  expect(table.body).toMatch(new RegExp(`^model,name,merged.*tokensP10.*\r\n${MODEL},,6,1,157,`));
});
