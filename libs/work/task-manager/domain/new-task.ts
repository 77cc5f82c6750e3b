import { newId } from '#lib/kernel';
import type { SecretsInput } from '#lib/secrets';
import { blankOf } from './blank.js';
import { requirementsOf, whyNotRequired } from './requirements.js';
import { whyNoTimes } from './task-times.js';
import {
  EDITABLE,
  FOUND,
  GIVEN,
  type Given,
  GIVEN_ONCE,
  type GivenField,
  TASK_DEFAULTS,
} from './task-fields.js';
import { errorInPermissions } from './task-agent.js';
import type { DependencyPolicy } from './task-view.js';

/** A dependency as a client writes it: an existing task, or one of the same batch by its ref. */
export interface DependencyRequest {
  taskId?: string;
  ref?: string;
  policy?: DependencyPolicy;
}

/** A task in a request. */
export interface TaskRequest extends Partial<Omit<RequestedFields, 'timeoutSeconds'>> {
  /** The client's own name for it within a batch. */
  ref?: string;
  title: string;
  taskType: string;
  /** Null means none, even if there is a default. */
  timeoutSeconds?: number | null;
  queueExpiresInSeconds?: number;
  /** The same as a time. */
  expiresAt?: string;
  /** It starts not before this time (RFC 3339). */
  startAt?: string;
  /** The same from the creation on. */
  delaySeconds?: number;
  tags?: string[];
  /** The only agent that can take it. */
  agentId?: string;
  /** Its parent task. Only agents and runs give it. */
  parentTaskId?: string;
  /** The schedule that creates it, and the due time. Only schedules give them. */
  scheduleId?: string;
  scheduledFor?: string;
  /** After its run, the parent waits until this task has ended. */
  blocksParent?: boolean;
  dependsOn?: (string | DependencyRequest)[];
}

type RequestedFields = { [Field in GivenField]: NonNullable<Given<GivenField>[Field]> };

/** An edge of the new tasks. `dependsOnId` can be in the same batch. */
export interface NewEdge {
  taskId: string;
  dependsOnId: string;
  policy: DependencyPolicy;
}

/** A task before its creation, with an id and all defaults. */
export interface NewTask
  extends
    Omit<TaskRequest, Filled | 'ref' | 'dependsOn' | 'agentId'>,
    Required<Pick<TaskRequest, Filled>> {
  id: string;
  edges: NewEdge[];
  /** The kind of its history by its command, if that is not its type. */
  commandKind?: string | null;
  /** The sealed originals of documents with secrets. The task has the public form. */
  originals?: readonly SecretsInput[];
}

type Filled =
  | keyof typeof TASK_DEFAULTS
  | 'title'
  | 'taskType'
  | 'requiredCapabilities'
  | 'tags'
  | Found;
/** Values that the server finds for a draft (TaskDrafts.estimated). */
type Found = 'estimatedTokens' | 'estimateSource';

export type Draft =
  | { kind: 'ok'; tasks: NewTask[] }
  | { kind: 'invalid'; errors: { field: string; message: string }[] }
  /** The refs (or ids) of a cycle in order, the first one again at the end. */
  | { kind: 'cycle'; path: string[] };

/**
 * Gives the requested tasks their ids and edges. Pure but for the ids.
 *
 * @param fieldOf the path of the task at an index: '' for a single one, `tasks[3].` in a batch
 * @param timeoutSeconds of tasks that name none
 */
export function draftTasks(
  requested: readonly TaskRequest[],
  fieldOf: (index: number) => string,
  timeoutSeconds?: number,
): Draft {
  const ids = requested.map(() => newId());
  const byRef = new Map<string, string>();
  const errors: { field: string; message: string }[] = [];
  requested.forEach(({ ref }, index) => {
    if (ref === undefined) return;
    if (byRef.has(ref))
      errors.push({ field: `${fieldOf(index)}ref`, message: 'must be unique in the batch' });
    byRef.set(ref, ids[index] as string);
  });

  const tasks = requested.map((task, index) => {
    const id = ids[index] as string;
    if (task.milestoneId !== undefined && task.projectId === undefined) {
      const message = 'needs the projectId of its project';
      errors.push({ field: `${fieldOf(index)}milestoneId`, message });
    }
    if (task.acceptanceScript !== undefined && task.repositoryId !== undefined) {
      const message = 'must be absent: the acceptance of the repository proves the task';
      errors.push({ field: `${fieldOf(index)}acceptanceScript`, message });
    }
    const refused = whyNotRequired(task);
    if (refused) errors.push({ ...refused, field: `${fieldOf(index)}${refused.field}` });
    const badRule = errorInPermissions(task);
    if (badRule) errors.push({ ...badRule, field: `${fieldOf(index)}${badRule.field}` });
    const badTimes = whyNoTimes(task, requested.length === 1);
    if (badTimes) errors.push({ ...badTimes, field: `${fieldOf(index)}${badTimes.field}` });
    const edges = new Map<string, NewEdge>();
    task.dependsOn?.forEach((item, position) => {
      const field = `${fieldOf(index)}dependsOn[${position}]`;
      const target = targetOf(item, byRef);
      if ('error' in target) errors.push({ field, message: target.error });
      else if (edges.has(target.id)) errors.push({ field, message: 'names the same task twice' });
      else edges.set(target.id, { taskId: id, dependsOnId: target.id, policy: target.policy });
    });
    const filled = filledIn(task, id, [...edges.values()]);
    if (task.timeoutSeconds === undefined) filled.timeoutSeconds = timeoutSeconds;
    return filled;
  });

  if (errors.length > 0) return { kind: 'invalid', errors };
  const cycle = findCycle(tasks);
  if (!cycle) return { kind: 'ok', tasks };
  const nameOf = new Map(requested.map(({ ref }, index) => [ids[index], ref]));
  return { kind: 'cycle', path: cycle.map((id) => nameOf.get(id) ?? id) };
}

/** With the fields of its row. */
const BLANK = blankOf({
  ...undefinedEach(Object.keys({ ...FOUND, ...GIVEN_ONCE, ...EDITABLE })),
  ...undefinedEach([
    'blocksParent',
    'queueExpiresInSeconds',
    'expiresAt',
    'startAt',
    'delaySeconds',
    'tags',
    'edges',
    'originals',
    'actorKind',
    'actorId',
  ]),
  ...TASK_DEFAULTS,
});

function undefinedEach(names: readonly string[]): Record<string, undefined> {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** Absent fields without a default are undefined. */
function filledIn(task: TaskRequest, id: string, edges: NewEdge[]): NewTask {
  const { queueExpiresInSeconds, tags, parentTaskId, blocksParent, scheduleId, scheduledFor } =
    task;
  const { expiresAt, startAt, delaySeconds, concurrencyKey, concurrencyLimit = 1 } = task;
  const own = {
    queueExpiresInSeconds,
    tags: distinct(tags),
    parentTaskId,
    blocksParent,
    scheduleId,
    scheduledFor,
    expiresAt,
    startAt,
    delaySeconds,
  };
  const filled = { ...BLANK, id, edges, ...own };
  const fields: Record<string, unknown> = filled;
  for (const field of GIVEN) if (task[field] !== undefined) fields[field] = task[field];
  fields['requiredCapabilities'] = requirementsOf(task);
  if (concurrencyKey !== undefined) fields['concurrencyLimit'] = concurrencyLimit;
  return filled as unknown as NewTask;
}

function distinct(values: readonly string[] = []): string[] {
  return [...new Set(values)];
}

type Target = { id: string; policy: DependencyPolicy } | { error: string };

function targetOf(item: string | DependencyRequest, byRef: ReadonlyMap<string, string>): Target {
  const { taskId, ref, policy = 'block' } = typeof item === 'string' ? { taskId: item } : item;
  if ((taskId === undefined) === (ref === undefined))
    return { error: 'must have either taskId or ref' };
  if (taskId !== undefined) return { id: taskId.toLowerCase(), policy };
  const id = byRef.get(ref as string);
  return id === undefined ? { error: 'names no task of this batch' } : { id, policy };
}

/**
 * A cycle among the new tasks, as ids in order with the first again at the end, or null. Existing
 * tasks cannot depend on new ones, so no other cycle is possible.
 */
export function findCycle(
  tasks: readonly { id: string; edges: readonly NewEdge[] }[],
): string[] | null {
  const waiting = tasks.filter((task) => task.edges.length > 0);
  const edges = new Map(
    waiting.map((task) => [task.id, task.edges.map((edge) => edge.dependsOnId)]),
  );
  const done = new Set<string>();
  for (const { id } of waiting) {
    const cycle = walk(id, edges, done);
    if (cycle) return cycle;
  }
  return null;
}

/**
 * Depth first, without recursion, because a chain of a thousand tasks must not exhaust the stack.
 */
function walk(
  start: string,
  edges: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): string[] | null {
  const path: { id: string; next: number }[] = [{ id: start, next: 0 }];
  const onPath = new Set([start]);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const child = done.has(top.id) ? undefined : edges.get(top.id)?.[top.next++];
    if (child === undefined) {
      done.add(top.id);
      onPath.delete(top.id);
      path.pop();
    } else if (onPath.has(child)) {
      const ids = path.map((step) => step.id);
      return [...ids.slice(ids.indexOf(child)), child];
    } else if (!done.has(child)) {
      path.push({ id: child, next: 0 });
      onPath.add(child);
    }
  }
  return null;
}
