import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PullAgent } from '../faults/harness/pull-agent.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { type Ended, Terminal } from './terminal.js';

/** Changes of code in the command line. The test is the host. */

let fleet: TestFleet;
let host: PullAgent;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  host = await PullAgent.register(fleet, { capabilities: ['git'] });
});
afterAll(() => fleet.stop());

function start(args: readonly string[], cwd = fleet.folder): Terminal {
  const { folder, access } = fleet;
  const own = { HOME: folder, DROVER_CONFIG: join(folder, 'config.json') };
  return new Terminal(args, { env: { ...own, DROVER_HOME: join(folder, 'none'), ...access }, cwd });
}
const drover = (...args: string[]): Promise<Ended> => start(args).ended;

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await drover(...args, '--json');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

const commit = (digit: number) => String(digit).repeat(40);

/** Claims a run, and submits a change with a diff. */
async function submit(head: string, branch: string): Promise<string> {
  const { runId, taskId } = await waitFor('a task', async () => (await host.tryClaim(0))?.[0]);
  await host.api.post(`/runs/${runId}/start`, { branch });
  await host.api.post(`/runs/${runId}/repository`, {});
  const entries = [
    { level: 'INFO', event: 'agent_message', message: `It is ${head.slice(0, 3)} now.` },
    { level: 'INFO', event: 'output', message: 'building' },
  ];
  expect((await host.api.post(`/runs/${runId}/logs`, { entries })).status).toBeLessThan(300);
  const diff = `diff --git a/date.ts b/date.ts\n+${head}\n`;
  const { token } = (await fleet.api.post(`/agents/${host.id}/token`, {})).body;
  const url = `http://127.0.0.1:${fleet.port}/api/v1`;
  const file = await fetch(`${url}/runs/${runId}/artifacts/change.diff`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${String(token)}`, 'content-type': 'text/x-diff' },
    body: diff,
  });
  expect(file.status).toBe(200);
  const size = { filesChanged: 1, insertions: 1, deletions: 0 };
  const body = { baseCommit: commit(0), headCommit: head, ...size };
  expect((await host.api.post(`/runs/${runId}/submit`, body)).status).toBe(200);
  return taskId;
}

async function finish(kind: string, report: Record<string, unknown>): Promise<void> {
  type Work = { step: { changeId: string; kind: string; generation: number } };
  const { step } = (await host.api.post<Work>('/change-steps/claim', { waitSeconds: 10 })).body;
  expect(step.kind).toBe(kind);
  const body = { generation: step.generation, ...report };
  const { status } = await host.api.post(`/change-steps/${step.changeId}/report`, body);
  expect(status).toBe(200);
}

it('a change is made, sent back, approved and merged', async () => {
  const url = 'https://example.com/shop.git';
  await drover('repo', 'add', url, '--name', 'shop', '--accept', 'npm test');
  const run = start(['run', '--repo', 'shop', '--', 'true']);
  const id = await submit(commit(1), 'x');
  await finish('prove', { outcome: 'green', commit: commit(1), exitCode: 0 });
  const ended = await run.ended;
  expect([ended.code, ended.stdout.trim().split('\n').at(-1)]).toEqual([0, id]);
  expect(await json('review', 'list', '--repo', 'shop')).toMatchObject([{ id }]);
  const shown = await drover('review', 'show', id.slice(0, 26));
  expect(shown.stdout).toMatch(/proof 1\s+green by (?!agent:)[\w -]+, exit code 0\n/);
  expect((await drover('review', 'diff', id)).stdout).toContain(`+${commit(1)}`);
  const whole = await drover('review', 'show', id, '--diff', '--transcript');
  expect(whole.stdout).toMatch(/proof 1[^]*\+1{40}\n[^]*It is 111 now\./);
  expect(whole.stdout).not.toContain('building');

  const words = ['Add a test', '--comment', 'src/date.ts:12: Use the parser'];
  const back = await drover('review', 'request-changes', id, ...words);
  expect([back.code, back.stdout]).toEqual([0, expect.stringContaining('WORKING')]);
  await submit(commit(2), 'x');
  await finish('prove', { outcome: 'green', commit: commit(2), exitCode: 0 });
  const more = await drover('task', 'continue', id, 'And a changelog');
  expect([more.code, more.stdout.trim()]).toEqual([0, id]);
  await submit(commit(3), 'x');
  await finish('prove', { outcome: 'green', commit: commit(3), exitCode: 0 });
  const old = await drover('review', 'approve', id, '--commit', commit(1));
  expect([old.code, old.stderr]).toEqual([4, expect.stringContaining('another head commit')]);
  expect((await drover('review', 'approve', id)).stdout).toContain('APPROVED');
  await finish('land', { outcome: 'blocked', reason: 'The checkout is dirty.' });
  const obstructed = (await drover('review', 'show', id)).stdout;
  expect(obstructed).toContain('The checkout is dirty.');
  expect(obstructed).toMatch(/review 1\s+changes requested by (?!user:|api_key:)\w/);
  expect((await drover('task', 'runs', id)).stdout).not.toContain(host.id);
  const queue = await drover('review', 'queue', '--repo', 'shop');
  expect(queue.stdout).toMatch(`shop\tmain\t1\t${id}\tblocked\t`);
  expect((await drover('change', 'merge', id)).code).toBe(0);
  await finish('land', { outcome: 'merged', commit: commit(4) });
  expect(await json('task', 'show', id)).toMatchObject({ status: 'COMPLETED' });
  await finish('remove', { outcome: 'removed' });

  const figures = { revisions: 3, reviewRounds: 3, tokens: '0' };
  const cost = ['usage', '--by', 'change', '--repo', 'shop'];
  expect(await json(...cost)).toMatchObject([{ id, ...figures }]);
  const file = (await drover(...cost, '--csv')).stdout.split('\r\n');
  expect(file).toEqual([expect.stringMatching(/^id,title/), expect.stringContaining(id), '']);
  const groups = await drover(...cost, '--compare', 'repo', '--from', '2026-01-01');
  expect(groups.stdout).toMatch(/^shop\t1\t0\t0 \(0-0\)\t.*\t3 \(3-3\)\t3 \(3-3\)$/m);
  expect((await drover(...cost, '--compare', 'moon')).code).toBe(2);

  // Its branch in a clone of the user.
  const [origin, clone] = [join(fleet.folder, 'origin'), join(fleet.folder, 'clone')];
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      cwd,
      encoding: 'utf8',
    }).trim();
  mkdirSync(origin);
  git(origin, 'init', '-q', '-b', 'main');
  git(origin, 'commit', '-q', '--allow-empty', '-m', 'begin');
  git(fleet.folder, 'clone', '-q', origin, clone);
  const { branch } = await json<{ branch: string }>('review', 'show', id);
  git(origin, 'branch', branch);
  const { rows } = await fleet.db.owner.query<{ url: string }>(
    `UPDATE repositories SET url = $2 WHERE workspace_id = $1 RETURNING url`,
    [fleet.workspaceId, origin],
  );
  expect(rows).toHaveLength(1);
  const checkedOut = await start(['task', 'checkout', id], clone).ended;
  expect([checkedOut.code, checkedOut.stderr]).toEqual([0, '']);
  expect(git(clone, 'branch', '--show-current')).toBe(branch);
});

it('attempts at one change are awaited and compared, and one of them is approved', async () => {
  await drover('repo', 'add', 'https://example.com/yard.git', '--name', 'yard');
  const run = start(['run', '--repo', 'yard', '--attempts', '2', '--', 'true']);
  const ids: string[] = [];
  for (const head of [commit(5), commit(6)]) {
    ids.push(await submit(head, 'x'));
    await finish('prove', { outcome: 'green', commit: head, exitCode: 0, durationMs: 2_000 });
  }
  const { code, stdout } = await run.ended;
  const lines = ids.map((id) => expect.stringMatching(`^${id}\tIN_REVIEW\t.*green, 2 s\t1\t`));
  expect([code, stdout.trim().split('\n')]).toEqual([0, lines]);
  const compared = await drover('review', 'compare', ids[1]!, '--diff');
  for (const head of [commit(5), commit(6)]) expect(compared.stdout).toContain(`+${head}`);
  expect((await drover('review', 'approve', ids[1]!)).code).toBe(0);
  const states = async () =>
    (await json<{ id: string; state: string }[]>('review', 'compare', ids[0]!)).map(
      ({ id, state }) => [id, state],
    );
  expect(await states()).toEqual([
    [ids[0], 'CLOSED'],
    [ids[1], 'APPROVED'],
  ]);
  await finish('land', { outcome: 'merged', commit: commit(7) });

  const left = start(['run', '--repo', 'yard', '--attempts', '2', '--', 'true']);
  const noted = await waitFor('the attempts', () =>
    Promise.resolve(left.stderr.match(/(?<=attempt )\S{36}/g)),
  );
  left.child.kill('SIGINT');
  expect((await left.ended).code).toBe(130);
  for (const id of noted) {
    expect(await json('task', 'show', id)).toMatchObject({ status: 'ABORTED' });
  }

  const kinds = ['--agent', 'codex,claude-code:claude-sonnet-4', 'Do it', '--detach', '--json'];
  const detached = JSON.parse((await drover('run', '--repo', 'yard', ...kinds)).stdout) as {
    agentKind: string;
    model: string | null;
  }[];
  expect(detached.map(({ agentKind, model }) => [agentKind, model])).toEqual([
    ['codex', null],
    ['claude-code', 'claude-sonnet-4'],
  ]);
  expect((await drover('run', '--attempts', '2', '--', 'true')).code).toBe(2);
});
