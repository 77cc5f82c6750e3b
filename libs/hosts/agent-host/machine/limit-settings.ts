import { wholeNumber } from '#lib/env';
import {
  capLimits,
  type ControlGroups,
  countsBySandbox,
  findGroups,
  findQuotas,
  type FolderQuotas,
  LOWEST_LIMITS,
  type Sandbox,
  type SessionLimits,
} from '#lib/session-runtime';
import { z } from 'zod';

const [MOST_MB, MOST_PROCESSES, MOST_FILES] = [16_777_216, 4_194_304, 1_048_576];

/** The variables about the limits of sessions. */
export const LIMIT_VARIABLES = {
  /** Memory of a run that asks for none, at least 128 MiB; 0: no limit. */
  DROVER_SANDBOX_MEMORY_MB: limit('memoryMb', MOST_MB).default(4_096),
  /** Processes and threads of a run that asks for none, at least 48; 0: no limit. */
  DROVER_SANDBOX_PROCESSES: limit('processes', MOST_PROCESSES).default(512),
  /** Size of the folder of a run that asks for none; 0: no limit. */
  DROVER_SANDBOX_DISK_MB: limit('diskMb', MOST_MB).default(10_240),
  /** Open files of each process of a run that asks for none, at least 64; 0: no limit. */
  DROVER_SANDBOX_OPEN_FILES: limit('openFiles', MOST_FILES).default(1_024),
  /** Memory that a task can ask for; 0: any. Default: DROVER_SANDBOX_MEMORY_MB. */
  DROVER_SANDBOX_MAX_MEMORY_MB: limit('memoryMb', MOST_MB).optional(),
  /** Processes that a task can ask for; 0: any. Default: DROVER_SANDBOX_PROCESSES. */
  DROVER_SANDBOX_MAX_PROCESSES: limit('processes', MOST_PROCESSES).optional(),
  /** Size of the folder that a task can ask for; 0: any. Default: DROVER_SANDBOX_DISK_MB. */
  DROVER_SANDBOX_MAX_DISK_MB: limit('diskMb', MOST_MB).optional(),
  /** Open files that a task can ask for; 0: any. Default: DROVER_SANDBOX_OPEN_FILES. */
  DROVER_SANDBOX_MAX_OPEN_FILES: limit('openFiles', MOST_FILES).optional(),
};

/** Whole numbers of at least what a Node program needs, or 0. */
function limit(name: keyof SessionLimits, most: number) {
  const lowest = LOWEST_LIMITS[name];
  return wholeNumber(0, most).refine(
    (value) => value === 0 || value >= lowest,
    `must be 0 (no limit) or at least ${lowest}`,
  );
}

type Variables = z.infer<z.ZodObject<typeof LIMIT_VARIABLES>>;

/** A maximum also bounds the runs that ask for nothing. */
export function limitSettings(env: Variables): Pick<Sandbox, 'limits' | 'maxLimits'> {
  const limits: SessionLimits = {
    memoryMb: env.DROVER_SANDBOX_MEMORY_MB,
    processes: env.DROVER_SANDBOX_PROCESSES,
    diskMb: env.DROVER_SANDBOX_DISK_MB,
    openFiles: env.DROVER_SANDBOX_OPEN_FILES,
  };
  const maxLimits: SessionLimits = {
    memoryMb: env.DROVER_SANDBOX_MAX_MEMORY_MB ?? limits.memoryMb,
    processes: env.DROVER_SANDBOX_MAX_PROCESSES ?? limits.processes,
    diskMb: env.DROVER_SANDBOX_MAX_DISK_MB ?? limits.diskMb,
    openFiles: env.DROVER_SANDBOX_MAX_OPEN_FILES ?? limits.openFiles,
  };
  return { limits: capLimits(limits, maxLimits), maxLimits };
}

/**
 * The means of the machine to limit sessions, and a description of the limits for the log.
 *
 * @param where.dir the folder that gets a folder for each session
 */
export async function findMeans(
  { limits }: Pick<Sandbox, 'limits'>,
  { dir, searchPath, ...of }: { dir: string; searchPath: string } & SessionAccounts,
): Promise<{ groups?: ControlGroups; quotas?: FolderQuotas; description: string }> {
  const { memoryMb, processes, diskMb, openFiles } = limits;
  const amounts = [
    [memoryMb, `${memoryMb} MiB of memory`],
    [processes, `${processes} processes`],
    [diskMb, `${diskMb} MiB of files`],
    [openFiles, `${openFiles} open files`],
  ] as const;
  const listed = amounts.flatMap(([amount, words]) => (amount > 0 ? [words] : [])).join(', ');
  const { groups, words: ofGroups } = describeGroups(findGroups(), of);
  const { quotas, words: ofQuotas } = describeQuotas(await findQuotas(dir, searchPath));
  return { groups, quotas, description: `${listed || 'none'}; ${ofGroups}; ${ofQuotas}` };
}

/** The users of sessions, which decide whether the kernel counts processes without control groups. */
export interface SessionAccounts {
  /** True if sessions run as other users than the host. */
  hasAccounts: boolean;
  /** True if sessions of different workspaces run as one user. */
  sharesAccount: boolean;
}

export function describeGroups(
  found: ReturnType<typeof findGroups>,
  { hasAccounts, sharesAccount }: SessionAccounts,
) {
  if ('groups' in found) {
    return { groups: found.groups, words: `control groups v${found.groups.version}` };
  }
  // The kernel counts none of root's processes.
  const isCounted = hasAccounts ? !sharesAccount : process.getuid?.() !== 0 && countsBySandbox();
  const counted = isCounted ? '' : ' and processes are not limited';
  const watched = `memory is measured once a second${counted}, since ${found.reason}`;
  return { words: `no control groups: ${watched}` };
}

function describeQuotas(found: Awaited<ReturnType<typeof findQuotas>>) {
  if ('quotas' in found) return { quotas: found.quotas, words: 'quotas of btrfs' };
  return { words: `no quotas: folders are measured, since ${found.reason}` };
}
