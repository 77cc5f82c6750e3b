import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { signalOf } from '#lib/kernel';
import type { SessionExit } from '../drivers/driver.js';
import { realtimeSignalOf } from './process-tree.js';

export type FirstExit = Pick<SessionExit, 'exitCode' | 'signal'>;

/**
 * The end of a child. Node reports a realtime signal as exit code 0. A dying process first records
 * its signal in the kernel, then closes its files. Node reads the end of the output before it waits
 * for the child. The end of an output is therefore the moment to read the signal. If another
 * process holds both outputs open, a realtime signal stays exit code 0.
 */
export function exitOf(child: ChildProcess): Promise<FirstExit> {
  const { pid, stdout, stderr } = child;
  let realtime: number | undefined;
  const look = () => (realtime ??= pid === undefined ? undefined : realtimeSignalOf(pid));
  for (const output of [stdout, stderr] as (Readable | null)[]) output?.once('end', look);
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve(withRealtime({ exitCode, signal }, realtime)));
  });
}

/**
 * @param realtime the number of the signal that was read while the process died
 */
function withRealtime(exit: FirstExit, realtime?: number): FirstExit {
  if (realtime === undefined || exit.exitCode !== 0) return exit;
  return { exitCode: null, signal: signalOf(128 + realtime) ?? null };
}
