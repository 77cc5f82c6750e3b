import { release } from 'node:os';
import { type ControlGroups, joinGroups } from './control-group.js';
import type { SessionLimits } from './limits.js';

/** Data that Node 24 and its threads reserve and do not use, in MiB; a limit on data counts it. */
const RESERVED_BY_NODE = 640;
/** Without control groups the programs of this machine's own precede sessions. */
const NICENESS = 10;
/** From this kernel on, each user namespace counts its own processes, and so each sandbox does. */
const COUNTS_BY_SANDBOX = [5, 14] as const;

/**
 * The script of a shell that limits itself and becomes its arguments. It puts itself into the control
 * groups that `makeGroups` made. If there are none, or it cannot have them, it limits the data of each
 * of its processes. Its name `$0` is the program that gives it a keyring of its own; it goes on without
 * one that does not run.
 */
export function limitingScript(limits: SessionLimits, groups?: ControlGroups): string {
  const { memoryMb, openFiles } = limits;
  const kilobytes = (memoryMb + RESERVED_BY_NODE) * 1024;
  const inGroups = groups === undefined ? ['false'] : joinGroups(groups);
  const otherwise = [
    quietly(`renice -n ${NICENESS} -p $$ >&2`),
    ...(memoryMb > 0 ? [quietly(`ulimit -d ${kilobytes}`)] : []),
    'true',
  ];
  return [
    quietly('ulimit -c 0'),
    ...(openFiles > 0 ? [quietly(`ulimit -n ${openFiles}`)] : []),
    `${quietly(inGroups.join(' && '))} || { ${otherwise.join('; ')}; }`,
    `${quietly('[ -x "$0" ] && "$0" /bin/true')} && exec "$0" "$@"`,
    'exec "$@"',
  ].join('; ');
}

/**
 * The start of a command, which bounds the processes of a sandbox from within.
 *
 * @param countedBy `sandbox`: kernels since 5.14 count the processes of each user namespace. `account`: all
 *   kernels count the processes of a user, here of one workspace. Otherwise the count of one workspace could
 *   refuse another one, and nothing is bounded
 */
export function limitProcesses(
  { processes }: SessionLimits,
  countedBy: 'sandbox' | 'account' | undefined,
): string[] {
  const isCounted = countedBy === 'account' || (countedBy === 'sandbox' && countsBySandbox());
  if (processes === 0 || !isCounted) return [];
  // Shells use different letters.
  const script = `${quietly(`ulimit -u ${processes} || ulimit -p ${processes}`)}; exec "$@"`;
  return ['/bin/sh', '-c', script, 'sh'];
}

/** True if the kernel counts the processes of each sandbox separately. */
export function countsBySandbox(version = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needed, neededMinor] = COUNTS_BY_SANDBOX;
  return major > needed || (major === needed && minor >= neededMinor);
}

/** A limit that cannot be set is left as it is. */
function quietly(text: string): string {
  return `{ ${text}; } 2>/dev/null`;
}
