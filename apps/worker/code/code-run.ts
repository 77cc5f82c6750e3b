import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode, type Log, messageOf, retrying } from '#lib/agent-host';
import {
  type Admission,
  changedWithin,
  commitOf,
  type GitCall,
  GitError,
  GitProxy,
  gitSays,
  gitText,
  makeWorkFolder,
  measureChange,
  mergeBase,
  patchOf,
  push,
  readRefs,
  RunRepository,
  Snapshots,
  UnusableRepository,
  whyUnsupported,
} from '#lib/git';
import { type Reach, strictestReach } from '#lib/kernel';
import { type Redactor, removeTree, type SessionSpec, SpawnError } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import type { Job, Outcome, RunningJob } from '../execution/job.js';
import { reachOfRun } from '../execution/job.js';
import { type CodeHost, DIFF, type HostRepository, workRef } from './code-host.js';
import { HOME_FOLDER, reachOfRepository, variablesOf } from './run-script.js';
import { setupFor, SetupFailed, type SetupResult } from './setup-cache.js';
import type { RunRepositoryAnswer, SubmitChange } from './types.js';

export interface CodeRunParts {
  host: CodeHost;
  api: Pick<DroverApi, 'runRepository' | 'saveArtifact'>;
  log: Log;
  redactor: () => Redactor;
}

/** The part of a session's specification that a repository adds. */
export interface CodeSurroundings {
  env: Record<string, string>;
  reach: Reach;
  spec: Pick<SessionSpec, 'borrowed' | 'prepare' | 'samePath'>;
  otherFiles: NonNullable<SessionSpec['otherFiles']>;
  services: NonNullable<SessionSpec['services']>;
}

/** The port of the repository within a sandbox. */
const PORT = 6175;
/** The mirror's objects for the session. */
const OBJECTS = '/run/drover-objects';
/** The time to send the diff of a change. */
const UPLOAD_MS = 60_000;
/** The time in which the server says whether the run is live. */
const ADMIT_MS = 20_000;
/** The least time between two snapshots while the session runs. */
const SNAPSHOT_MS = 10_000;
const KEEP_ATTEMPTS = 3;
const REFUSED = ['stale_run', 'run_not_found', 'agent_terminated'] as const;

/**
 * One run on a repository: its working folder, its remote, the snapshots of it, and its submission.
 */
export class CodeRun {
  private proxy: GitProxy | undefined;
  private sockets: string | undefined;
  /** One snapshot after the other. */
  private working: Promise<unknown> = Promise.resolve();
  private snapshotAt = -Infinity;
  /** The next snapshot while the session runs. */
  private soon: NodeJS.Timeout | undefined;
  /** The commit of the ref with unsubmitted work at the repository. */
  private kept: string | undefined;
  private readonly noted = new Set<string>();

  private constructor(
    readonly job: Job,
    private readonly parts: CodeRunParts,
    private readonly repository: HostRepository,
    private readonly run: RunRepository,
    private readonly snapshots: Snapshots,
    private readonly begin: {
      change: RunRepositoryAnswer['change'];
      target: string;
      /** The commit of the branch, and one with further files. */
      tip: string;
      /** True if the branch exists at the repository. */
      isOnBranch: boolean;
      files: string | undefined;
      setup: SetupResult;
    },
  ) {}

  /** @throws SpawnError, and the errors of the server */
  static async open(job: Job, parts: CodeRunParts): Promise<CodeRun> {
    try {
      return await CodeRun.openNow(job, parts);
    } catch (error) {
      if (error instanceof UnusableRepository) throw new SpawnError('setup', error.message);
      if (error instanceof GitError) throw new SpawnError('infrastructure', error.message);
      throw error;
    }
  }

  private static async openNow(job: Job, parts: CodeRunParts): Promise<CodeRun> {
    const { host, api, log } = parts;
    const { run: claimed, task } = job;
    const { repository: access, change } = await retrying(
      'repository',
      () => api.runRepository(claimed.id),
      { log, signal: AbortSignal.timeout(UPLOAD_MS) },
    );
    const repository = await host.repository(access);
    const ref = workRef(task.id);
    await repository.fetch([ref]);
    const { mirror } = repository;
    const branch = change.branch ?? `drover/${task.id}`;
    const target = await mirror.tip(change.target);
    const own = await commitOf(`refs/heads/${branch}`, mirror.call);
    const kept = await commitOf(ref, mirror.call);
    const below = kept && (await gitText(['rev-parse', `${kept}^`], mirror.call));
    const tip = own ?? (await firstTip(target, below, mirror.call));
    const unsupported = await whyUnsupported(tip, mirror.call);
    if (unsupported !== undefined) throw new SpawnError('setup', unsupported);
    const folder = join(repository.folder, 'runs', claimed.id);
    const run = new RunRepository(folder, mirror, branch);
    await run.make(own);
    const setup = await setupOrNote(host, repository, { commit: tip, gitDir: run.gitDir, job });
    const snapshots = new Snapshots({
      run,
      mirrorObjects: mirror.objects,
      work: host.workOf(claimed.id),
      program: host.program,
      user: host.user,
      path: access.path ?? undefined,
      ignored: setup.paths,
    });
    const files = below === tip ? kept : undefined;
    const begin = { change, target, tip, isOnBranch: own !== undefined, files, setup };
    const code = new CodeRun(
      withSecrets(job, access.secrets),
      parts,
      repository,
      run,
      snapshots,
      begin,
    );
    code.kept = kept;
    return code;
  }

  /** @throws SpawnError */
  async surroundings(): Promise<CodeSurroundings> {
    const { host } = this.parts;
    const { access, mirror } = this.repository;
    const reach = strictestReach(reachOfRun(this.job.run), reachOfRepository(access));
    const { folder, reach: given } = host.driver.surroundings(this.job.run.id, reach);
    const services = await this.openProxy(given.network === 'host');
    return {
      env: variablesOf(access, folder),
      reach,
      otherFiles: [HOME_FOLDER],
      services,
      spec: {
        samePath: true,
        borrowed: [{ from: mirror.objects, to: OBJECTS }, ...this.begin.setup.borrowed],
        prepare: (work) => this.prepare(work, services.length > 0),
      },
    };
  }

  /** A tool of the agent has ended, or its turn: a snapshot follows within 10 s. Never rejects. */
  touched(): void {
    if (this.soon !== undefined) return;
    const rest = this.snapshotAt + SNAPSHOT_MS - performance.now();
    this.soon = setTimeout(() => this.keepSoon(), Math.max(0, rest));
  }

  private keepSoon(): void {
    this.soon = undefined;
    this.snapshotAt = performance.now();
    this.working = this.working
      .then(() => this.keepWork())
      .catch((error: unknown) => {
        this.note(`The files of the session are not kept: ${messageOf(error)}`);
      });
  }

  /** The job, which ends with its submission. Else its files are kept for the next run. */
  around(running: RunningJob): RunningJob {
    return {
      exit: running.exit.then((outcome) => this.conclude(outcome)),
      stop: (graceMs) => running.stop(graceMs),
      notify: (signal) => running.notify(signal),
      hear: running.hear && ((message) => running.hear?.(message)),
      pauseAfterTurn: running.pauseAfterTurn && ((isWanted) => running.pauseAfterTurn?.(isWanted)),
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.soon);
    await this.proxy?.close();
    if (this.sockets !== undefined) await removeTree(this.sockets);
    await this.run.remove();
  }

  private async prepare(work: string, isInside: boolean): Promise<void> {
    const { access, mirror } = this.repository;
    const { change, target, setup } = this.begin;
    // A session that starts again begins with the files of the one before.
    const tip = (await this.run.tip()) ?? this.begin.tip;
    await makeWorkFolder(
      {
        folder: work,
        branch: this.run.branch,
        commit: tip,
        files: tip === this.begin.tip ? this.begin.files : undefined,
        target: { branch: change.target, commit: target },
        objects: [{ here: mirror.objects, inside: OBJECTS }],
        origin: this.proxy?.addressAt(isInside ? PORT : undefined) ?? '',
        header: `Authorization: Bearer ${this.job.run.token}`,
        author: this.author,
        path: access.path ?? undefined,
        ignored: setup.paths,
      },
      this.snapshots.seed,
    );
    if ((await this.run.tip()) === undefined) await this.run.set(tip);
    await this.snapshots.make(this.begin.files ?? tip);
  }

  private async openProxy(isShared: boolean): Promise<CodeSurroundings['services']> {
    if (this.proxy !== undefined) throw new Error('The session has a remote already');
    this.sockets = mkdtempSync(join(tmpdir(), 'drover-repository-'));
    mkdirSync(this.sockets, { recursive: true, mode: 0o700 });
    const socket = join(this.sockets, 'socket');
    this.proxy = await GitProxy.open({
      run: this.run,
      token: this.job.run.token,
      listen: isShared ? 'loopback' : { socket },
      admit: () => this.admit(),
      refresh: () => this.repository.fetch(),
      forward: (from, to) => this.forward(from, to),
      note: (text) => this.note(text),
    });
    return isShared ? [] : [{ port: PORT, socket }];
  }

  /** The server says whether the run is live. */
  private async admit(): Promise<Admission> {
    try {
      const ask = () => this.parts.api.runRepository(this.job.run.id);
      const signal = AbortSignal.timeout(ADMIT_MS);
      await retrying('live run', ask, { log: this.parts.log, signal });
      return { admitted: true };
    } catch (error) {
      if (!hasCode(error, ...REFUSED)) throw error;
      const why = 'This run is no longer the live run of its task: nothing was changed';
      return { admitted: false, why };
    }
  }

  /** The branch of the run is at the target's commit before its first push. */
  private async forward(from: string | undefined, to: string): Promise<Admission> {
    const admission = await this.admit();
    if (!admission.admitted) return admission;
    const before = from === this.begin.tip && !this.isPushed ? undefined : from;
    const refs = [{ name: this.run.ref, from: before, to }];
    const end = await this.repository.reach((remote) => push(this.run.gitDir, remote, refs));
    if (end.kind === 'done') {
      this.pushedTo = to;
      return { admitted: true };
    }
    const moved = 'Another run has moved the branch meanwhile: nothing was changed';
    return { admitted: false, why: end.kind === 'moved' ? moved : end.why };
  }

  private pushedTo: string | undefined;

  /** True if the branch exists at the repository. */
  private get isPushed(): boolean {
    return this.pushedTo !== undefined || this.begin.isOnBranch;
  }

  private async conclude(outcome: Outcome): Promise<Outcome> {
    clearTimeout(this.soon);
    await this.working;
    try {
      if (outcome.kind !== 'succeeded') {
        await this.keepWork();
        return outcome;
      }
      return { ...outcome, change: await this.finish(outcome) };
    } catch (error) {
      const message = `The change could not be submitted: ${messageOf(error)}`;
      if (outcome.kind !== 'succeeded') {
        this.note(message);
        return outcome;
      }
      return { kind: 'failed', error: { message, class: 'infrastructure', retryable: true } };
    } finally {
      await this.close();
    }
  }

  /** Commits what is left, pushes the branch, and stores the diff. */
  private async finish(outcome: Outcome & { kind: 'succeeded' }): Promise<SubmitChange> {
    const { run, repository, begin } = this;
    const { commit, isNew, notes } = await this.snapshots.take(this.words(outcome.summary));
    for (const text of notes) this.note(text);
    const before = await run.tip();
    const isOfTarget = commit === begin.target || commit === begin.tip;
    const hasNone = isOfTarget && !this.isPushed;
    if (!hasNone && (isNew || !this.isPushed)) {
      await run.set(commit);
      const done = await this.forward(before, commit);
      if (!done.admitted) throw new Error(done.why);
    }
    await repository.fetch();
    const target = await repository.mirror.tip(begin.change.target);
    const base = await mergeBase(target, commit, run.call);
    const size = await measureChange(base, commit, run.call);
    if (size.filesChanged > 0) await this.sendDiff(await patchOf(base, commit, run.call));
    const touched = await changedWithin(base, commit, repository.access.protectedPaths, run.call);
    for (const file of touched) this.note(`The change touches the protected path ${file}`);
    const { summary, result } = outcome;
    return {
      baseCommit: base,
      headCommit: commit,
      ...size,
      ...(summary && { summary: summary.slice(0, 10_000) }),
      ...(result && { outputResult: result }),
    };
  }

  /** A change without its diff is not submitted, unless the installation keeps none. */
  private async sendDiff(patch: Buffer): Promise<void> {
    const { api, log, redactor } = this.parts;
    const content = Buffer.from(redactor().redactFile(patch.toString()));
    const file = { name: DIFF, content, type: 'text/x-diff' };
    const signal = AbortSignal.timeout(UPLOAD_MS);
    const send = () => api.saveArtifact(this.job.run.id, file, signal);
    await retrying('diff of the change', send, { log, signal }).catch((error: unknown) => {
      const why = `The diff of the change is not kept: ${messageOf(error)}`;
      if (!hasCode(error, 'artifacts_disabled')) throw new Error(why, { cause: error });
      this.note(why);
    });
  }

  /** Keeps the files of the session at the repository, in a ref of Drover. */
  private async keepWork(): Promise<void> {
    const { repository, run } = this;
    const { commit, isNew } = await this.snapshots.take(this.words('Work that is not submitted'));
    if (!isNew || commit === this.kept) return;
    const name = workRef(this.job.task.id);
    for (let attempt = 0; attempt < KEEP_ATTEMPTS; attempt += 1) {
      if (!(await this.admit()).admitted) return;
      const refs = [{ name, from: this.kept, to: commit }];
      const end = await repository.reach((remote) => push(run.gitDir, remote, refs));
      if (end.kind === 'done') return void (this.kept = commit);
      if (end.kind === 'refused') {
        return this.note(`The files of the session are not kept: ${end.why}`);
      }
      // An earlier run has moved it while it ended. This one is the live one.
      const found = await repository.reach((remote) => readRefs(remote, [name]));
      this.kept = found.get(name);
    }
  }

  private get author() {
    const kind = (this.job.task.agent as { kind?: string } | null | undefined)?.kind;
    return { name: kind ?? 'drover', email: `${kind ?? 'drover'}@drover.invalid` };
  }

  private words(summary: string | undefined) {
    const { task, run } = this.job;
    const trailers = `Drover-Task: ${task.id}\nDrover-Run: ${run.id}`;
    const title = task.title.replace(/\s+/g, ' ').trim();
    const message = [title, summary?.trim() ?? '', trailers].filter(Boolean).join('\n\n');
    return {
      message,
      author: this.author,
      committer: this.repository.access.committer ?? undefined,
      signingKey: this.repository.access.signingKey,
    };
  }

  private note(text: string): void {
    if (this.noted.has(text)) return;
    this.noted.add(text);
    this.job.report.log('WARN', this.parts.redactor().redact(text), 'repository');
  }
}

/**
 * The commit for a change without a branch: that below the files of an earlier run, also when the
 * target has moved since. A landing brings them together.
 */
async function firstTip(target: string, below: string | undefined, call: GitCall): Promise<string> {
  if (below === undefined) return target;
  const isBehind = await gitSays(['merge-base', '--is-ancestor', below, target], call);
  return isBehind ? below : target;
}

/** The secrets of the repository reach the session as those of the task do, and are hidden like them. */
function withSecrets(job: Job, secrets: Record<string, string>): Job {
  return { ...job, task: { ...job.task, secrets: { ...secrets, ...job.task.secrets } } };
}

/** An agent can mend what the setup needs, so the session starts without its result. */
async function setupOrNote(
  host: CodeHost,
  repository: HostRepository,
  { commit, gitDir, job }: { commit: string; gitDir: string; job: Job },
): Promise<SetupResult> {
  try {
    return await setupFor(host, repository, { commit, gitDir });
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    job.report.log('WARN', `${error.message}: ${error.end.output.slice(-2_000)}`, 'repository');
    return { paths: [], borrowed: [] };
  }
}
