import { statfs } from 'node:fs/promises';
import { isOutOfQuota } from '#lib/kernel';
import { measureFolder } from '#lib/session-runtime';
import type { Outcome } from '../execution/job.js';
import type { RunFailure } from '../api/types.js';

const MIB = 1_048_576;
/** Below this free space a disk counts as full: a run could hardly write its files. */
export const FULL_BYTES = 16 * MIB;
/** Below this free space heartbeats say `degraded`. */
const LOW_BYTES = 100 * MIB;
/** Failures that a full disk can cause. */
const CAUSED: ReadonlySet<RunFailure['class']> = new Set([
  'exit_code',
  'signal',
  'infrastructure',
  'unknown',
]);

/** The free space of the disks on which the worker and its runs write. */
export class DiskSpace {
  private free = Infinity;

  constructor(private readonly folders: readonly string[]) {}

  /** True if a disk was full at the last look. */
  get isFull(): boolean {
    return this.free < FULL_BYTES;
  }

  get isLow(): boolean {
    return this.free < LOW_BYTES;
  }

  /** Free space at the last look, in MiB. */
  get freeMb(): number {
    return Math.floor(this.free / MIB);
  }

  /** Looks at the disks. @returns whether one is full */
  async look(): Promise<boolean> {
    this.free = Math.min(...(await Promise.all(this.folders.map(freeBytes))));
    return this.isFull;
  }

  /**
   * Decides about a failure on a full disk. The machine is at fault if its disk would be full
   * without the run's own files, too, and the run is released. Otherwise the run has filled the
   * disk itself and fails, because it would fill the next worker's disk as well.
   *
   * @param folder the folder of the run, before it is removed
   */
  async attribute(outcome: Outcome, folder: string): Promise<Outcome> {
    if (outcome.kind !== 'failed' || !CAUSED.has(outcome.error.class)) return outcome;
    if (!(await this.look())) return outcome;
    const own = await measureFolder({ path: folder, most: FULL_BYTES, pids: [] });
    if (this.free + own < FULL_BYTES) return { kind: 'displaced' };
    const message = `Its files filled the disk of the worker: ${outcome.error.message}`;
    return { kind: 'failed', error: { ...outcome.error, message, class: 'disk' } };
  }
}

/** True if a file of the worker itself could not be written: a disk or a quota is full. */
export function isNoSpace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ((at as NodeJS.ErrnoException).code === 'ENOSPC' || isOutOfQuota(at)) return true;
  }
  return false;
}

/** Files without blocks end, too. A file system without a fixed number of files reports 0. */
async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder);
    return files > 0 && ffree === 0 ? 0 : bavail * bsize;
  } catch {
    return Infinity;
  }
}
