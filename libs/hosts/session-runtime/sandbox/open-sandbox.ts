import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { MAX_BYTES_PER_SECOND, Throttle } from '../output/throttle.js';
import { FirstProcess } from '../process/first-process.js';
import { SessionFolder, type SessionUser } from '../process/session-folder.js';
import { removeTree } from '../files/remove-tree.js';
import { type Sandbox, sandboxLaunch } from './sandbox.js';

/** The folder, the user and the search path of future sessions. */
export interface Trial {
  /** The host's folder. The trial makes and removes one of its own in it. */
  dir: string;
  searchPath: string;
  user?: SessionUser;
  sandbox?: Sandbox;
}

/**
 * Starts `true` as a session of this host.
 *
 * @returns undefined when it ran, else the reason why it did not
 */
export async function whyNoSession(trial: Trial): Promise<string | undefined> {
  try {
    await mkdir(trial.dir, { recursive: true, mode: 0o700 });
    // The session's user passes through the folder, and cannot list it. A sandbox has its own.
    if (trial.user && !trial.sandbox) await chmod(trial.dir, 0o711);
    const { exitCode, signal } = await inFolderWithin(trial.dir, (dir) =>
      runTrue({ ...trial, dir }),
    );
    return exitCode === 0 ? undefined : `it ended with ${exitCode ?? signal}`;
  } catch (error) {
    return (error as Error).message;
  }
}

async function inFolderWithin<T>(parent: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(parent, 'trial-'));
  try {
    return await work(dir);
  } finally {
    await removeTree(dir);
  }
}

async function runTrue({ sandbox, dir, searchPath, user }: Trial) {
  const sessionId = newId();
  const folder = SessionFolder.create(dir, sessionId, [], { user });
  const { root, launch, tmp, work: cwd } = folder;
  const places = { dir, root, launch, tmp, searchPath, user };
  const first = await FirstProcess.start({
    sessionId,
    program: '/bin/true',
    command: ['true'],
    env: {},
    cwd,
    user,
    sandbox: sandbox && sandboxLaunch(sandbox, places),
  });
  const nowhere = { write: () => undefined, note: () => undefined, end: () => undefined };
  return first.follow(folder, nowhere, new Throttle(MAX_BYTES_PER_SECOND));
}
