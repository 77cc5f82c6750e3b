import { COORDINATOR } from '#lib/kernel';
import type { Cycle } from './find-cycles.js';
import type { Transition } from '#lib/transitions/domain';

/** Maximum number of ids of a cycle in an event or a log line: 36 KiB. */
const IDS_LISTED = 1_000;
/** Maximum number of ids in a message. */
const IDS_NAMED = 5;

/** A cycle as events and logs contain it. `length` is the length of the whole cycle. */
export interface ShortenedCycle {
  /** From a task back to itself, unless the path is cut off. */
  path: string[];
  /** All tasks of the cycle. */
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

/** Each task of the cycle fails, because none of them can ever begin. */
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
