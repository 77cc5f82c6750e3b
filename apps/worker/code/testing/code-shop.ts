import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { Log } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { Drivers, Redactor } from '#lib/session-runtime';
import {
  plainGit,
  TestPlace,
  TestRepository,
} from '../../../../libs/code/git/testing/repositories.js';
import { testSandbox } from '../../../../libs/hosts/session-runtime/testing/sandboxes.js';
import { refusal } from '../../../../libs/hosts/agent-host/testing/refusal.js';
import { startExecution } from '../../execution/execution.js';
import type { Outcome } from '../../execution/job.js';
import { makeJob, type TestJob } from '../../testing/job.js';
import { CodeHost } from '../code-host.js';
import { CodeRun } from '../code-run.js';
import { Steps, type StepsParts } from '../steps.js';
import type { RepositoryAccess, RunRepositoryAnswer, StepReport, StepWork } from '../types.js';

export const sandbox = await testSandbox();
const isRoot = process.getuid?.() === 0;
const ACCOUNT = { uid: 54_323, gid: 54_323 };
export const SECRET = 'secret-of-the-repository';
const log = new Log(() => undefined);

interface Shop {
  place: TestPlace;
  remote: TestRepository;
  host: CodeHost;
}

/** The parts of the running test. */
export const shop = {} as Shop;
let drivers: Drivers;
const jobs: TestJob[] = [];

/** Makes a host with a repository before each test. */
export function useCodeShop(): void {
  beforeEach(() => {
    shop.place = new TestPlace();
    const { path } = shop.place.repository('checked-out', {
      'check.sh': 'test -f deps/lib && ! grep -q broken a.txt && echo "secret=$TOKEN"\n',
      'a.txt': 'one\n',
      'package-lock.json': '{}\n',
    });
    plainGit(path, 'clone', '-q', '--bare', '.', shop.place.path('remote.git'));
    shop.remote = new TestRepository(shop.place.path('remote.git'));
    const sessions = shop.place.path('sessions');
    const isolation = { sandbox: sandbox!, accounts: isRoot ? () => ACCOUNT : undefined };
    drivers = new Drivers(
      { dir: sessions },
      {
        process: {
          searchPath: process.env['PATH'] ?? '',
          sandbox: { ...sandbox!, hidden: [shop.place.root] },
          accounts: isolation.accounts,
        },
      },
    );
    shop.host = new CodeHost({
      folder: shop.place.path('code'),
      roots: [shop.place.root],
      workspaceId: 'w',
      isolation,
      drivers,
      sessions,
      scripts: shop.place.path('scripts'),
      keepDays: 14,
      worker: 'worker-auth',
      writesState: true,
    });
  });

  afterEach(() => {
    for (const driver of drivers.all) driver.close();
    for (const job of jobs.splice(0)) job.remove();
    shop.place.remove();
  });
}

export function accessTo(more: Partial<RepositoryAccess> = {}): RepositoryAccess {
  return {
    id: 'r',
    name: 'shop',
    url: shop.remote.path,
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
    hostLists: [],
    path: null,
    cachePaths: [],
    ...more,
  } as RepositoryAccess;
}

export interface Ended {
  outcome: Outcome;
  lines: string;
  diff: string;
  taskId: string;
  /** The trees of its snapshots. */
  trees: string[];
  /** The view of the run after its end. */
  state: Record<string, unknown>;
}

/** A run of a task whose command is a script. */
export async function work(
  script: string,
  {
    taskId = newId(),
    access = accessTo(),
    isLive = () => true,
    whyNoDiff,
    change = {},
    signal = new AbortController().signal,
  }: {
    taskId?: string;
    access?: RepositoryAccess;
    isLive?: () => boolean;
    /** The code of a refusal of the diff. */
    whyNoDiff?: string;
    change?: Partial<RunRepositoryAnswer['change']>;
    /** Stops the run before its session runs. */
    signal?: AbortSignal;
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
  const learned: string[] = [];
  const code = await CodeRun.open(made.job, {
    host: shop.host,
    log,
    redactor: () => new Redactor(learned),
    learn: (secrets) => void learned.push(...secrets),
    signal,
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
  const trees: string[] = [];
  code.onFiles = (tree) => trees.push(tree);
  const options = {
    drivers,
    allowedDirs: [],
    passedEnv: {},
    workspaceId: 'w',
    learn: () => undefined,
    code,
  };
  const running = code.around(await startExecution(code.job, options));
  const outcome = await running.exit;
  const view = join(shop.host.workOf(made.job.run.id), '.worker-state/worker-auth.json');
  const state = await readFile(view, 'utf8').then(JSON.parse, () => ({}));
  await drivers.choose('process').remove(made.job.run.id);
  return {
    outcome,
    lines: made.entries.map(({ message }) => message).join('\n'),
    diff,
    taskId,
    trees,
    state,
  };
}

export const changeOf = ({ outcome }: Ended) =>
  outcome.kind === 'succeeded' ? outcome.change : undefined;

interface Given {
  access?: RepositoryAccess;
  landingCommits?: (string | undefined)[];
  state?: string;
  next?: Ended;
}

export function workOf(
  kind: StepWork['step']['kind'],
  ended: Ended,
  { access = accessTo(), landingCommits = [], state = 'APPROVED', next }: Given = {},
): StepWork {
  const headOf = (one: Ended) => changeOf(one)?.headCommit ?? null;
  return {
    step: { changeId: ended.taskId, kind, generation: 1, until: '' },
    change: {
      id: ended.taskId,
      branch: `codex/${ended.taskId}`,
      target: 'main',
      state,
      headCommit: headOf(ended),
      landingCommits,
    },
    repository: access,
    title: 'a test',
    message: `a test\n\nDrover-Task: ${ended.taskId}\n`,
    next: next ? { changeId: next.taskId, headCommit: headOf(next) } : null,
  } as unknown as StepWork;
}

/** Gives one step to a host, and returns its report. */
export async function step(
  kind: StepWork['step']['kind'],
  ended: Ended,
  { access, landingCommits, state, ...api }: Given & Partial<StepsParts['api']> = {},
): Promise<StepReport> {
  const reports = await stepsOf(
    [workOf(kind, ended, { access, landingCommits, state })],
    undefined,
    api,
  );
  return reports[0]!;
}

/** Gives steps to a host, one after the other, and returns its reports. */
export function stepsOf(
  works: StepWork[],
  onReport: () => void = () => undefined,
  api: Partial<StepsParts['api']> = {},
): Promise<StepReport[]> {
  const left = [...works];
  const reports: StepReport[] = [];
  return new Promise((resolve) => {
    const steps: Steps = new Steps({
      host: shop.host,
      log,
      api: {
        claimStep: (_, signal) => {
          const isFree = left.length + reports.length === works.length;
          const next = isFree ? left.shift() : undefined;
          if (next !== undefined) return Promise.resolve(next);
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new Error('stopped')));
          });
        },
        reportPullRequest: () => Promise.reject(new Error('There is no forge')),
        renewStep: () => Promise.resolve({ until: '', next: null }),
        renewCheck: () => Promise.resolve(),
        releaseCheck: () => Promise.resolve(),
        reportCheck: () => Promise.resolve(),
        planLanding: () => Promise.resolve(),
        reportNotLanded: () => Promise.resolve(),
        reportStep: (_, report) => {
          reports.push(report);
          onReport();
          if (reports.length === works.length) void steps.stop().then(() => resolve(reports));
          return Promise.resolve();
        },
        ...api,
      },
    });
    steps.start();
  });
}
