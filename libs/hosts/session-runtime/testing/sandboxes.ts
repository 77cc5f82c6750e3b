import { tmpdir } from 'node:os';
import { findBubblewrap } from '#lib/local-servers';
import { NO_LIMITS } from '../sandbox/limits.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { whyNoSession } from '../sandbox/open-sandbox.js';

/**
 * Where specs keep folders of hosts that must not be below /dev/shm, as temporary files can be: files
 * there count as memory, and a session expects its own /dev/shm to be empty.
 */
export const ON_DISK = '/var/tmp';

/** A sandbox without limits; undefined if this machine cannot create one. */
export async function testSandbox(more: Partial<Sandbox> = {}): Promise<Sandbox | undefined> {
  const program = await findBubblewrap().catch((error: Error) => noSandbox(error.message));
  if (program === undefined) return undefined;
  const sandbox: Sandbox = {
    program,
    hidden: [],
    shown: [],
    network: 'host',
    allowedHosts: [],
    privateHosts: [],
    limits: NO_LIMITS,
    maxLimits: NO_LIMITS,
    ...more,
  };
  const why = await whyNoSession({ dir: tmpdir(), sandbox, searchPath: '/usr/bin:/bin' });
  return why === undefined ? sandbox : noSandbox(why);
}

/** Variables for a built worker or gateway. Without them its environment turns the sandbox off. */
export function variablesOf({ program: { file, env } }: Sandbox): Record<string, string> {
  return {
    DROVER_SANDBOX: 'required',
    DROVER_SANDBOX_PROGRAM: file,
    DROVER_SANDBOX_LIBRARIES: env['LD_LIBRARY_PATH'] ?? '',
  };
}

function noSandbox(why: string): undefined {
  process.stderr.write(`No sandbox: ${why}\n`);
}
