import { type Edge, findWay } from '#lib/task-manager/domain';

/** Tasks that wait for each other, so none of them can ever begin. */
export interface Cycle {
  /** Every task of the group, sorted. */
  members: string[];
  /** The shortest cycle through the first member. Its id stands at both ends. */
  path: string[];
}

/**
 * The cycles among the edges: groups of strongly connected tasks, each once, in the order of their
 * first members. Cycles that share a task are one group. Takes linear time in the number of edges,
 * without recursion, so a cycle can have any length.
 */
export function findCycles(edges: readonly Edge[]): Cycle[] {
  const next = neighbours(edges);
  const groups = stronglyConnected(next);
  const groupOf = new Map(groups.flatMap((group, at) => group.map((id) => [id, at] as const)));
  const inside = groups.map((): Edge[] => []);
  for (const edge of edges) {
    const at = groupOf.get(edge[0]);
    if (at !== undefined && at === groupOf.get(edge[1])) inside[at]?.push(edge);
  }
  const cycles = groups.map((group, at) => toCycle(group.sort(), inside[at] ?? []));
  return cycles.sort((one, other) => (String(one.path[0]) < String(other.path[0]) ? -1 : 1));
}

function toCycle(members: string[], edges: readonly Edge[]): Cycle {
  const first = members[0] as string;
  const starts = edges.filter(([from]) => from === first).map(([, to]) => to);
  return { members, path: [first, ...(findWay(edges, starts, first) ?? [])] };
}

function neighbours(edges: readonly Edge[]): Map<string, string[]> {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) {
    const known = next.get(from);
    if (known) known.push(to);
    else next.set(from, [to]);
  }
  return next;
}

interface Visit {
  id: string;
  /** Index of the neighbour to visit next. */
  at: number;
}

/**
 * Tarjan's algorithm with a stack of its own. Groups of one task are left out, because no task
 * waits for itself.
 */
function stronglyConnected(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const walk = new Walk();
  for (const start of next.keys()) {
    if (walk.knows(start)) continue;
    const way: Visit[] = [walk.enter(start)];
    for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
      const to = next.get(here.id)?.[here.at++];
      if (to === undefined) {
        way.pop();
        walk.leave(here.id, way.at(-1)?.id);
      } else if (walk.knows(to)) walk.meet(here.id, to);
      else way.push(walk.enter(to));
    }
  }
  return walk.groups.filter((group) => group.length > 1);
}

class Walk {
  readonly groups: string[][] = [];
  private readonly order = new Map<string, number>();
  /** For each task, the earliest open task in visiting order that can be reached from it. */
  private readonly low = new Map<string, number>();
  private readonly open: string[] = [];
  private readonly isOpen = new Set<string>();

  knows(id: string): boolean {
    return this.order.has(id);
  }

  enter(id: string): Visit {
    this.low.set(id, this.order.size);
    this.order.set(id, this.order.size);
    this.open.push(id);
    this.isOpen.add(id);
    return { id, at: 0 };
  }

  /** Records an edge to a task that was visited before. */
  meet(from: string, to: string): void {
    if (this.isOpen.has(to)) this.lower(from, this.order.get(to) as number);
  }

  leave(id: string, back: string | undefined): void {
    const low = this.low.get(id) as number;
    if (low === this.order.get(id)) this.close(id);
    else if (back !== undefined) this.lower(back, low);
  }

  private close(first: string): void {
    const group = this.open.splice(this.open.lastIndexOf(first));
    for (const id of group) this.isOpen.delete(id);
    this.groups.push(group);
  }

  private lower(id: string, to: number): void {
    this.low.set(id, Math.min(this.low.get(id) as number, to));
  }
}
