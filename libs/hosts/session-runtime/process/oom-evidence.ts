import { readFileSync } from 'node:fs';

/**
 * The number of processes that the kernel has killed for lack of memory so far: in the control
 * group of this process if it is readable, else on the whole machine. Undefined if the kernel does
 * not report it.
 */
export function countOomKills(): number | undefined {
  return groupKills() ?? numberIn('/proc/vmstat', 'oom_kill');
}

/** The same number for one control group of either version; undefined if there is no such group. */
export function oomKillsIn(group: string): number | undefined {
  const files = ['memory.events', 'memory.oom_control'];
  return files.map((file) => numberIn(`${group}/${file}`, 'oom_kill')).find(Number.isFinite);
}

function groupKills(): number | undefined {
  for (const line of read('/proc/self/cgroup').split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === '' && path !== '') {
      const kills = oomKillsIn(`/sys/fs/cgroup${path}`);
      if (kills !== undefined) return kills;
    }
    if (controllers.split(',').includes('memory')) {
      const kills = oomKillsIn(`/sys/fs/cgroup/memory${path}`);
      if (kills !== undefined) return kills;
    }
  }
  return undefined;
}

function numberIn(file: string, name: string): number | undefined {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(read(file));
  return found === null ? undefined : Number(found[1]);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
