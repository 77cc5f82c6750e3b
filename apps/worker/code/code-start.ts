import { join } from 'node:path';
import { type Log, retrying } from '#lib/agent-host';
import {
  commitOf,
  type GitCall,
  gitText,
  RunRepository,
  Snapshots,
  whyUnsupported,
} from '#lib/git';
import { withAnySignal } from '#lib/kernel';
import { type Redactor, SpawnError } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import type { Job } from '../execution/job.js';
import { commitsOf, isBehindTarget } from './begin-commits.js';
import { type CodeHost, type HostRepository, pushedRef, workRef } from './code-host.js';
import { peopleOf } from './commit-words.js';
import { type SetupCommit, setupFor, SetupFailed, type SetupResult } from './setup-cache.js';
import { STATE_FOLDER } from './state-files.js';
import type { RunRepositoryAnswer } from './types.js';

export interface CodeRunParts {
  host: CodeHost;
  api: Pick<DroverApi, 'runRepository' | 'saveArtifact'>;
  log: Log;
  redactor: () => Redactor;
  /** Hides further values in all that the run reports. */
  learn: (secrets: readonly string[]) => void;
  /** Aborts when the run is asked to end before its session runs. */
  signal: AbortSignal;
}

/** The time in which the server names the repository of a run. */
const ANSWER_MS = 60_000;

/** All that a run on a repository begins with. */
export interface CodeStart {
  /** The job, with the secrets of the repository. */
  job: Job;
  repository: HostRepository;
  run: RunRepository;
  snapshots: Snapshots;
  change: RunRepositoryAnswer['change'];
  /** The commit of the target. */
  target: string;
  /** The commit on which the session begins. */
  tip: string;
  /** The commits of the branch and of `pushedRef` at the repository, if they exist there. */
  atRemote: { branch: string | undefined; pushed: string | undefined };
  /** The commit with the unsubmitted files of an earlier run, if it stands on the branch. */
  files: string | undefined;
  /** The commit of the ref with unsubmitted work at the repository. */
  kept: string | undefined;
  setup: SetupResult;
  /** Paths of the working folder that no commit has. */
  ignored: readonly string[];
  /** True if the working folder has views of the run. */
  writesState: boolean;
}

/**
 * Fetches the repository of a run, and makes the run's own one.
 *
 * @throws SpawnError, UnusableRepository, GitError, the errors of the server, and that of the signal
 */
export async function startCode(job: Job, parts: CodeRunParts): Promise<CodeStart> {
  const { host, api, log, learn, signal } = parts;
  const { run: claimed, task } = job;
  const ask = () => api.runRepository(claimed.id);
  const { repository: access, change } = await withAnySignal(
    [signal, AbortSignal.timeout(ANSWER_MS)],
    (until) => retrying('repository', ask, { log, signal: until }),
  );
  learn(Object.values(access.secrets));
  const repository = await host.repository(access, signal);
  const [ref, record] = [workRef(task.id), pushedRef(task.id)];
  await repository.fetch([ref, record], signal);
  const { mirror } = repository;
  const branch = change.branch ?? `drover/${task.id}`;
  const target = await mirror.tip(change.target);
  const own = await commitOf(`refs/heads/${branch}`, mirror.call);
  const kept = await commitOf(ref, mirror.call);
  const pushed = await commitOf(record, mirror.call);
  const begin = { target: { name: change.target, commit: target }, branch: { name: branch, own } };
  const { tip, files, draft } = await commitsOf(
    { ...begin, kept, merges: isBehindTarget(change), words: peopleOf(job, access) },
    mirror.call,
  );
  const unsupported = await whyUnsupported(tip, mirror.call);
  if (unsupported !== undefined) throw new SpawnError('setup', unsupported);
  const run = new RunRepository(join(repository.folder, 'runs', claimed.id), mirror, branch);
  await run.make(draft ?? own);
  const commit = { commit: tip, gitDir: run.gitDir, target: change.target, signal };
  const setup = await setupOrNote(job, repository, commit, parts).catch(async (error: unknown) => {
    await run.remove();
    throw error;
  });
  const writesState = host.options.writesState && !(await hasStateFolder(target, mirror.call));
  const ignored = [...setup.paths, ...(writesState ? [STATE_FOLDER] : [])];
  const snapshots = new Snapshots({
    run,
    mirrorObjects: mirror.objects,
    work: host.workOf(claimed.id),
    program: host.program,
    user: host.user,
    path: access.path ?? undefined,
    ignored,
    excluded: writesState ? STATE_FOLDER : undefined,
    draft,
  });
  return {
    job: withSecrets(job, access.secrets),
    repository,
    run,
    snapshots,
    change,
    target,
    tip,
    atRemote: { branch: own, pushed },
    files,
    kept,
    setup,
    ignored,
    writesState,
  };
}

/** A repository with such a folder of its own keeps it. */
async function hasStateFolder(commit: string, call: GitCall): Promise<boolean> {
  return (await gitText(['ls-tree', '--full-tree', commit, '--', STATE_FOLDER], call)) !== '';
}

/** The secrets of the repository reach the session as those of the task do, and are hidden like them. */
function withSecrets(job: Job, secrets: Record<string, string>): Job {
  return { ...job, task: { ...job.task, secrets: { ...secrets, ...job.task.secrets } } };
}

/** An agent can mend what the setup needs, so the session starts without its result. */
async function setupOrNote(
  job: Job,
  repository: HostRepository,
  commit: SetupCommit,
  { host, redactor }: CodeRunParts,
): Promise<SetupResult> {
  try {
    const result = await setupFor(host, repository, commit);
    for (const path of result.missing) {
      job.report.log('WARN', `The setup made no ${path}: nothing is cached there`, 'repository');
    }
    return result;
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    const output = redactor().redactFile(error.end.output).slice(-2_000);
    job.report.log('WARN', `${error.message}: ${output}`, 'repository');
    return { paths: [], missing: [], borrowed: [] };
  }
}
