import type { AgentCaller, Caller, FieldError, RunCaller } from '#lib/kernel';
import type { TaskRequest } from './new-task.js';

/** A task that will have subtasks. */
export interface Parent {
  run_id: string | null;
  agent_id: string | null;
  priority: number;
  project_id: string | null;
  milestone_id: string | null;
  /** Number of its ancestors. 0 for a task of a person. */
  depth: number;
}

export interface Invalid {
  kind: 'invalid';
  errors: FieldError[];
}

export interface SubtaskLimits {
  /** Maximum number of ancestors. 0 means no subtasks. */
  maxSubtaskDepth: number;
  /** Maximum number of subtasks of one task, finished ones included. */
  maxSubtasksPerTask: number;
}

/** A request for tasks, with the client's names for their fields. */
export interface Requested {
  tasks: readonly TaskRequest[];
  fieldOf: (index: number) => string;
}

export type Creator = AgentCaller | RunCaller;

/** Agents and runs create subtasks of their own task. People create other tasks. */
export function isCreatorOfSubtasks(caller: Caller): caller is Creator {
  return caller.kind === 'agent' || caller.kind === 'run';
}

/** Why people cannot request this. */
export function whyNoSubtasks({ tasks, fieldOf }: Requested): FieldError[] {
  return tasks.flatMap((task, index) =>
    (['parentTaskId', 'blocksParent'] as const)
      .filter((field) => task[field] !== undefined)
      .map((field) => ({
        field: `${fieldOf(index)}${field}`,
        message: 'is for agents and runs, which name the task that they work on',
      })),
  );
}

/** The single parent of all these tasks, or why there is none. */
export function parentNamed(
  caller: Creator,
  { tasks, fieldOf }: Requested,
): { kind: 'parent'; id: string } | Invalid {
  const own = caller.kind === 'run' ? caller.taskId : tasks[0]?.parentTaskId?.toLowerCase();
  const message =
    caller.kind === 'run'
      ? 'must be the task of the run, or be left out'
      : 'must be the task that you hold, the same for all of a batch';
  const errors = tasks.flatMap(({ parentTaskId }, index) => {
    const named = parentTaskId?.toLowerCase() ?? (caller.kind === 'run' ? own : undefined);
    const isOwn = named !== undefined && named === own;
    return isOwn ? [] : [{ field: `${fieldOf(index)}parentTaskId`, message }];
  });
  return errors.length > 0 || own === undefined
    ? { kind: 'invalid', errors }
    : { kind: 'parent', id: own };
}

export type Holding = 'live' | 'stale' | 'unseen';

/** Whether the caller holds the task. */
export function holdingOf(caller: Creator, parent: Parent | undefined): Holding {
  if (parent === undefined) return 'unseen';
  if (caller.kind === 'run') return parent.run_id === caller.runId ? 'live' : 'stale';
  if (parent.agent_id !== caller.agentId) return 'unseen';
  return parent.run_id === null ? 'stale' : 'live';
}

/**
 * The tasks as subtasks: in the parent's project, and at most as urgent.
 *
 * @returns why not, for each field that exceeds it
 */
export function asSubtasks(
  { tasks, fieldOf }: Requested,
  parentTaskId: string,
  parent: Parent,
): { kind: 'tasks'; tasks: TaskRequest[] } | Invalid {
  const given = { projectId: parent.project_id, milestoneId: parent.milestone_id };
  const errors = tasks.flatMap((task, index) => {
    const refused: FieldError[] = [];
    if ((task.priority ?? 1) > parent.priority) {
      const message = `must not be above that of its parent task, ${parent.priority}`;
      refused.push({ field: `${fieldOf(index)}priority`, message });
    }
    for (const field of ['projectId', 'milestoneId'] as const) {
      const asked = task[field]?.toLowerCase();
      if (asked === undefined || asked === given[field]) continue;
      const message = 'must be that of its parent task, or be left out';
      refused.push({ field: `${fieldOf(index)}${field}`, message });
    }
    return refused;
  });
  if (errors.length > 0) return { kind: 'invalid', errors };
  const inherited = Object.fromEntries(Object.entries(given).filter(([, id]) => id !== null));
  const filledIn = (task: TaskRequest) => {
    const { priority = parent.priority } = task;
    return { ...task, priority, ...inherited, parentTaskId };
  };
  return { kind: 'tasks', tasks: tasks.map(filledIn) };
}

/** Why the task can have no further subtasks. Null if it can. */
export function whyTooMany(
  { depth, subtasks }: { depth: number; subtasks: number },
  { maxSubtaskDepth, maxSubtasksPerTask }: SubtaskLimits,
): string | null {
  if (depth > maxSubtaskDepth) {
    return `They would be ${depth} levels below the first task; ${maxSubtaskDepth} are allowed.`;
  }
  if (subtasks > maxSubtasksPerTask) {
    return `The task would have more than ${maxSubtasksPerTask} subtasks.`;
  }
  return null;
}
