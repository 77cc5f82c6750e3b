import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import { MAX_BYTES_PER_SECOND, Throttle } from '../output/throttle.js';
import { FirstProcess } from '../process/first-process.js';
import { SessionFolder, type SessionUser } from '../process/session-folder.js';
import { removeTree } from '../remove-tree.js';
import { type Sandbox, sandboxLaunch } from './sandbox.js';

/** As whom, and with which search path, sessions will run. */
export interface Trial {
  searchPath: string;
  user?: SessionUser;
}

/**
 * Whether sessions really run in this sandbox: starts `true` in it.
 *
 * @returns undefined when it does; else why it does not
 */
export async function whyNoSandbox(sandbox: Sandbox, trial: Trial): Promise<string | undefined> {
  const dir = await mkdtemp(join(tmpdir(), 'drover-sandbox-'));
  try {
    const { exitCode, signal } = await runTrue(sandbox, dir, trial);
    return exitCode === 0 ? undefined : `it ended with ${exitCode ?? signal}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await removeTree(dir);
  }
}

async function runTrue(sandbox: Sandbox, dir: string, { searchPath, user }: Trial) {
  const sessionId = newId();
  const folder = SessionFolder.create(dir, sessionId, [], user);
  const { root, launch, tmp, work: cwd } = folder;
  const first = await FirstProcess.start({
    sessionId,
    program: '/bin/true',
    command: ['true'],
    env: {},
    cwd,
    user,
    sandbox: sandboxLaunch(sandbox, {
      dir,
      root,
      launch,
      tmp,
      searchPath,
      asOther: user !== undefined,
    }),
  });
  const nowhere = { write: () => undefined, end: () => undefined };
  return first.follow(folder, nowhere, new Throttle(MAX_BYTES_PER_SECOND));
}
