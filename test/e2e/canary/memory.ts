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

/** The texts that a process has in its readable memory, and the number of bytes that were read. */
export interface SearchedMemory {
  has: string[];
  bytes: number;
}

/**
 * Searches the readable memory of a process. A core has the same pages, and nothing else of the
 * process.
 *
 * @returns undefined if the process has ended
 */
export function searchMemory(pid: number, texts: readonly string[]): SearchedMemory | undefined {
  const maps = orUndefined(() => readFileSync(`/proc/${pid}/maps`, 'latin1'));
  const memory = orUndefined(() => openSync(`/proc/${pid}/mem`, 'r'));
  if (memory === undefined) return undefined;
  const found = new Set<string>();
  let bytes = 0;
  for (const part of partsOf(memory, maps ?? '', Math.max(...texts.map(({ length }) => length)))) {
    bytes += part.length;
    for (const text of texts) if (part.includes(text)) found.add(text);
  }
  closeSync(memory);
  return { has: [...found], bytes };
}

/** Parts overlap, so that none cuts a text in two. */
function* partsOf(memory: number, maps: string, overlap: number): Generator<Buffer> {
  const buffer = Buffer.alloc(CHUNK + overlap);
  for (const [, from, to] of maps.matchAll(/^(\w+)-(\w+) r/gm)) {
    const end = Number(`0x${to}`);
    for (let at = Number(`0x${from}`); at < end; at += CHUNK) {
      const wanted = Math.min(buffer.length, end - at);
      // Pages of the kernel and ends of files cannot be read.
      const read = orUndefined(() => readSync(memory, buffer, 0, wanted, at)) ?? 0;
      yield buffer.subarray(0, read);
    }
  }
}

function parentOf(pid: number): number | undefined {
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return (stat && Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])) || undefined;
}

function namespaceOf(pid: number): string | undefined {
  return orUndefined(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** Processes end at any time. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
