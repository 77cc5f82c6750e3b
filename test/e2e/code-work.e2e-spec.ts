import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';
import { type Ended, Terminal } from './terminal.js';

/** The way of a change from an empty folder to the branch of a local repository. */

interface Change {
  id: string;
  state: string;
  headCommit: string;
  mergedCommit: string | null;
  obstacle: string | null;
  reviews: { kind: string; verdict: string; body: string }[];
}

const sandbox = await testSandbox();

let fleet: TestFleet;
let worker: BuiltProcess;
let project: string;

beforeAll(async () => {
  fleet = await TestFleet.create();
  project = join(fleet.folder, 'my-project');
  const env = { DROVER_REPOSITORY_PATHS: fleet.folder };
  await fleet.startServer({ ...env, ARTIFACTS_DIR: join(fleet.folder, 'artifacts') });
  worker = await fleet.startWorker('code', { ...env, ...variablesOf(sandbox!) });
  mkdirSync(project);
  git('init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(project, 'greeting.txt'), 'Hello\n');
  const test = 'grep Hello greeting.txt || { echo "No greeting in greeting.txt"; exit 1; }\n';
  writeFileSync(join(project, 'test.sh'), test);
  commit('Begin');
});

afterAll(async () => {
  await worker?.stop();
  await fleet?.stop();
});

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: project, encoding: 'utf8' }).trim();
}

function commit(message: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

function drover(...args: string[]): Promise<Ended> {
  const { folder, access } = fleet;
  const own = { HOME: folder, DROVER_CONFIG: join(folder, 'config.json') };
  const env = { ...own, DROVER_HOME: join(folder, 'none'), ...access };
  return new Terminal(args, { env, cwd: folder, input: '' }).ended;
}

async function ask(...args: string[]): Promise<Ended> {
  const ended = await drover(...args);
  if (ended.code !== 0) throw new Error(`${args.join(' ')}: ${ended.code} ${ended.stderr}`);
  return ended;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse((await ask(...args, '--json')).stdout) as T;
}

/** Runs a command in the repository until its change waits for a review. */
async function aChange(script: string, repo = 'shop'): Promise<string> {
  await ask('run', '--repo', repo, '--', 'sh', '-c', script);
  const [change] = await json<Change[]>('review', 'list');
  return change?.id ?? '';
}

const show = (id: string) => json<Change>('review', 'show', id);

/** Only machines without namespaces have no sandbox. */
const describeCode = sandbox === undefined ? describe.skip : describe;

describeCode('code work', () => {
  it('a host says what would fail on a repository', async () => {
    await ask('repo', 'add', './my-project', '--name', 'checked', '--branch', 'trunk');
    const bad = await drover('repo', 'check', 'checked');
    expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('No change can land') });
    expect(bad.stdout).toContain('It has no branch trunk');
    await ask('repo', 'set', 'checked', '--branch', 'main', '--accept', 'sh test.sh');
    const findings = await json<{ name: string; outcome: string }[]>('repo', 'check', 'checked');
    expect(findings).toContainEqual(expect.objectContaining({ name: 'push', outcome: 'ok' }));
  });

  it('a task without a repository completes when its files are accepted', async () => {
    const accept = 'cat attempt; grep -q 2 attempt';
    const args = ['run', '--accept', accept, '--max-retries', '1'];
    const ended = await ask(...args, '--', 'sh', '-c', 'echo try $DROVER_ATTEMPT >attempt');
    expect(ended.stderr).toContain('Its acceptance failed (1)');
    const logs = await ask('task', 'logs', /task (\S+)/.exec(ended.stderr)![1]!);
    for (const line of ['try 1', 'try 2', 'Its acceptance succeeded']) {
      expect(logs.stdout).toContain(line);
    }
  });

  it('a change is proven, reviewed, merged, and its branch is gone', async () => {
    await ask('repo', 'add', './my-project', '--name', 'shop', '--accept', 'sh test.sh');
    const id = await aChange('echo Hello, world >greeting.txt');
    expect(await show(id)).toMatchObject({
      state: 'IN_REVIEW',
      reviews: [{ kind: 'proof', verdict: 'green' }],
    });
    expect((await ask('review', 'diff', id)).stdout).toContain('+Hello, world');
    expect(git('show', 'HEAD:greeting.txt')).toBe('Hello');
    await ask('review', 'approve', id);
    await ask('task', 'watch', id);
    expect(await show(id)).toMatchObject({ state: 'MERGED' });
    expect(git('show', 'HEAD:greeting.txt')).toBe('Hello, world');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('branch', '--list')).toBe('* main');
    expect(git('log', '-1', '--format=%(trailers:key=Drover-Task,valueonly)')).toBe(id);
    expect((await fleet.task(id))['status']).toBe('COMPLETED');
  });

  it('a red proof returns to the agent with its output, and fails after its revisions', async () => {
    await ask('repo', 'set', 'shop', '--max-revisions', '1');
    const { code, stderr } = await drover(
      'run',
      '--repo',
      'shop',
      '--',
      'sh',
      '-c',
      'echo Farewell >greeting.txt; date >>times.txt',
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('FAILED')]);
    const [failed] = await json<Change[]>('review', 'list', '--state', 'FAILED');
    const { reviews } = await show(failed?.id ?? '');
    expect(reviews.map(({ verdict }) => verdict)).toEqual(['red', 'red']);
    expect(reviews[0]?.body).toContain('greeting.txt');
  });

  it('a dirty folder leaves the change approved and says why', async () => {
    const id = await aChange('echo Hello again >greeting.txt');
    writeFileSync(join(project, 'greeting.txt'), 'Hello, typed by hand\n');
    await ask('review', 'approve', id);
    const blocked = await waitFor('the obstacle', async () => {
      const change = await show(id);
      return change.obstacle !== null && change;
    });
    expect(blocked).toMatchObject({
      state: 'APPROVED',
      obstacle: expect.stringMatching(/clean|uncommitted|changes/),
    });
    git('checkout', '--quiet', '--', '.');
    await ask('review', 'merge', id);
    await ask('task', 'watch', id);
    expect(await show(id)).toMatchObject({ state: 'MERGED' });
  });

  it('a task that is cancelled after its session pushed leaves no branch', async () => {
    const push = 'git add -A; git commit -qm Pushed; git push -q';
    const session = ['sh', '-c', `echo x >x; ${push}; exec sleep 600`];
    const run = await ask('run', '--repo', 'shop', '--detach', '--', ...session);
    const id = run.stdout.trim();
    const has = (part: string) => git('for-each-ref').includes(part);
    await waitFor('its push', async () => has(`/${id}`));
    await ask('change', 'reset', id);
    await waitFor('the end of its refs', async () => !has(id));
  });

  it('one of two attempts is merged, and the branches of both are gone', async () => {
    const script = 'echo "Hello, $$" >greeting.txt';
    const attempts = ['run', '--repo', 'shop', '--attempts', '2', '--', 'sh', '-c', script];
    const lines = (await ask(...attempts)).stdout.trim().split('\n');
    expect(lines).toEqual([expect.stringMatching(/IN_REVIEW/), expect.stringMatching(/green/)]);
    const ids = lines.map((line) => line.slice(0, 36));
    const [other = '', chosen = ''] = ids;
    await ask('review', 'approve', chosen);
    await ask('task', 'watch', chosen);
    expect(await show(chosen)).toMatchObject({ state: 'MERGED' });
    expect(await show(other)).toMatchObject({ state: 'CLOSED', mergedCommit: null });
    await waitFor('the end of the branches', async () =>
      ids.every((id) => !git('branch', '--list').includes(id)),
    );
    expect(git('log', '--format=%(trailers:key=Drover-Task,valueonly)')).not.toContain(other);
    const costs = await json<{ id: string }[]>('usage', '--by', 'change', '--repo', 'shop');
    expect(costs.map(({ id }) => id)).toContain(chosen);
    expect(costs.map(({ id }) => id)).not.toContain(other);
  });
});
