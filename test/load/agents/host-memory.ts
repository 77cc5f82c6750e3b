import { readdirSync, readFileSync } from 'node:fs';

/** In MB. A page that several processes share counts once. */
export interface HostMemory {
  host: number;
  /** The processes of its sandboxes, without the programs of agents and what these have started. */
  sandboxes: number;
}

/** @param program a part of the command line of an agent's program */
export function hostMemory(pid: number, program: string): HostMemory {
  const children = childrenByParent();
  let sandboxes = 0;
  for (const each of below(pid, children, program)) sandboxes += proportional(each);
  return { host: proportional(pid), sandboxes };
}

function* below(
  pid: number,
  children: ReadonlyMap<number, number[]>,
  program: string,
): Iterable<number> {
  for (const child of children.get(pid) ?? []) {
    if (commandOf(child).some((word) => word.includes(program))) continue;
    yield child;
    yield* below(child, children, program);
  }
}

/** The words that name the program. The command of a sandbox names all folders that it shows. */
function commandOf(pid: number): string[] {
  return readOr(`/proc/${pid}/cmdline`).split('\0').slice(0, 2);
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = Number(/^PPid:\s+(\d+)$/m.exec(readOr(`/proc/${name}/status`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

function proportional(pid: number): number {
  return (
    Number(/^Pss:\s+(\d+) kB$/m.exec(readOr(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 0.001_024
  );
}

/** Empty for a process that has ended. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
