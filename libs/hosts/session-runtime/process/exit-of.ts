import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { signalOf } from '#lib/kernel';
import type { SessionExit } from '../driver.js';
import { realtimeSignalOf } from './process-tree.js';

export type FirstExit = Pick<SessionExit, 'exitCode' | 'signal'>;

/**
 * How a child ends. Node tells a realtime signal as exit code 0. The kernel notes what a process dies by before it
 * closes its files, and Node reads what there is before it waits for children: so the end of an output is the moment
 * to look. Where somebody else holds both outputs open, a realtime signal stays exit code 0.
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

/** @param realtime the number of the signal that it was seen to die by */
export function withRealtime(exit: FirstExit, realtime?: number): FirstExit {
  if (realtime === undefined || exit.exitCode !== 0) return exit;
  return { exitCode: null, signal: signalOf(128 + realtime) ?? null };
}
