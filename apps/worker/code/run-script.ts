import { join } from 'node:path/posix';
import { StringDecoder } from 'node:string_decoder';
import { newId, type Reach, reachOf } from '#lib/kernel';
import { makeOwned, removeTree, type RuntimeDriver, type SessionSpec } from '#lib/session-runtime';
import type { RepositoryAccess } from './types.js';

/** The variables of a script. */
export type ScriptAccess = Pick<RepositoryAccess, 'variables' | 'secrets'>;

/** The means to run scripts. */
export interface ScriptHost {
  driver: RuntimeDriver;
  /** The folder with an owned folder for each script that runs, by the id of its session. */
  scripts: string;
}

/** A script in a session of its own. */
export interface Script extends Pick<SessionSpec, 'workspaceId' | 'prepare' | 'borrowed'> {
  text: string;
  timeoutSeconds: number;
  access: ScriptAccess;
  reach: Reach;
  /** Gets the id of the session when it has ended, before its folder is removed. */
  onEnd?: (sessionId: string, exitCode: number) => Promise<void>;
  signal?: AbortSignal;
}

export interface ScriptEnd {
  /** -1: a signal or the timeout ended it. */
  exitCode: number;
  /** The way it ended, as in `ended with 1` and `was ended after its timeout of 60 s`. */
  how: string;
  /** The end of its output. */
  output: string;
  durationMs: number;
}

/** The end of the output that is kept, in characters. */
const MAX_OUTPUT = 60_000;
const GRACE_MS = 5_000;
const HOME = 'home';

/** The variables of a session with a repository. Its own folder is the working folder, and no home. */
export function variablesOf(access: ScriptAccess, folder: string): Record<string, string> {
  return { ...access.variables, ...access.secrets, HOME: join(folder, HOME), CI: 'true' };
}

/** The folder for files of programs, beside the working folder. */
export const HOME_FOLDER = { name: HOME, isFolder: true } as const;

/**
 * Older servers send no `hostLists`. Their `network` and `allowedHosts` are those of the repository
 * alone.
 */
export function reachOfRepository({
  network,
  allowedHosts,
  hostLists,
}: Omit<RepositoryAccess, 'hostLists'> & Partial<RepositoryAccess>): Reach {
  return hostLists ? { network, allowedHosts: hostLists } : reachOf(network, allowedHosts);
}

/**
 * Runs a script with `bash -e` in a clean sandbox.
 *
 * @throws SpawnError, and the error of the signal when it aborts
 */
export async function runScript(
  { driver, scripts }: ScriptHost,
  script: Script,
): Promise<ScriptEnd> {
  const { access, text, timeoutSeconds, onEnd, signal, workspaceId, prepare, borrowed } = script;
  const { reach } = script;
  const id = newId();
  const { folder } = driver.surroundings(id, reach);
  let output = '';
  const take = (words: string): void => {
    output = `${output}${words}`.slice(-2 * MAX_OUTPUT);
  };
  // Each stream has its own, because a character can be in two chunks.
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  let how = 'was ended by a signal';
  const endAt = (limit: string): void => {
    how = `was ended ${limit}`;
    take(`\nEnded ${limit}\n`);
  };
  signal?.throwIfAborted();
  const owned = join(scripts, id);
  await makeOwned(owned);
  const startedAt = performance.now();
  try {
    const session = await driver.spawn({
      id,
      workspaceId,
      command: ['bash', '-e', join(folder, 'script.sh')],
      env: variablesOf(access, folder),
      files: { DROVER_SCRIPT: { name: 'script.sh', content: text } },
      otherFiles: [HOME_FOLDER],
      samePath: true,
      ...reach,
      borrowed,
      prepare,
      secrets: Object.values(access.secrets),
      output: {
        write: (stream, chunk) => take(decoders[stream].write(chunk)),
        note: (words) => take(`${words}\n`),
        end: () => undefined,
      },
    });
    const stop = (): void => session.stop(GRACE_MS);
    const timer = setTimeout(() => {
      endAt(`after its timeout of ${timeoutSeconds} s`);
      stop();
    }, timeoutSeconds * 1_000);
    signal?.addEventListener('abort', stop, { once: true });
    // It can abort while the session starts.
    if (signal?.aborted) stop();
    const exit = await session.exit;
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    signal?.throwIfAborted();
    const exitCode = exit.exitCode ?? -1;
    if (exit.exceeded !== undefined)
      endAt(`because it exceeded its limit of ${exit.exceeded.limit}`);
    if (exitCode !== -1) how = `ended with ${exitCode}`;
    await onEnd?.(id, exitCode);
    const durationMs = Math.round(performance.now() - startedAt);
    return { exitCode, how, output: output.slice(-MAX_OUTPUT), durationMs };
  } finally {
    await driver.remove(id);
    await removeTree(owned);
  }
}
