import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';

const CHUNK = 4 * 1_048_576;

/**
 * Returns the processes below a worker that are in a sandbox, by their own namespace of processes.
 */
export function processesInSandboxes(worker: number): number[] {
  const all = readdirSync('/proc').map(Number).filter(Boolean);
  const parents = new Map(all.map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number | undefined): boolean =>
    pid === worker || (pid !== undefined && isBelow(parents.get(pid)));
  const own = readlinkSync('/proc/self/ns/pid');
  return all.filter((pid) => isBelow(pid) && ![undefined, own].includes(namespaceOf(pid)));
}

/**
 * True if a process has the text anywhere in its readable memory. A core has the same pages, and
 * nothing else of the process.
 */
export function hasInMemory(pid: number, text: string): boolean {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n');
    return maps.some((line) => {
      const [, from = '', to = '', rights] = /^(\w+)-(\w+) (\S+)/.exec(line) ?? [];
      if (!rights?.startsWith('r')) return false;
      return contains(memory, [Number(`0x${from}`), Number(`0x${to}`)], text);
    });
  } finally {
    closeSync(memory);
  }
}

/** Parts overlap, so that none cuts the text in two. */
function contains(memory: number, [from, to]: [from: number, to: number], text: string): boolean {
  for (let at = from; at < to; at += CHUNK) {
    const part = Buffer.alloc(Math.min(CHUNK + text.length, to - at));
    try {
      if (part.subarray(0, readSync(memory, part, 0, part.length, at)).includes(text)) return true;
    } catch {
      // Pages of the kernel and ends of files cannot be read.
    }
  }
  return false;
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}
