import { join } from 'node:path';
import { changedWithin, checkOutClean, whyUnsupported } from '#lib/git';
import type { CodeHost, HostRepository } from './code-host.js';
import { reachOfRepository, runScript, type ScriptEnd } from './run-script.js';
import { inPath, type SetupCommit, setupFor, SetupFailed } from './setup-cache.js';

/** A commit to prove, in a git folder of the host. */
export type Proving = SetupCommit;

/**
 * The reason why a change is refused whatever its acceptance says, in a sentence.
 *
 * @param base the commit on which it stands
 * @throws GitError
 */
export async function whyRefused(
  { access }: HostRepository,
  base: string,
  { commit, gitDir }: Pick<Proving, 'commit' | 'gitDir'>,
): Promise<string | undefined> {
  const call = { gitDir };
  const unsupported = await whyUnsupported(commit, call);
  if (unsupported !== undefined) return unsupported;
  const changed = await changedWithin(base, commit, access.protectedPaths, call);
  if (changed.length === 0) return undefined;
  return `The change touches protected paths: ${changed.join(', ')}`;
}

/**
 * Runs the acceptance commands of a repository on a clean checkout of a commit, in a clean sandbox.
 *
 * @returns undefined if the repository has none
 * @throws the errors of git and of sessions
 */
export async function prove(
  host: CodeHost,
  repository: HostRepository,
  proving: Proving,
): Promise<ScriptEnd | undefined> {
  const { access } = repository;
  const { acceptance } = access;
  if (acceptance === null || acceptance === undefined || acceptance.trim() === '') return undefined;
  const { commit, gitDir, signal } = proving;
  try {
    const { borrowed } = await setupFor(host, repository, proving);
    const indexFile = join(gitDir, 'proof.index');
    return await runScript(host, {
      access,
      reach: reachOfRepository(access),
      text: inPath(acceptance, access.path),
      timeoutSeconds: access.acceptanceTimeoutSeconds,
      workspaceId: host.options.workspaceId,
      borrowed,
      signal,
      prepare: (work) => checkOutClean(commit, { gitDir, folder: work, indexFile }),
    });
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    const { output, ...end } = error.end;
    return { ...end, output: `The setup failed:\n${output}` };
  }
}
