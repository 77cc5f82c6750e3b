import { COORDINATOR } from '#lib/kernel';
import type { Cycle } from './find-cycles.js';
import type { Transition } from '#lib/transitions/domain';

/** Ids of a cycle that an event or a line of the log carries at most: 36 KiB. */
const IDS_LISTED = 1_000;
/** Ids that a message names. */
const IDS_NAMED = 5;

/** A cycle as events and logs carry it; `length` is that of the whole. */
export interface ShortenedCycle {
  /** From a task back to itself, unless it is cut off. */
  path: string[];
  /** All that were on it. */
  tasks: string[];
  length: number;
}

export function shortened({ members, path }: Cycle): ShortenedCycle {
  return {
    path: path.slice(0, IDS_LISTED + 1),
    tasks: members.slice(0, IDS_LISTED),
    length: members.length,
  };
}

/** Each task of the cycle fails: none of them could ever begin. */
export function failuresOf(workspaceId: string, cycle: Cycle): Transition[] {
  const message = `It waits for itself: ${describe(cycle.path)}`;
  const details = { cycleLength: cycle.members.length, path: cycle.path.slice(0, IDS_NAMED * 2) };
  return cycle.members.map((taskId) => ({
    workspaceId,
    taskId,
    to: 'FAILED',
    actor: COORDINATOR,
    reason: 'dependency_cycle',
    level: 'ERROR',
    message,
    details,
    lastError: message,
  }));
}

function describe(path: readonly string[]): string {
  if (path.length <= IDS_NAMED + 1) return path.join(' → ');
  const left = path.length - IDS_NAMED - 1;
  return [...path.slice(0, IDS_NAMED), `(${left} more)`, path.at(-1)].join(' → ');
}
