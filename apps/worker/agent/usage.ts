import { readFileSync } from 'node:fs';
import { listProcesses } from '#lib/session-runtime';

/** Linux reports times in hundredths of a second on every architecture. */
const TICKS_PER_SECOND = 100;

export interface Usage {
  memoryMb: number;
  /** Percent of one core. It is above 100 if several cores are in use. */
  cpuPercent: number;
}

/**
 * Measures the use of this process and its descendants: current memory, and processor time since
 * the last sample.
 */
export class UsageMeter {
  private readonly seen = new Map<number, { startTicks: number; ticks: number }>();
  /** The time of the last sample. The first one counts from the start of this process. */
  private at = 0;

  sample(): Usage {
    const family = descendants(process.pid);
    const now = performance.now();
    const elapsed = Math.max((now - this.at) / 1000, 0.001);
    this.at = now;
    const seconds = this.ticksSince(family) / TICKS_PER_SECOND;
    const kilobytes = family.reduce((sum, { pid }) => sum + residentKilobytes(pid), 0);
    const own = process.memoryUsage.rss() / 1024;
    return {
      memoryMb: Math.round((family.length === 0 ? own : kilobytes) / 1024),
      cpuPercent: Math.round((seconds / elapsed) * 100),
    };
  }

  private ticksSince(family: Family): number {
    let sum = 0;
    const gone = new Set(this.seen.keys());
    for (const { pid, startTicks, ticks } of family) {
      const before = this.seen.get(pid);
      sum += ticks - (before?.startTicks === startTicks ? before.ticks : 0);
      this.seen.set(pid, { startTicks, ticks });
      gone.delete(pid);
    }
    for (const pid of gone) this.seen.delete(pid);
    return sum;
  }
}

type Family = ReturnType<typeof listProcesses>;

function descendants(root: number): Family {
  const children = new Map<number, Family>();
  const processes = listProcesses();
  for (const one of processes) {
    const siblings = children.get(one.parent);
    if (siblings === undefined) children.set(one.parent, [one]);
    else siblings.push(one);
  }
  const family = processes.filter((one) => one.pid === root);
  for (let at = 0; at < family.length; at += 1) {
    family.push(...(children.get(family[at]?.pid ?? 0) ?? []));
  }
  return family;
}

function residentKilobytes(pid: number): number {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(found?.[1] ?? 0);
  } catch {
    return 0;
  }
}
