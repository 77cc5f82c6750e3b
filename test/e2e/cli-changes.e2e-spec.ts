import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HeldRun, PullAgent } from '../faults/harness/pull-agent.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { type Ended, Terminal } from './terminal.js';

/** Changes of code in the command line. The test is the host. */

let fleet: TestFleet;
let host: PullAgent;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  host = await PullAgent.register(fleet, { capabilities: ['git', 'kind:codex'] });
});
afterAll(() => fleet.stop());

function start(args: readonly string[], cwd = fleet.folder, more = {}): Terminal {
  const { folder, access } = fleet;
  const own = { HOME: folder, DROVER_CONFIG: join(folder, 'config.json') };
  const env = { ...own, DROVER_HOME: join(folder, 'none'), ...access, ...more };
  return new Terminal(args, { env, cwd });
}
const drover = (...args: string[]): Promise<Ended> => start(args).ended;

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await drover(...args, '--json');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

const commit = (digit: number) => String(digit).repeat(40);

const claim = () => waitFor('a task', async () => (await host.tryClaim(0))?.[0]);

async function tokenOfHost(): Promise<string> {
  return String((await fleet.api.post(`/agents/${host.id}/token`, {})).body['token']);
}

/** Starts a claimed run on its change. */
async function begin({ runId }: HeldRun): Promise<Feedback> {
  await host.api.post(`/runs/${runId}/start`, {});
  const { body } = await host.api.post<{ change: Feedback }>(`/runs/${runId}/repository`, {});
  return body.change;
}
interface Feedback {
  branch: string;
  feedback: { body: string }[];
}

/** Claims a run, and submits a change with a diff. */
async function submit(head: string, held?: HeldRun): Promise<string> {
  const { runId, taskId } = held ?? (await claim());
  if (held === undefined) await begin({ runId, taskId });
  const entries = [
    { level: 'INFO', event: 'agent_message', message: `It is ${head.slice(0, 3)} now.` },
    { level: 'INFO', event: 'output', message: 'building' },
  ];
  expect((await host.api.post(`/runs/${runId}/logs`, { entries })).status).toBeLessThan(300);
  const diff = `diff --git a/date.ts b/date.ts\n+${head}\n`;
  const token = await tokenOfHost();
  const url = `http://127.0.0.1:${fleet.port}/api/v1`;
  const file = await fetch(`${url}/runs/${runId}/artifacts/change.diff`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/x-diff' },
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
  const id = await submit(commit(1));
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
  await submit(commit(2));
  await finish('prove', { outcome: 'green', commit: commit(2), exitCode: 0 });
  const more = await drover('task', 'continue', id, 'And a changelog');
  expect([more.code, more.stdout.trim()]).toEqual([0, id]);
  await submit(commit(3));
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
  // A second time it moves forward, and in the repository itself nothing is fetched.
  git(clone, 'switch', '-q', 'main');
  const itself = await start(['task', 'checkout', id], origin).ended;
  expect([itself.code, git(origin, 'branch', '--show-current')]).toEqual([0, branch]);
  git(origin, 'commit', '-q', '--allow-empty', '-m', 'more');
  expect((await start(['task', 'checkout', id], clone).ended).code).toBe(0);
  expect(git(clone, 'log', '-1', '--format=%s')).toBe('more');
  expect(git(origin, 'for-each-ref', 'refs/remotes')).toBe('');
});

it('attempts at one change are awaited and compared, and one of them is approved', async () => {
  await drover('repo', 'add', 'https://example.com/yard.git', '--name', 'yard');
  const run = start(['run', '--repo', 'yard', '--attempts', '2', '--', 'true']);
  const ids: string[] = [];
  for (const head of [commit(5), commit(6)]) {
    ids.push(await submit(head));
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
    id: string;
    agentKind: string;
    model: string | null;
  }[];
  expect(detached.map(({ agentKind, model }) => [agentKind, model])).toEqual([
    ['codex', null],
    ['claude-code', 'claude-sonnet-4'],
  ]);
  expect((await drover('task', 'cancel', ...detached.map(({ id }) => id))).code).toBe(0);
  expect((await drover('run', '--attempts', '2', '--', 'true')).code).toBe(2);
});

it('the commands of a change move it by hand, and `submit` proves only a submitted one', async () => {
  await drover('repo', 'add', 'https://example.com/lane.git', '--name', 'lane');
  const lane = ['run', '--repo', 'lane', '--detach', '--json', '--', 'true'];
  const { id } = JSON.parse((await drover(...lane)).stdout) as { id: string };
  const refused = async (words: string) => {
    const { code, stderr } = await drover('change', 'submit', id);
    expect([code, stderr]).toEqual([4, expect.stringContaining(words)]);
  };
  expect((await drover('change', 'assign', id, host.id)).stdout).toContain('assigned');
  const held = await claim();
  await refused('is not submitted (WORKING)');
  const asAgent = { DROVER_API_KEY: await tokenOfHost(), DROVER_WORKSPACE_ID: '' };
  const started = await start(['change', 'start', id], fleet.folder, asAgent).ended;
  expect([started.code, started.stderr]).toEqual([0, '']);
  expect(await json('task', 'show', id)).toMatchObject({ status: 'RUNNING', runId: held.runId });
  await begin(held);
  await submit(commit(1), held);
  await finish('prove', { outcome: 'blocked', reason: 'The disk is full.' });
  // Else it would wait for 15 s.
  expect((await drover('change', 'submit', id)).stdout).toContain('goes on: PROVING');
  await finish('prove', { outcome: 'green', commit: commit(1), exitCode: 0 });
  await refused('is proven already (IN_REVIEW)');
  expect((await drover('change', 'approve', id)).stdout).toContain('APPROVED');
  await refused('is approved already (APPROVED)');
  await finish('land', { outcome: 'blocked', reason: 'The checkout is dirty.' });
  await refused('is approved already (APPROVED)');
  expect(await json('review', 'show', id)).toMatchObject({ obstacle: 'The checkout is dirty.' });
  expect((await drover('change', 'merge', id)).code).toBe(0);
  await finish('land', { outcome: 'merged', commit: commit(4) });
  await finish('remove', { outcome: 'removed' });
  await refused('is merged (MERGED)');

  const second = JSON.parse((await drover(...lane)).stdout) as { id: string };
  expect((await drover('change', 'reset', second.id)).stdout).toContain('closed');
  expect(await json('task', 'show', second.id)).toMatchObject({ status: 'ABORTED' });
});

it('a continued task goes on with its change in each state, and in a new task after the merge', async () => {
  await drover('repo', 'add', 'https://example.com/field.git', '--name', 'field');
  const run = ['run', '--repo', 'field', '--agent', 'codex', 'Mend it', '--detach', '--json'];
  const { id } = JSON.parse((await drover(...run)).stdout) as { id: string };
  const say = async (...words: string[]) => (await drover('task', 'continue', id, ...words)).stdout;
  const state = async () => (await json<{ state: string }>('review', 'show', id)).state;

  // No run works yet: its first one reads the words.
  expect((await say('In TypeScript')).trim()).toBe(id);
  let held = await claim();
  const { branch, feedback } = await begin(held);
  expect(feedback).toMatchObject([{ body: 'In TypeScript' }]);
  // A live run hears them.
  writeFileSync(join(fleet.folder, 'logo.txt'), 'a logo');
  expect((await say('Use this logo', '--attach', 'logo.txt')).trim()).toBe(id);
  const { body } = await fleet.api.get<{ items: object[] }>(`/runs/${held.runId}/messages`);
  expect(body.items).toMatchObject([{ text: 'Use this logo', deliver: 'turn_end' }]);
  // A proof ends for them.
  await submit(commit(1), held);
  const step = (await host.api.post<{ step: { generation: number } }>('/change-steps/claim', {}))
    .body.step;
  expect((await drover('task', 'continue', id, 'x', '--attach', 'logo.txt')).code).toBe(2);
  await say('Not yet');
  expect(await state()).toBe('WORKING');
  const green = { outcome: 'green', commit: commit(1), exitCode: 0, generation: step.generation };
  expect((await host.api.post(`/change-steps/${id}/report`, green)).status).toBe(409);
  held = await claim();
  expect(await begin(held)).toMatchObject({ branch, feedback: [{ body: 'Not yet' }] });
  // A failed change is worked on again, with what it has.
  const failure = { message: 'It crashed', retryable: false };
  expect((await host.api.post(`/runs/${held.runId}/fail`, { error: failure })).status).toBe(200);
  expect(await state()).toBe('FAILED');
  expect((await say('Once more')).trim()).toBe(id);
  expect(await state()).toBe('WORKING');
  held = await claim();
  const again = await begin(held);
  expect(again).toMatchObject({ branch, headCommit: commit(1) });
  expect(again.feedback.at(-1)).toMatchObject({ body: 'Once more' });
  const checkpointData = { session: 7 };
  await host.api.put(`/runs/${held.runId}/checkpoint`, { checkpointData });
  await submit(commit(2), held);
  await finish('prove', { outcome: 'green', commit: commit(2), exitCode: 0 });
  await drover('review', 'approve', id);
  await finish('land', { outcome: 'merged', commit: commit(3) });
  await finish('remove', { outcome: 'removed' });

  const next = (await say('Now the changelog')).trim();
  expect(next).not.toBe(id);
  expect(await json('task', 'show', next)).toMatchObject({ continuesId: id, checkpointData });
  held = await claim();
  const fresh = await begin(held);
  expect(fresh).toMatchObject({ id: next, state: 'WORKING', headCommit: null, feedback: [] });
  expect(fresh.branch).not.toBe(branch);
  const { prompt } = (await host.api.post<{ prompt: string }>(`/runs/${held.runId}/prompt`, {}))
    .body;
  expect(prompt).toMatch(/Now the changelog[^]*It is 222 now\./);
  await drover('task', 'cancel', next);
});

it('each setting of a repository is set, shown and removed, but no secret is shown', async () => {
  const key = join(fleet.folder, 'key');
  const text = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n';
  writeFileSync(key, text);
  const files = ['--ssh-key', key, '--known-hosts', key, '--signing-key', key];
  const settings = ['--committer', 'Shop agents <agents@example.com>', '--setup-timeout', '90s'];
  const url = 'ssh://git@example.com/keys.git';
  const lists = [
    '--variable',
    'CI=true',
    '--cache',
    'a',
    '--protect',
    'b',
    '--allow',
    'example.com',
  ];
  const reviewer = ['--review', 'agent', '--reviewer', 'codex:gpt-5', '--network', 'allow'];
  const add = ['repo', 'add', url, '--name', 'keys'];
  const added = await drover(...add, ...files, ...settings, ...lists, ...reviewer);
  expect([added.code, added.stderr]).toEqual([0, '']);
  const shown = (await drover('repo', 'show', 'keys')).stdout;
  for (const line of [
    'setup time limit\t1 m 30 s',
    'acceptance time limit\t30 m 0 s',
    'committer\tShop agents <agents@example.com>',
    'reviewer\tcodex:gpt-5',
    'variables\tCI=true',
    'cache\ta',
    'allowed hosts\texample.com',
    'credentials\tssh',
    'signing key\tset',
  ]) {
    expect(shown.split('\n')).toContain(line);
  }
  expect(shown).not.toContain('PRIVATE KEY');
  const removals = ['--remove-credentials', '--remove-signing-key'];
  expect((await drover('repo', 'set', 'keys', ...removals, ...files)).code).toBe(2);
  expect((await drover('repo', 'set', 'keys', '--committer', 'nobody')).code).toBe(2);
  const empty = ['--committer', '', '--cache', '', '--review', 'none', '--reviewer', ''];
  expect((await drover('repo', 'set', 'keys', ...removals, ...empty)).code).toBe(0);
  expect(await json('repo', 'show', 'keys')).toMatchObject({
    credentials: null,
    hasSigningKey: false,
    committer: null,
    reviewer: null,
    cachePaths: [],
    setupTimeoutSeconds: 90,
  });
});
