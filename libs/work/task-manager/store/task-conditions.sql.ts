import { isCancellation, isReady, isUnserved, waitsForAnswer } from '#lib/transitions';
import { ID_PREFIX, idsWith } from '#lib/kernel';
import { isTaskStatus, type KindOfAborted, type TaskFilter } from '../domain/task-filter.js';

/** Collects the parameters of a statement whose text depends on the request. */
export class Params {
  readonly values: unknown[] = [];

  /** @returns the placeholder */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

type Condition<Value> = (value: Value, params: Params) => string;

type Conditions = { [Name in keyof TaskFilter]-?: Condition<NonNullable<TaskFilter[Name]>> };

const KINDS_OF_ABORTED: Record<KindOfAborted, string> = {
  RETRYING: `t.status = 'ABORTED' AND t.retry_at IS NOT NULL`,
  CANCELLED: `t.status = 'ABORTED' AND ${isCancellation('t.abort_reason')}`,
};

const CONDITIONS: Conditions = {
  // A single status as an equation, because only then agent_tasks_status_idx also gives the order.
  status: (listed, params) => {
    const statuses = listed.filter(isTaskStatus);
    const kinds = listed.filter((status) => !isTaskStatus(status)) as KindOfAborted[];
    const any = kinds.map((kind) => KINDS_OF_ABORTED[kind]);
    if (statuses.length === 1) any.unshift(`t.status = ${params.add(statuses[0])}`);
    if (statuses.length > 1) any.unshift(`t.status = ANY(${params.add(statuses)}::text[])`);
    return any.length === 1 ? String(any[0]) : `(${any.map((each) => `(${each})`).join(' OR ')})`;
  },
  priority: (priority, params) => `t.priority = ${params.add(priority)}::int`,
  priorityGte: (priority, params) => `t.priority >= ${params.add(priority)}::int`,
  priorityLte: (priority, params) => `t.priority <= ${params.add(priority)}::int`,
  tags: (tags, params) =>
    [...new Set(tags)]
      .map(
        (tag) => `EXISTS (SELECT FROM agent_task_tags g WHERE g.workspace_id = t.workspace_id
      AND g.task_id = t.id AND g.tag = ${params.add(tag)})`,
      )
      .join(' AND '),
  agentId: (id, params) => `t.agent_id = ${params.add(id)}::uuid`,
  agentKind: (kind, params) => `t.agent ->> 'kind' = ${params.add(kind)}`,
  parentTaskId: (id, params) => `t.parent_task_id = ${params.add(id)}::uuid`,
  projectId: (id, params) => `t.project_id = ${params.add(id)}::uuid`,
  milestoneId: (id, params) => `t.milestone_id = ${params.add(id)}::uuid`,
  scheduleId: (id, params) => `t.schedule_id = ${params.add(id)}::uuid`,
  idPrefix: (prefix, params) => {
    const { from, to } = idsWith(prefix);
    return `t.id BETWEEN ${params.add(from)}::uuid AND ${params.add(to)}::uuid`;
  },
  // Not of the row's workspace, so that it is read once; row-level security keeps to the workspace.
  unclaimable: (is) => `${is ? '' : 'NOT '}(${isReady('t')}
      AND (t.workspace_id, t.capability_key) IN (SELECT s.workspace_id, s.key
        FROM capability_sets s WHERE ${isUnserved('s')}))`,
  deadLetter: (isDead) => `t.failure_fingerprint IS ${isDead ? 'NOT ' : ''}NULL`,
  failureFingerprint: (fingerprint, params) => `t.failure_fingerprint = ${params.add(fingerprint)}`,
  taskType: (type, params) => `t.task_type = ${params.add(type)}`,
  waitsForAnswer: (waits) => (waits ? waitsForAnswer('t') : `${waitsForAnswer('t')} IS NOT TRUE`),
  // Not LIKE, because `%` and `_` in typed text would have a meaning.
  text: (text, params) => {
    const searched = `lower(${params.add(text)}::text)`;
    const ofId = ID_PREFIX.test(text) ? ` OR ${CONDITIONS.idPrefix(text, params)}` : '';
    return `(strpos(lower(t.title), ${searched}) > 0
      OR strpos(lower(t.description), ${searched}) > 0${ofId})`;
  },
  createdAfter: (at, params) => `t.created_at >= ${time(at, params)}`,
  createdBefore: (at, params) => `t.created_at < ${time(at, params)}`,
  updatedAfter: (at, params) => `t.updated_at >= ${time(at, params)}`,
  updatedBefore: (at, params) => `t.updated_at < ${time(at, params)}`,
};

// A number, because JavaScript and Postgres disagree on which texts are dates (year 0, 31
// February).
function time(at: string, params: Params): string {
  return `to_timestamp(${params.add(Date.parse(at) / 1000)}::float8)`;
}

/** The SQL conditions of a filter on `agent_tasks t`. Absent filters have none. */
export function taskConditions(filter: TaskFilter, params: Params): string[] {
  const names = Object.keys(CONDITIONS) as (keyof TaskFilter)[];
  return names.flatMap((name) => {
    const value = filter[name];
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0);
    return isGiven ? [(CONDITIONS[name] as Condition<typeof value>)(value, params)] : [];
  });
}
