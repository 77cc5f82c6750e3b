import { join } from 'node:path';
import { changedWithin, changedWithMarks, checkOutClean, whyUnsupported } from '#lib/git';
import type { CodeHost, HostRepository } from './code-host.js';
import { reachOfRepository, runScript, type ScriptEnd } from './run-script.js';
import { inPath, type SetupCommit, setupFor, SetupFailed } from './setup-cache.js';

type Proof = Pick<ScriptEnd, 'exitCode' | 'output' | 'durationMs'>;

/** A commit to prove, in a git folder of the host. */
export interface Proving extends SetupCommit {
  /** The name of the index for the checkout, if several commits of a git folder are proven at once. */
  indexName?: string;
}

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
  const marked = await changedWithMarks(base, commit, call);
  if (marked.length > 0) return `Files still have the marks of a conflict: ${marked.join(', ')}`;
  const changed = await changedWithin(base, commit, access.protectedPaths, call);
  if (changed.length === 0) return undefined;
  return `The change touches protected paths: ${changed.join(', ')}`;
}

export function hasAcceptance({ access }: HostRepository): boolean {
  return (access.acceptance ?? '').trim() !== '';
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
): Promise<Proof | undefined> {
  const { access } = repository;
  const acceptance = access.acceptance ?? '';
  if (!hasAcceptance(repository)) return undefined;
  const { commit, gitDir, signal, indexName = 'proof.index' } = proving;
  try {
    const { borrowed } = await setupFor(host, repository, proving);
    const indexFile = join(gitDir, indexName);
    const end = await runScript(host, {
      access,
      reach: reachOfRepository(access),
      text: inPath(acceptance, access.path),
      timeoutSeconds: access.acceptanceTimeoutSeconds,
      workspaceId: host.options.workspaceId,
      borrowed,
      signal,
      prepare: (work) => checkOutClean(commit, { gitDir, folder: work, indexFile }),
    });
    return proofOf(end);
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    return { ...proofOf(error.end), output: `The setup failed:\n${error.end.output}` };
  }
}

/** The facts that the report of a step takes. */
function proofOf({ exitCode, output, durationMs }: ScriptEnd): Proof {
  return { exitCode, output, durationMs };
}
