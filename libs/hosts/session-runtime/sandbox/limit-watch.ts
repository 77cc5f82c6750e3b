import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Exceeded } from '../drivers/driver.js';
import { descendantsOf } from '../process/process-tree.js';
import { measureFolder } from './folder-size.js';
import type { SessionLimits } from './limits.js';

const LOOK_EVERY_MS = 1_000;
/** Looks and measurements take at most this share of a core each. */
const SHARE = 0.05;
/** How often a small folder is measured, and the largest one. */
const MEASURE_SMALL_MS = 2_000;
const MEASURE_LARGE_MS = 30_000;
const MIB = 1_048_576;

/** A session whose limits this process watches. */
export interface WatchedSession {
  /** The process above all of its processes. */
  pid: number;
  /** Its folder. */
  root: string;
  limits: Pick<SessionLimits, 'memoryMb' | 'diskMb'>;
  /** The control group that limits its memory, if there is one. */
  memoryGroup?: string;
}

/**
 * Watches the limits of a session that no kernel enforces: the size of its folder, and without a control
 * group its memory. It looks once a second. It measures a small folder every 2 s and a large one every
 * 30 s, and earlier when the file system has lost as much space as the session has left.
 */
export class LimitWatch {
  private readonly stopped = new AbortController();
  private folderBytes = 0;
  private usedThen: number;
  private measuredAt = performance.now();
  private measureAfterMs = MEASURE_SMALL_MS;

  constructor(private readonly session: WatchedSession) {
    this.usedThen = usedBytesOf(session.root);
  }

  /** @returns the limit that the session exceeded; undefined once the watch is stopped */
  async run(): Promise<Exceeded | undefined> {
    const { memoryMb, diskMb } = this.session.limits;
    let waitMs = LOOK_EVERY_MS;
    while (await this.pause(waitMs)) {
      const begun = performance.now();
      if (memoryMb > 0 && this.hasTooMuchMemory(memoryMb)) return { limit: 'memory', mb: memoryMb };
      if (diskMb > 0 && (await this.hasTooMuchDisk(diskMb))) return { limit: 'disk', mb: diskMb };
      waitMs = Math.max(LOOK_EVERY_MS, (performance.now() - begun) / SHARE);
    }
    return undefined;
  }

  stop(): void {
    this.stopped.abort();
  }

  /** @returns whether to continue */
  private async pause(ms: number): Promise<boolean> {
    await delay(ms, undefined, { signal: this.stopped.signal }).catch(() => undefined);
    return !this.stopped.signal.aborted;
  }

  private hasTooMuchMemory(memoryMb: number): boolean {
    const { pid, memoryGroup } = this.session;
    if (memoryGroup !== undefined && existsSync(memoryGroup)) return false;
    const pids = descendantsOf(pid);
    // The first sum counts shared pages several times and costs little, the second one is exact.
    return [residentBytes, proportionalBytes].every((bytesOf) => {
      return pids.reduce((sum, one) => sum + bytesOf(one), 0) > memoryMb * MIB;
    });
  }

  private async hasTooMuchDisk(diskMb: number): Promise<boolean> {
    const { root: path, pid } = this.session;
    const most = diskMb * MIB;
    const used = usedBytesOf(path);
    const mayExceed = this.folderBytes + used - this.usedThen > most;
    if (!mayExceed && performance.now() - this.measuredAt < this.measureAfterMs) return false;
    const begun = performance.now();
    const pids = descendantsOf(pid);
    this.folderBytes = await measureFolder({ path, most, pids });
    this.usedThen = used;
    this.measuredAt = performance.now();
    const pauseMs = (this.measuredAt - begun) / SHARE;
    this.measureAfterMs = Math.min(Math.max(pauseMs, MEASURE_SMALL_MS), MEASURE_LARGE_MS);
    return this.folderBytes > most;
  }
}

function usedBytesOf(path: string): number {
  try {
    const { blocks, bfree, bsize } = statfsSync(path);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}

/** Memory that only processes hold: no pages of files. */
function residentBytes(pid: number): number {
  return kilobytesIn(`/proc/${pid}/status`, /^Rss(?:Anon|Shmem):\s+(\d+) kB/gm) * 1024;
}

/** A process can close these figures to this user; then its shared pages count in full. */
function proportionalBytes(pid: number): number {
  const fields = /^Pss_(?:Anon|Shmem):\s+(\d+) kB/gm;
  return kilobytesIn(`/proc/${pid}/smaps_rollup`, fields) * 1024 || residentBytes(pid);
}

function kilobytesIn(file: string, fields: RegExp): number {
  try {
    const found = readFileSync(file, 'utf8').matchAll(fields);
    return [...found].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0);
  } catch {
    return 0;
  }
}
