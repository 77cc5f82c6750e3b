import { Random } from './random.js';
import { LOCK_TTL_SECONDS, SERVERS, STALE_SECONDS, WORKERS } from './settings.js';

/** The resource that a fault occupies. Two faults at once cannot use the same one. */
type Need =
  | 'worker'
  | 'workers'
  | 'server'
  | 'servers'
  | 'gateway'
  | 'valkey'
  | 'postgres'
  | 'nothing';

interface Kind {
  needs: Need;
  /** The length of the fault in seconds: minimum, maximum. */
  lasts: readonly [number, number];
}

const STALE = STALE_SECONDS;
const LEADER_STOPS = 3 * LOCK_TTL_SECONDS;

/** Every kind of fault with its targets. `lasts` is the time between doing and undoing it. */
export const KINDS = {
  worker_killed: { needs: 'worker', lasts: [0.2, 3] },
  worker_killed_for_long: { needs: 'worker', lasts: [STALE + 2, STALE + 6] },
  worker_lost: { needs: 'worker', lasts: [0.2, 3] },
  worker_stopped: { needs: 'worker', lasts: [STALE + 2, STALE + 6] },
  worker_drained: { needs: 'worker', lasts: [0.2, 2] },
  all_workers_killed: { needs: 'workers', lasts: [0.5, 4] },
  server_killed: { needs: 'server', lasts: [0.2, 4] },
  server_restarted: { needs: 'server', lasts: [0, 1] },
  servers_killed: { needs: 'servers', lasts: [0.2, 3] },
  leader_stopped: { needs: 'servers', lasts: [LEADER_STOPS, LEADER_STOPS] },
  gateway_killed: { needs: 'gateway', lasts: [0.2, 6] },
  gateway_lost: { needs: 'gateway', lasts: [0.2, 3] },
  gateway_stopped: { needs: 'gateway', lasts: [STALE + 2, STALE + 6] },
  valkey_killed: { needs: 'valkey', lasts: [0.2, 6] },
  valkey_flushed: { needs: 'nothing', lasts: [0, 0] },
  valkey_stopped: { needs: 'valkey', lasts: [2, 10] },
  postgres_crashed: { needs: 'postgres', lasts: [0.1, 4] },
  postgres_frozen: { needs: 'postgres', lasts: [1, 6] },
  connections_terminated: { needs: 'nothing', lasts: [0, 0] },
  tasks_locked: { needs: 'postgres', lasts: [1, 4] },
} as const satisfies Record<string, Kind>;

export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

export interface PlannedFault {
  /** The time since the load began. */
  atMs: number;
  kind: FaultKind;
  lastsMs: number;
  /** The index of the victim, if the fault has one. */
  target: number;
}

/** The time between the starts of two faults, in ms. */
const GAP_MS = { min: 1_500, max: 6_000 } as const;
const FIRST_MS = 3_000;
/** A victim that returns needs this time before the next fault. */
const RECOVERS_MS = 2_000;
/** The pause after the end of the last fault. */
const CALM_MS = 2_000;

/**
 * Plans the faults of a run in the order of their starts, depending on the arguments only. Every
 * kind occurs once before any occurs twice, in a new order each time. Faults with different needs
 * overlap.
 */
export function planFaults(seed: number, durationMs: number): PlannedFault[] {
  const random = new Random(seed);
  const busyUntil = new Map<string, number>();
  const planned: PlannedFault[] = [];
  let bag: FaultKind[] = [];
  for (let atMs = FIRST_MS; ; atMs += random.int(GAP_MS.min, GAP_MS.max)) {
    if (bag.length === 0) bag = random.shuffled(FAULT_KINDS);
    const fault = draw(random, bag, { atMs, busyUntil });
    if (atMs + CALM_MS >= durationMs) return planned;
    if (fault === undefined) continue;
    bag = bag.filter((kind) => kind !== fault.kind);
    if (fault.atMs + fault.lastsMs + CALM_MS > durationMs) continue;
    planned.push(fault);
    const until = atMs + fault.lastsMs + RECOVERS_MS;
    for (const name of needsOf(fault)) busyUntil.set(name, until);
  }
}

/** Returns the first kind in the bag whose needs are all free. */
function draw(
  random: Random,
  bag: readonly FaultKind[],
  { atMs, busyUntil }: { atMs: number; busyUntil: ReadonlyMap<string, number> },
): PlannedFault | undefined {
  for (const kind of bag) {
    const [from, to] = KINDS[kind].lasts;
    const lastsMs = random.int(from * 1_000, to * 1_000);
    const target = random.int(0, 5);
    const fault = { atMs, kind, lastsMs, target };
    if (needsOf(fault).every((name) => (busyUntil.get(name) ?? 0) <= atMs)) return fault;
  }
  return undefined;
}

function needsOf({ kind, target }: Pick<PlannedFault, 'kind' | 'target'>): string[] {
  const { needs } = KINDS[kind];
  switch (needs) {
    case 'worker':
      return [`worker ${target % WORKERS}`];
    case 'workers':
      return Array.from({ length: WORKERS }, (_, n) => `worker ${n}`);
    case 'server':
      return [`server ${target % SERVERS}`];
    case 'servers':
      return Array.from({ length: SERVERS }, (_, n) => `server ${n}`);
    case 'nothing':
      return [];
    default:
      return [needs];
  }
}
