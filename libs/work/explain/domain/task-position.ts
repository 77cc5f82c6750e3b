import type { Kind, Places, Position, SimulatedTask } from './estimate.js';
import type { AgentGroup, PauseFacts, SpawnFacts } from './explain-facts.js';
import { HELD_BACK } from './explain.js';
import type { TaskStatus } from '#lib/transitions/domain';
import type { HoldCode } from '#lib/runs';
import type { DependencyPolicy } from '#lib/task-manager/domain';

/** The data of a task for its estimate. */
export interface TaskOnItsWay {
  status: TaskStatus;
  retryAt: Date | null;
  queueExpiresAt: Date | null;
  unmetDependencies: number;
  /** Its start, while it waits for it. */
  awaitedStart: Date | null;
  /** Its concurrency key, while it waits for a slot of it. */
  awaitedKey: string | null;
  /** Everything that holds it back, or would if it were PENDING. */
  heldBack: readonly HoldCode[];
  assignedAt: Date | null;
  startedAt: Date | null;
}

/** The tasks that rank before one, by kind, and those that hold its possible slots. */
export interface LineFacts {
  ahead: { kind: string; count: number }[];
  /** Counting stopped: there are more. */
  isMore: boolean;
  held: { kind: string; elapsedSeconds: number }[];
}

export interface Circumstances {
  now: Date;
  pauses: readonly PauseFacts[];
  agents: readonly AgentGroup[];
  spawning: SpawnFacts | null;
  /** The line of a ready task. */
  line: LineFacts;
  /** The tasks that it waits for. Null means too many to consider. */
  after: readonly SimulatedTask[] | null;
  /** By the name of a kind. One without data counts as the task's own. */
  kindOf: (name: string) => Kind;
}

/** The position of a task for the estimate of its start and end. */
export function positionOf(task: TaskOnItsWay, around: Circumstances): Position {
  switch (task.status) {
    case 'ASSIGNED':
    case 'RUNNING': {
      const since = task.startedAt ?? task.assignedAt ?? around.now;
      return { kind: 'running', elapsedSeconds: secondsBetween(since, around.now) };
    }
    case 'PAUSED':
      return { kind: 'unknown', reason: 'paused' };
    case 'PENDING':
      return waitingPosition(task, around);
    case 'ABORTED':
      return task.retryAt ? waitingPosition(task, around) : { kind: 'unknown', reason: 'ended' };
    case 'FAILED':
    case 'COMPLETED':
    case 'ARCHIVED':
      return { kind: 'unknown', reason: 'ended' };
  }
}

/** A task as seen by one that waits for it. */
export function asPrerequisite(
  simulated: SimulatedTask,
  how: { completed: boolean; endedWithoutSuccess: boolean; policy: DependencyPolicy },
): SimulatedTask {
  if (how.completed || (how.endedWithoutSuccess && how.policy === 'ignore')) {
    return { ...simulated, position: { kind: 'over' } };
  }
  if (!how.endedWithoutSuccess) return simulated;
  return { ...simulated, position: { kind: 'unknown', reason: 'dependency_failed' } };
}

function waitingPosition(task: TaskOnItsWay, around: Circumstances): Position {
  const { pauses, now, after, line } = around;
  const isOver = task.queueExpiresAt !== null && task.queueExpiresAt <= now;
  if (isOver) return { kind: 'unknown', reason: 'ended' };
  if (pauses.some(({ until }) => until === null)) return { kind: 'unknown', reason: 'paused' };
  const isUnforeseen = task.heldBack.some((code) => !HELD_BACK[code].isForeseen);
  if (isUnforeseen || task.awaitedKey !== null) return { kind: 'unknown', reason: 'held_back' };
  const places = placesOf(around);
  const rates = ratesOf(around);
  const isForbidden = rates.some(({ nextAt }) => nextAt === null);
  if (places.all === 0) return { kind: 'unknown', reason: 'no_agent' };
  if (isForbidden) return { kind: 'unknown', reason: 'spawn_rate' };
  if (after === null) return { kind: 'unknown', reason: 'too_many_dependencies' };
  const starts = [
    ...pauses.map(({ until }) => new Date(until ?? now)),
    ...rates.map(({ nextAt }) => nextAt ?? now),
    ...(task.retryAt ? [task.retryAt] : []),
    ...(task.awaitedStart ? [task.awaitedStart] : []),
  ];
  if (starts.length > 0 || task.unmetDependencies > 0) {
    const fromSeconds = Math.max(0, ...starts.map((start) => secondsBetween(now, start)));
    return { kind: 'later', fromSeconds, after, places };
  }
  if (line.isMore) return { kind: 'unknown', reason: 'too_far_back' };
  return { kind: 'queued', line: inLine(places, around), places };
}

/**
 * Exhausted spawn rates if only push agents could take it. While some agents are full, only a rate
 * of 0, because other rates allow a spawn before a slot is free.
 */
function ratesOf({ agents, spawning }: Circumstances): SpawnFacts['rates'] {
  const full = agents.filter(({ availability }) => availability === 'full');
  const isPulled = full.some(({ places, pushPlaces }) => places > pushPlaces);
  const others = isPulled || agents.some(({ availability }) => availability === 'free');
  if (others || spawning === null) return [];
  return spawning.rates.filter(({ nextAt }) => full.length === 0 || nextAt === null);
}

function inLine(places: Places, { line, kindOf }: Circumstances) {
  const known = (name: string) => kindOf(name).durations;
  return {
    freePlaces: places.free,
    held: line.held.flatMap(({ kind: name, elapsedSeconds }) => {
      const kind = known(name);
      return kind ? [{ kind, elapsedSeconds }] : [];
    }),
    ahead: line.ahead.flatMap(({ kind: name, count }) => {
      const kind = known(name);
      return kind ? [{ kind, count }] : [];
    }),
  };
}

/** Push agents have no more free slots than the gateways, and none while no gateway is heard. */
function placesOf({ agents, spawning }: Circumstances): Places {
  const canSpawn = spawning === null || (spawning.configured && spawning.gateways > 0);
  const places = { all: 0, free: 0 };
  for (const { availability, places: all, freePlaces, pushPlaces } of agents) {
    const isPush = availability === 'assignable';
    const counts = availability === 'free' || availability === 'full' || (isPush && canSpawn);
    if (!counts) continue;
    places.all += canSpawn ? all : all - pushPlaces;
    places.free += isPush && spawning ? Math.min(freePlaces, spawning.room) : freePlaces;
  }
  return places;
}

function secondsBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / 1_000;
}
