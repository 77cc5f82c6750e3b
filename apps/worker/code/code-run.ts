import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, type JsonObject, messageOf, retrying } from '#lib/agent-host';
import {
  type Admission,
  changedWithin,
  GitError,
  GitProxy,
  makeWorkFolder,
  measureChange,
  mergeBase,
  patchOf,
  type RunRepository,
  type Snapshots,
  RemoteUnavailable,
  UnusableRepository,
} from '#lib/git';
import { type Reach, strictestReach } from '#lib/kernel';
import { makeOwnedTemporary, removeTree, type SessionSpec, SpawnError } from '#lib/session-runtime';
import type { Job, Outcome, RunningJob } from '../execution/job.js';
import { reachOfRun } from '../execution/job.js';
import type { HostRepository } from './code-host.js';
import { type CodeRunParts, type CodeStart, startCode } from './code-start.js';
import { authorOf, wordsOf } from './commit-words.js';
import { KeptWork } from './kept-work.js';
import { OwnBranch } from './own-branch.js';
import { HOME_FOLDER, reachOfRepository, variablesOf } from './run-script.js';
import { RefusedDiff, sendDiff } from './send-diff.js';
import { STATE_FOLDER, StateFiles } from './state-files.js';
import type { SubmitChange } from './types.js';

/** The part of a session's specification that a repository adds. */
export interface CodeSurroundings {
  env: Record<string, string>;
  reach: Reach;
  spec: Pick<SessionSpec, 'borrowed' | 'prepare' | 'samePath' | 'startsIn'>;
  otherFiles: NonNullable<SessionSpec['otherFiles']>;
  services: NonNullable<SessionSpec['services']>;
}

/** The port of the repository within a sandbox. */
const PORT = 6175;
/** The mirror's objects for the session. */
const OBJECTS = '/run/drover-objects';
/** The time in which the server says whether the run is live. */
const ADMIT_MS = 20_000;
const REFUSED = ['stale_run', 'run_not_found', 'agent_terminated'] as const;

/**
 * One run on a repository: its working folder, its remote, the snapshots of it, and its submission.
 */
export class CodeRun {
  /** The job, with the secrets of the repository. */
  readonly job: Job;
  private readonly repository: HostRepository;
  private readonly run: RunRepository;
  private readonly snapshots: Snapshots;
  private readonly kept: KeptWork;
  private readonly state: StateFiles | undefined;
  private proxy: GitProxy | undefined;
  private sockets: string | undefined;
  private readonly branch: OwnBranch;
  /** Gets the tree of each snapshot whose files have changed. */
  onFiles: ((tree: string) => void) | undefined;
  private readonly noted = new Set<string>();

  private constructor(
    private readonly parts: CodeRunParts,
    private readonly begin: CodeStart,
  ) {
    const { job, repository, run, snapshots } = begin;
    this.job = job;
    this.repository = repository;
    this.run = run;
    this.snapshots = snapshots;
    this.branch = new OwnBranch(begin, {
      admit: () => this.admit(),
      note: (text) => this.note(text),
    });
    this.kept = new KeptWork(begin, {
      isLive: async () => (await this.admit()).admitted,
      note: (text) => this.note(text),
      onFiles: (tree) => this.onFiles?.(tree),
    });
    const { host } = parts;
    const views = {
      worker: host.options.worker,
      work: host.workOf(job.run.id),
      note: (text: string) => this.note(text),
    };
    this.state = begin.writesState ? new StateFiles(begin, views) : undefined;
  }

  /** @throws SpawnError, and the errors of the server */
  static async open(job: Job, parts: CodeRunParts): Promise<CodeRun> {
    try {
      return new CodeRun(parts, await startCode(job, parts));
    } catch (error) {
      if (error instanceof UnusableRepository) throw new SpawnError('setup', error.message);
      if (error instanceof GitError || error instanceof RemoteUnavailable)
        throw new SpawnError('infrastructure', error.message);
      throw error;
    }
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
        startsIn: access.path ?? undefined,
        borrowed: [{ from: mirror.objects, to: OBJECTS }, ...this.begin.setup.borrowed],
        prepare: (work) => this.prepare(work, services.length > 0),
      },
    };
  }

  /** A tool of the agent has ended, or its turn: a snapshot follows within 10 s. Never rejects. */
  touched(): void {
    this.kept.keepSoon();
  }

  /** The job, which ends with its submission. Else its files are kept for the next run. */
  around(running: RunningJob): RunningJob {
    return {
      exit: running.exit.then((outcome) => this.conclude(outcome)),
      stop: (graceMs) => running.stop(graceMs),
      notify: (signal) => running.notify(signal),
      hear:
        running.hear &&
        ((message) => {
          this.state?.hear(message);
          running.hear?.(message);
        }),
      pauseAfterTurn: running.pauseAfterTurn && ((isWanted) => running.pauseAfterTurn?.(isWanted)),
    };
  }

  async close(): Promise<void> {
    this.kept.stop();
    await this.state?.stop();
    await this.proxy?.close();
    if (this.sockets !== undefined) await removeTree(this.sockets);
    await this.run.remove();
  }

  private async prepare(work: string, isInside: boolean): Promise<void> {
    const { access, mirror } = this.repository;
    const { change, target, ignored } = this.begin;
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
        author: authorOf(this.job),
        path: access.path ?? undefined,
        ignored,
      },
      this.snapshots.seed,
    );
    await makeFolder(work, access.path ?? '');
    if ((await this.run.tip()) === undefined) await this.run.set(tip);
    await this.snapshots.make(this.begin.files ?? tip);
    await this.state?.start();
  }

  private async openProxy(isShared: boolean): Promise<CodeSurroundings['services']> {
    if (this.proxy !== undefined) throw new Error('The session has a remote already');
    this.sockets = await makeOwnedTemporary('repository');
    const socket = join(this.sockets, 'socket');
    this.proxy = await GitProxy.open({
      run: this.run,
      token: this.job.run.token,
      listen: isShared ? 'loopback' : { socket },
      admit: () => this.admit(),
      refresh: () => this.repository.fetch(),
      forward: (from, to) => this.take(from, to),
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

  /** Takes a push of the session. A merge or rebase lands each of its commits, views of the run too. */
  private async take(from: string | undefined, to: string): Promise<Admission> {
    const views = this.begin.writesState ? await this.run.newCommitWith(STATE_FOLDER, from) : '';
    if (views === '') return this.branch.push(to);
    const commit = `The commit ${views.slice(0, 12)} has ${STATE_FOLDER}`;
    return { admitted: false, why: `${commit}, which belongs to no change: leave it out` };
  }

  private async conclude(outcome: Outcome): Promise<Outcome> {
    await this.kept.settled();
    try {
      const ended = await this.submitOrKeep(outcome);
      await this.state?.end(ended);
      return ended;
    } finally {
      await this.close();
    }
  }

  /** @returns the outcome, with the change or with the reason why it is not submitted */
  private async submitOrKeep(outcome: Outcome): Promise<Outcome> {
    try {
      if (outcome.kind !== 'succeeded') {
        await this.kept.keep();
        return outcome;
      }
      return { ...outcome, change: await this.finish(outcome) };
    } catch (error) {
      const message = `The change could not be submitted: ${messageOf(error)}`;
      if (outcome.kind !== 'succeeded') {
        this.note(message);
        return outcome;
      }
      const retryable = !(error instanceof RefusedDiff);
      return { kind: 'failed', error: { message, class: 'infrastructure', retryable } };
    }
  }

  /** Commits what is left, pushes the branch, and stores the diff. */
  private async finish(outcome: Outcome & { kind: 'succeeded' }): Promise<SubmitChange> {
    const { run, repository, begin } = this;
    // The summary goes into a commit, too.
    const { summary, result } = this.withoutSecrets(outcome);
    const { commit, notes } = await this.snapshots.take(
      wordsOf(this.job, repository.access, summary),
    );
    for (const text of notes) this.note(text);
    const isOfTarget = commit === begin.target || commit === begin.tip;
    const hasNone = isOfTarget && this.branch.commit === undefined;
    if (!hasNone && commit !== this.branch.commit) {
      await run.set(commit);
      const done = await this.branch.push(commit);
      if (!done.admitted) throw new Error(done.why);
    }
    await repository.fetch();
    const target = await repository.mirror.tip(begin.change.target);
    const base = await mergeBase(target, commit, run.call);
    const size = await measureChange(base, commit, run.call);
    if (size.filesChanged > 0) {
      const note = (text: string) => this.note(text);
      await sendDiff(await patchOf(base, commit, run.call), this.job.run.id, this.parts, note);
    }
    const touched = await changedWithin(base, commit, repository.access.protectedPaths, run.call);
    for (const file of touched) this.note(`The change touches the protected path ${file}`);
    return {
      baseCommit: base,
      headCommit: commit,
      ...size,
      ...(summary && { summary: summary.slice(0, 10_000) }),
      ...(result && { outputResult: result }),
    };
  }

  /** The server does not know the secrets of the repository as those of the run. */
  private withoutSecrets({ summary, result }: Outcome & { kind: 'succeeded' }) {
    const redactor = this.parts.redactor();
    const hide = (_: string, value: unknown) =>
      typeof value === 'string' ? redactor.redact(value) : value;
    const hidden = JSON.stringify({ summary, result }, hide);
    return JSON.parse(hidden) as { summary?: string; result?: JsonObject };
  }

  private note(text: string): void {
    if (this.noted.has(text)) return;
    this.noted.add(text);
    this.job.report.log('WARN', this.parts.redactor().redact(text), 'repository');
  }
}

/** A change can add the folder in which its session works. No session runs in the checkout yet. */
async function makeFolder(work: string, path: string): Promise<void> {
  let folder = work;
  for (const part of path.split('/').filter(Boolean)) {
    folder = join(folder, part);
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined) await mkdir(folder);
    else if (!found.isDirectory()) throw new SpawnError('setup', `${path} is no folder`);
  }
}
