import { DroverError, type FieldError, isUuid } from '#lib/kernel';
import { DEPENDENCY_POLICIES, type DependencyPolicy } from './task-view.js';

/** Maximum number of dependencies of one task. */
export const MAX_DEPENDENCIES = 1_000;

/** A dependency in a request. */
export interface RequestedDependency {
  taskId: string;
  policy: DependencyPolicy;
}

/** The state of a prerequisite when an edge to it is written. */
export interface PrerequisiteEnd {
  completed: boolean;
  ended_without_success: boolean;
}

/**
 * Whether a new edge holds nothing back from the start: its prerequisite is completed, or ended
 * otherwise under a policy that ignores it.
 */
export function isSettledAtOnce(end: PrerequisiteEnd, policy: DependencyPolicy): boolean {
  return end.completed || (end.ended_without_success && policy === 'ignore');
}

/**
 * The dependencies in a request: ids, or objects with a policy. The default is `block`.
 *
 * @throws DroverError `validation_failed` with the index of each wrong item
 */
export function readDependencies(
  items: readonly unknown[],
  field = 'dependsOn',
): RequestedDependency[] {
  const errors: FieldError[] = [];
  const requested = new Map<string, RequestedDependency>();
  items.forEach((item, index) => {
    const read = readItem(item);
    const at = `${field}[${index}]`;
    if ('message' in read) errors.push({ field: `${at}${read.field}`, message: read.message });
    else if (requested.has(read.taskId))
      errors.push({ field: at, message: 'names the same task twice' });
    else requested.set(read.taskId, read);
  });
  if (errors.length === 0) return [...requested.values()];
  throw new DroverError('validation_failed', { errors: errors.slice(0, 50) });
}

function readItem(item: unknown): RequestedDependency | FieldError {
  if (typeof item === 'string') return readObject({ taskId: item }, '');
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { field: '', message: 'must be a task id or an object with taskId and policy' };
  }
  return readObject(item as Record<string, unknown>, '.taskId');
}

function readObject(
  item: Record<string, unknown>,
  idField: string,
): RequestedDependency | FieldError {
  const { taskId, policy = 'block', ...rest } = item;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return { field: `.${unknown}`, message: 'is not a known field' };
  if (!isUuid(taskId)) return { field: idField, message: 'must be a UUID' };
  const known = DEPENDENCY_POLICIES.find((name) => name === policy);
  if (!known)
    return { field: '.policy', message: `must be one of ${DEPENDENCY_POLICIES.join(', ')}` };
  return { taskId: taskId.toLowerCase(), policy: known };
}

/**
 * @throws DroverError `task_not_found` with each unknown id and its field
 */
export function requireKnown(
  found: { has(id: string): boolean },
  requested: readonly RequestedDependency[],
  field = 'dependsOn',
): void {
  const errors = requested.flatMap(({ taskId }, index) =>
    found.has(taskId)
      ? []
      : [{ field: `${field}[${index}]`, message: `there is no such task: ${taskId}` }],
  );
  if (errors.length === 0) return;
  throw new DroverError('task_not_found', {
    detail: 'A dependency names a task that is not in this workspace.',
    errors: errors.slice(0, 50),
  });
}

/** A change of the dependencies of a task. */
export type DependencyChange =
  | { kind: 'add'; requested: readonly RequestedDependency[] }
  | { kind: 'replace'; requested: readonly RequestedDependency[] }
  | { kind: 'remove'; taskId: string };

export interface DependencyPlan {
  removed: string[];
  /** New ones, and those with a changed policy. */
  written: RequestedDependency[];
  /** Their number afterwards. */
  total: number;
}

/**
 * The writes that the change needs, given the present dependencies. Null if there is nothing to
 * remove.
 */
export function planDependencies(
  current: readonly RequestedDependency[],
  change: DependencyChange,
): DependencyPlan | null {
  const policies = new Map(current.map(({ taskId, policy }) => [taskId, policy]));
  if (change.kind === 'remove') {
    if (!policies.has(change.taskId)) return null;
    return { removed: [change.taskId], written: [], total: current.length - 1 };
  }
  const written = change.requested.filter(({ taskId, policy }) => policies.get(taskId) !== policy);
  const kept = new Set(change.requested.map(({ taskId }) => taskId));
  const removed =
    change.kind === 'add' ? [] : [...policies.keys()].filter((taskId) => !kept.has(taskId));
  const added = written.filter(({ taskId }) => !policies.has(taskId)).length;
  return { removed, written, total: current.length + added - removed.length };
}

/** An edge: the first depends on the second. */
export type Edge = readonly [task: string, dependsOn: string];

/**
 * The shortest path along the edges from any of `starts` to `target`, including both. Null if there
 * is none. A start that is the target itself is a path.
 */
export function findWay(
  edges: readonly Edge[],
  starts: readonly string[],
  target: string,
): string[] | null {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) {
    const known = next.get(from);
    if (known) known.push(to);
    else next.set(from, [to]);
  }
  const cameFrom = new Map<string, string | null>(starts.map((id) => [id, null]));
  // A Map is walked in the order of insertion, also through entries inserted meanwhile.
  for (const id of cameFrom.keys()) {
    if (id === target) return wayTo(id, cameFrom);
    for (const to of next.get(id) ?? []) if (!cameFrom.has(to)) cameFrom.set(to, id);
  }
  return null;
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string | null>): string[] {
  const way: string[] = [];
  for (let id: string | null = end; id !== null; id = cameFrom.get(id) ?? null) way.push(id);
  return way.reverse();
}
