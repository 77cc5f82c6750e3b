import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Log } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { Drivers, Redactor } from '#lib/session-runtime';
import {
  plainGit,
  TestPlace,
  TestRepository,
} from '../../../libs/code/git/testing/repositories.js';
import { testSandbox } from '../../../libs/hosts/session-runtime/testing/sandboxes.js';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import { startExecution } from '../execution/execution.js';
import type { Outcome } from '../execution/job.js';
import { makeJob, type TestJob } from '../testing/job.js';
import { CodeHost } from './code-host.js';
import { CodeRun } from './code-run.js';
import { Steps } from './steps.js';
import type { RepositoryAccess, RunRepositoryAnswer, StepReport, StepWork } from './types.js';

const DIST = join(import.meta.dirname, '../../../dist/libs/hosts/session-runtime/process');
const sandbox = await testSandbox({ network: 'none' });
const isRoot = process.getuid?.() === 0;
const ACCOUNT = { uid: 54_323, gid: 54_323 };
const SECRET = 'secret-of-the-repository';
const log = new Log(() => undefined);

let place: TestPlace;
let remote: TestRepository;
let host: CodeHost;
let drivers: Drivers;
const jobs: TestJob[] = [];

beforeEach(() => {
  place = new TestPlace();
  const { path } = place.repository('checked-out', {
    'check.sh': 'test -f deps/lib && ! grep -q broken a.txt && echo "secret=$TOKEN"\n',
    'a.txt': 'one\n',
    'package-lock.json': '{}\n',
  });
  plainGit(path, 'clone', '-q', '--bare', '.', place.path('remote.git'));
  remote = new TestRepository(place.path('remote.git'));
  const sessions = place.path('sessions');
  const isolation = { sandbox: sandbox!, accounts: isRoot ? () => ACCOUNT : undefined };
  drivers = new Drivers(
    { dir: sessions },
    {
      process: {
        searchPath: process.env['PATH'] ?? '',
        shim: join(DIST, 'shim-process.js'),
        supervisor: join(DIST, 'supervisor-process.js'),
        sandbox: { ...sandbox!, hidden: [place.root] },
        accounts: isolation.accounts,
      },
    },
  );
  host = new CodeHost({
    folder: place.path('code'),
    roots: [place.root],
    workspaceId: 'w',
    isolation,
    drivers,
    sessions,
    scripts: place.path('scripts'),
    keepDays: 14,
    worker: 'worker-auth',
    writesState: true,
  });
});

afterEach(() => {
  for (const driver of drivers.all) driver.close();
  for (const job of jobs.splice(0)) job.remove();
  place.remove();
});

function accessTo(more: Partial<RepositoryAccess> = {}): RepositoryAccess {
  return {
    id: 'r',
    name: 'shop',
    url: remote.path,
    defaultBranch: 'main',
    branchPattern: '{agent}/{task}',
    mergeMethod: 'squash',
    protectedPaths: ['ci'],
    committer: null,
    signingKey: null,
    credentials: null,
    setup: 'mkdir deps; echo x > deps/lib; echo made >> $HOME/log; echo setup ran',
    setupTimeoutSeconds: 60,
    acceptance: 'bash check.sh; touch in-the-checkout',
    acceptanceTimeoutSeconds: 60,
    variables: { FLAVOUR: 'sweet' },
    secrets: { TOKEN: SECRET },
    network: 'none',
    allowedHosts: [],
    path: null,
    cachePaths: [],
    ...more,
  } as RepositoryAccess;
}

interface Ended {
  outcome: Outcome;
  lines: string;
  diff: string;
  taskId: string;
  /** The view of the run after its end. */
  state: Record<string, unknown>;
}

/** A run of a task whose command is a script. */
async function work(
  script: string,
  {
    taskId = newId(),
    access = accessTo(),
    isLive = () => true,
    whyNoDiff,
    change = {},
  }: {
    taskId?: string;
    access?: RepositoryAccess;
    isLive?: () => boolean;
    /** The code of a refusal of the diff. */
    whyNoDiff?: string;
    change?: Partial<RunRepositoryAnswer['change']>;
  } = {},
): Promise<Ended> {
  const made = makeJob({ command: ['bash', '-c', script] });
  jobs.push(made);
  made.job.task.id = taskId;
  made.job.run.network = 'host';
  let diff = '';
  const branch = `codex/${taskId}`;
  const answer = {
    id: taskId,
    branch,
    target: 'main',
    landingCommits: [],
    feedback: [],
    ...change,
  };
  const code = await CodeRun.open(made.job, {
    host,
    log,
    redactor: () => new Redactor([SECRET]),
    api: {
      runRepository: () =>
        isLive()
          ? Promise.resolve({
              repository: access,
              change: answer,
            } as unknown as RunRepositoryAnswer)
          : Promise.reject(refusal(409, 'stale_run')),
      saveArtifact: (_, { content }) => {
        if (whyNoDiff !== undefined) return Promise.reject(refusal(409, whyNoDiff));
        return Promise.resolve((diff = Buffer.from(content).toString()));
      },
    },
  });
  const options = { drivers, allowedDirs: [], passedEnv: {}, workspaceId: 'w', code };
  const running = code.around(await startExecution(code.job, options));
  const outcome = await running.exit;
  const view = join(host.workOf(made.job.run.id), '.worker-state/worker-auth.json');
  const state = await readFile(view, 'utf8').then(JSON.parse, () => ({}));
  await drivers.choose('process').remove(made.job.run.id);
  return {
    outcome,
    lines: made.entries.map(({ message }) => message).join('\n'),
    diff,
    taskId,
    state,
  };
}

const changeOf = ({ outcome }: Ended) =>
  outcome.kind === 'succeeded' ? outcome.change : undefined;

/** Gives one step to a host, and returns its report. */
async function step(
  kind: StepWork['step']['kind'],
  ended: Ended,
  {
    access = accessTo(),
    landingCommits = [],
    state = 'APPROVED',
    ...api
  }: Record<string, unknown> = {},
): Promise<StepReport> {
  const work = {
    step: { changeId: ended.taskId, kind, generation: 1, until: '' },
    change: {
      id: ended.taskId,
      branch: `codex/${ended.taskId}`,
      target: 'main',
      state,
      headCommit: changeOf(ended)?.headCommit ?? null,
      landingCommits,
    },
    repository: access,
    title: 'a test',
    message: `a test\n\nDrover-Task: ${ended.taskId}\n`,
  } as unknown as StepWork;
  return new Promise((resolve) => {
    let given: StepWork | undefined = work;
    const steps: Steps = new Steps({
      host,
      log,
      api: {
        claimStep: (_, signal) => {
          const next = given;
          given = undefined;
          if (next !== undefined) return Promise.resolve(next);
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('stopped')));
          });
        },
        reportPullRequest: () => Promise.reject(new Error('There is no forge')),
        renewStep: () => Promise.resolve(),
        reportCheck: () => Promise.resolve(),
        planLanding: () => Promise.resolve(),
        reportStep: (_, report) => {
          void steps.stop().then(() => resolve(report));
          return Promise.resolve();
        },
        ...api,
      },
    });
    steps.start();
  });
}

(sandbox === undefined ? describe.skip : describe)('work on code', () => {
  it('is committed, pushed, proven, landed and cleaned up', async () => {
    const ended = await work(
      `set -e; test -f deps/lib; ! touch deps/x 2>/dev/null; echo "$FLAVOUR $TOKEN";
       echo two >> a.txt; git commit -qam "By hand"; git push -q; echo ${SECRET} > rest.txt;
       pwd; git status --short; echo cache > "$HOME/cache"`,
    );
    expect(ended.lines).toContain('sweet [redacted]');
    expect(ended.outcome).toMatchObject({ kind: 'succeeded' });
    const change = changeOf(ended)!;
    expect(change).toMatchObject({
      baseCommit: remote.head('main'),
      filesChanged: 2,
      insertions: 2,
    });
    const branch = `codex/${ended.taskId}`;
    expect(remote.head(branch)).toBe(change.headCommit);
    expect(remote.git('log', '--format=%s|%an', `main..${branch}`)).toBe(
      'a test|drover\nBy hand|drover',
    );
    expect(remote.git('ls-tree', '-r', '--name-only', branch).split('\n')).toEqual([
      'a.txt',
      'check.sh',
      'package-lock.json',
      'rest.txt',
    ]);
    expect(ended.diff).toContain('+two');
    expect(ended.diff).not.toContain(SECRET);

    const proof = await step('prove', ended);
    expect(proof).toMatchObject({ outcome: 'green', commit: change.headCommit, exitCode: 0 });
    expect(proof.output).toContain('secret=');
    const landed = await step('land', ended);
    expect(landed).toEqual({ outcome: 'merged', commit: remote.head('main'), generation: 1 });
    expect(remote.git('log', '-1', '--format=%s|%an|%cn', 'main')).toBe('a test|drover|Drover');
    expect(await step('remove', ended)).toMatchObject({ outcome: 'removed' });
    expect(remote.git('branch', '--format=%(refname:short)')).toBe('main');
    // Nothing of the steps and of the run is left, and the setup ran once.
    const folder = place.path('code/w/r');
    expect(readdirSync(join(folder, 'steps'))).toEqual([]);
    expect(readdirSync(join(folder, 'runs'))).toEqual([]);
    expect(readdirSync(join(folder, 'setup'))).toHaveLength(1);
    expect(readdirSync(place.path('sessions')).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  it('goes on with the files of a run that failed, and is proven red with its output', async () => {
    const first = await work('echo broken > a.txt; echo new > new.txt; exit 7');
    expect(first.outcome).toMatchObject({ kind: 'failed' });
    const { taskId } = first;
    expect(remote.git('for-each-ref', '--format=%(refname)', 'refs/drover')).toBe(
      `refs/drover/work/${taskId}`,
    );
    const second = await work('git status --short; cat a.txt', { taskId });
    expect(second.lines).toContain(' M a.txt\n?? new.txt\nbroken');
    expect(changeOf(second)).toMatchObject({ filesChanged: 2 });
    expect(await step('prove', second)).toMatchObject({ outcome: 'red', exitCode: 1 });

    const third = await work('git log --format=%s -1; echo good > a.txt', { taskId });
    expect(third.lines).toContain('a test');
    expect(await step('prove', third)).toMatchObject({ outcome: 'green' });
    await step('remove', third);
    expect(remote.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('goes on with the files of a run that failed when the target has moved since', async () => {
    const { taskId } = await work('echo mine > mine.txt; exit 7');
    const person = new TestRepository(place.path('checked-out'));
    person.commit({ 'theirs.txt': 'theirs\n' });
    person.git('push', '-q', remote.path, 'main');
    const second = await work('git status --short; git log --format=%s origin/main -1', { taskId });
    expect(second.lines).toContain('?? mine.txt\nA commit');
    expect(changeOf(second)).toMatchObject({ filesChanged: 1 });
    expect(await step('land', second)).toMatchObject({ outcome: 'merged' });
    expect(remote.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(
      expect.arrayContaining(['mine.txt', 'theirs.txt']),
    );
  });

  it('has views of its run in the working folder, which no commit has', async () => {
    const review = { kind: 'review', verdict: 'changes_requested', author: 'user:1', body: 'No.' };
    const feedback = [{ ...review, comments: [], createdAt: '2026-01-10T14:00:00.000Z' }];
    const { lines, taskId, diff } = await work(
      `cd .worker-state; cat worker-auth.json messages/*.jsonl reviews/worker-auth.json
       git status --short; git check-ignore -q . || exit 9; echo x > ../x; cd ..; git add -A
       rm -rf .worker-state; ln -s "$HOME" .worker-state`,
      { change: { feedback } as unknown as Partial<RunRepositoryAnswer['change']> },
    );
    const state = JSON.parse(lines.slice(lines.indexOf('{'), lines.indexOf('}') + 1)) as object;
    expect(state).toMatchObject({
      worker_id: 'worker-auth',
      state: 'WORKING',
      task_id: taskId,
      branch: `codex/${taskId}`,
      pid: process.pid,
      attempt: 3,
      max_attempts: 4,
      last_error: null,
      pr_url: null,
      review_state: 'changes_requested',
    });
    for (const time of ['assigned_at', 'state_changed_at', 'last_heartbeat']) {
      expect(state).toHaveProperty(time, expect.any(String));
    }
    expect(lines).toContain(`"from":"worker-auth","type":"started","task":"${taskId}"}`);
    expect(lines).toContain('"body": "No."');
    expect(lines).toContain('.worker-state is not written');
    expect(diff).not.toContain('worker-state');
    expect(readdirSync(place.path('code/w/r/runs'))).toEqual([]);
  });

  it('has no views in a repository that ignores no files, also when the agent commits them', async () => {
    const { outcome, diff, state } = await work(
      `set -e; printf '!*\n' > .gitignore; git add -A; git commit -qm "By hand"
       git ls-files --error-unmatch .worker-state/worker-auth.json; echo two > b.txt`,
    );
    expect(outcome).toMatchObject({ kind: 'succeeded', change: { filesChanged: 2 } });
    expect(diff).toContain('b/b.txt');
    expect(diff).not.toContain('worker-state');
    expect(state).toMatchObject({ state: 'IN_REVIEW', review_state: 'pending' });
    const refused = await work('echo two > b.txt', { whyNoDiff: 'artifact_quota' });
    const failed = { state: 'FAILED', last_error: expect.stringMatching('could not be submitted') };
    expect(refused.state).toMatchObject(failed);
  });

  it('of a superseded run changes nothing', async () => {
    let isLive = true;
    const ended = await work('echo x > x; git add x; git commit -qm x; git push', {
      isLive: () => {
        const was = isLive;
        isLive = false;
        return was;
      },
    });
    expect(ended.outcome.kind).toBe('failed');
    expect(ended.lines).toContain('no longer the live run of its task');
    expect(remote.git('branch', '--format=%(refname:short)')).toBe('main');
    for (const script of ['echo x > x', 'echo x > x; exit 7']) {
      const asked = { count: 0 };
      const late = await work(script, { isLive: () => asked.count++ === 0 });
      expect(late.outcome.kind).toBe('failed');
      expect(asked.count).toBeGreaterThan(1);
    }
    expect(remote.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('is kept also when an earlier run moved its ref meanwhile', async () => {
    const taskId = newId();
    const ref = `refs/drover/work/${taskId}`;
    const moved = remote.head('main');
    const asked = { count: 0 };
    await work('echo mine > mine.txt; exit 7', {
      taskId,
      isLive: () => {
        if (asked.count++ === 1) remote.git('update-ref', ref, moved);
        return true;
      },
    });
    expect(remote.show(ref, 'mine.txt')).toBe('mine');
  });

  it('is submitted only with its diff, except where no artifacts are kept', async () => {
    const refused = await work('echo x > x', { whyNoDiff: 'artifact_quota' });
    expect(refused.outcome).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining('The diff of the change'), retryable: false },
    });
    const { taskId } = refused;
    const again = await work('true', { taskId, whyNoDiff: 'artifacts_disabled' });
    expect(changeOf(again)).toMatchObject({ filesChanged: 1 });
    expect(again.lines).toContain('The diff of the change is not kept');
  });

  it('without a change submits none of its own', async () => {
    const ended = await work('true');
    expect(changeOf(ended)).toMatchObject({ filesChanged: 0, headCommit: remote.head('main') });
    expect(remote.git('branch', '--format=%(refname:short)')).toBe('main');
  });

  it('on protected paths is refused, and a failed setup is told', async () => {
    const ended = await work('mkdir ci; echo x > ci/x');
    expect(await step('prove', ended)).toMatchObject({
      outcome: 'refused',
      reason: 'The change touches protected paths: ci/x',
    });
    const access = accessTo({ setup: 'echo no room; exit 3', protectedPaths: [] });
    expect(await step('prove', ended, { access })).toMatchObject({
      outcome: 'red',
      exitCode: 3,
      output: 'The setup failed:\nno room\n',
    });
    const slow = accessTo({
      acceptance: 'sleep 60',
      acceptanceTimeoutSeconds: 1,
      protectedPaths: [],
    });
    expect(await step('prove', ended, { access: slow })).toMatchObject({
      outcome: 'red',
      exitCode: -1,
      output: expect.stringContaining('time-out of 1 s'),
    });
  });

  it('that was closed while it landed is found on the target, and else removed', async () => {
    const ended = await work('echo two >> a.txt');
    const landed = await step('land', ended);
    const closed = { state: 'CLOSED', landingCommits: ['f'.repeat(40), landed.commit] };
    expect(await step('remove', ended, closed)).toEqual({ ...landed, outcome: 'merged' });
    const other = await work('echo three >> a.txt');
    const planned = { ...closed, landingCommits: ['f'.repeat(40), changeOf(other)!.headCommit] };
    expect(await step('remove', other, planned)).toMatchObject({ outcome: 'removed' });
    remote.git('update-ref', '-d', 'refs/heads/main');
    expect(await step('remove', other, planned)).toMatchObject({ outcome: 'removed' });
  });

  it('shares no setup that a change has made', async () => {
    const before = accessTo({ setup: null, acceptance: null });
    const access = accessTo({
      setup: 'mkdir deps; cp a.txt deps/lib',
      acceptance: 'cat deps/lib',
      protectedPaths: [],
    });
    const hostile = await work('echo evil > a.txt', { access: before });
    const own = await work('echo evil > a.txt; echo "{ }" > package-lock.json', { access: before });
    // With the lock files of the target it gets the setup of the target.
    expect(await step('prove', hostile, { access })).toMatchObject({ output: 'one\n' });
    expect(await step('prove', own, { access })).toMatchObject({ output: 'evil\n' });
    expect((await work('cat deps/lib', { access })).lines).toContain('one');
  });

  it('shares no setup of a commit within a merged branch, which nobody approved', async () => {
    const before = { access: accessTo({ setup: null, acceptance: null }) };
    const setup = 'mkdir deps; cp a.txt deps/lib';
    const access = accessTo({ setup, acceptance: 'cat deps/lib', protectedPaths: [] });
    const honest = await work('echo two > b.txt', before);
    const hostile = await work('echo evil > a.txt', before);
    const good = await work('echo "{ }" > package-lock.json', before);
    const [inner, tip] = [changeOf(hostile)!.headCommit, changeOf(good)!.headCommit];
    const parents = ['-p', 'main', '-p', inner, '-m', 'Merge'];
    const merged = remote.git('commit-tree', `${tip}^{tree}`, ...parents);
    remote.git('update-ref', 'refs/heads/main', merged);
    // A later run fetches the new tip.
    await work('true', before);
    expect(await step('prove', hostile, { access })).toMatchObject({ output: 'evil\n' });
    expect(await step('prove', honest, { access })).toMatchObject({ output: 'one\n' });
  });
});
