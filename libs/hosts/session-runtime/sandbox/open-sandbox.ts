import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import type { Command } from '../drivers/driver.js';
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

/** No shell ends with this number by itself. */
const CANNOT_ENTER = 77;

/**
 * Starts a session of this host that enters its own folder.
 *
 * @returns undefined when it ran, else the reason why it did not, as in "since …"
 */
export async function whyNoSession(trial: Trial): Promise<string | undefined> {
  try {
    await mkdir(trial.dir, { recursive: true, mode: 0o700 });
    // The session's user passes through the folder, and cannot list it. A sandbox has its own.
    if (trial.user && !trial.sandbox) await chmod(trial.dir, 0o711);
    const { exitCode, signal } = await inFolderWithin(trial.dir, (dir) =>
      enterFolder({ ...trial, dir }),
    );
    if (exitCode === 0) return undefined;
    return exitCode === CANNOT_ENTER
      ? `the user of a session cannot enter ${trial.dir}: let all users pass through its parents (chmod o+x)`
      : `a trial session ended with ${exitCode ?? signal}`;
  } catch (error) {
    return asClause((error as Error).message);
  }
}

/** The sentence with a small letter, unless it begins with a name such as EACCES. */
function asClause(sentence: string): string {
  return sentence.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

async function inFolderWithin<T>(parent: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(parent, 'trial-'));
  try {
    return await work(dir);
  } finally {
    await removeTree(dir);
  }
}

async function enterFolder({ sandbox, dir, searchPath, user }: Trial) {
  const sessionId = newId();
  const folder = SessionFolder.create(dir, sessionId, []);
  if (user !== undefined) {
    SessionFolder.letThrough(dir);
    folder.handOver(user);
  }
  const { root, launch, tmp, work: cwd } = folder;
  const places = { dir, root, launch, tmp, searchPath, user };
  // A session without a sandbox starts in its folder before it becomes the user.
  const command: Command = ['sh', '-c', `cd -- "$1" || exit ${CANNOT_ENTER}`, 'sh', cwd];
  const first = await FirstProcess.start(
    { sessionId, cwd, user, sandbox: sandbox && sandboxLaunch(sandbox, places) },
    { program: '/bin/sh', command, env: {} },
  );
  const nowhere = { write: () => undefined, note: () => undefined, end: () => undefined };
  return first.follow(folder, nowhere, new Throttle(MAX_BYTES_PER_SECOND));
}
