import { columnOf, command, recordOf, type Sql } from '#lib/database';
import { journalRow } from '#lib/transitions';
import { notedCapabilitySets } from '../store/capability-sets.sql.js';
import { EDITABLE, FOUND, GIVEN_ONCE } from '../domain/task-fields.js';
import type { NewTask } from '../domain/new-task.js';

/** A task with its creator. */
export interface TaskInput extends Omit<NewTask, 'edges' | 'originals'> {
  edges?: undefined;
  originals?: undefined;
  capabilityKey: string;
  unmetDependencies: number;
  hasDependents: boolean;
  actorKind: string;
  actorId: string | null;
  /** The user, if the creator is one. */
  createdBy: string | null;
  /** The traceparent of the request's span. Absent if it is not traced. */
  traceparent?: string | undefined;
}

export interface CreatedRow {
  created_at: Date;
}

/**
 * `each`: tasks without extras. `alike`: the same, if all have the same values but for their own
 * fields (`sharedBy`). `with_extras`: tasks with tags, edges, or a set of capabilities whose use this
 * process has not recorded recently.
 */
type CreationKind = 'each' | 'alike' | 'with_extras';

/**
 * Creates one task or a thousand, with their tags, edges and journal rows. Most tasks have no
 * extras, and their statement does not prepare for them.
 *
 * A record of fewer columns costs less: a thousand tasks that share the other columns take 23 ms of
 * Postgres instead of 33.
 *
 * Tasks with dependencies are created in a transaction that has locked their prerequisites
 * (lockPrerequisites). Indexes: only those of the tables it writes.
 *
 * $1 workspace, $2 JSON array of TaskInput. `alike`: $2 the own fields of each task, $3 the shared
 * fields. `with_extras`: $3 JSON array of edges {task_id, depends_on_id, policy, settled}.
 */
export function creationOf(kind: CreationKind): Sql<CreatedRow> {
  return CREATIONS[kind];
}

const COLUMNS = { ...FOUND, ...GIVEN_ONCE, ...EDITABLE };
/** Without the count, which is computed from further inputs. */
const PLAIN = Object.keys(COLUMNS).filter((field) => field !== 'unmetDependencies');
const NAMES = PLAIN.map(columnOf).join(', ');
const VALUES = PLAIN.map((field) => `"${field}"`).join(', ');
const START = `coalesce("startAt", now() + make_interval(secs => "delaySeconds"))`;
const WAITS_FOR_START = `coalesce(${START} > now(), false)`;
const WAITS_FOR_SLOT = `"concurrencyKey" IS NOT NULL`;
const UNMET = `"unmetDependencies" + (${WAITS_FOR_START})::int + (${WAITS_FOR_SLOT})::int`;
const INPUT = {
  ...COLUMNS,
  queueExpiresInSeconds: 'int',
  expiresAt: 'timestamptz',
  startAt: 'timestamptz',
  delaySeconds: 'int',
  tags: 'text[]',
  actorKind: 'text',
  actorId: 'text',
} as const;
type InputField = keyof typeof INPUT;

/** The fields that differ between the tasks of most requests. */
const OWN: readonly InputField[] = [
  'id',
  'title',
  'description',
  'taskType',
  'priority',
  'inputContext',
  'commandKind',
  'estimatedTokens',
];
const SHARED = (Object.keys(INPUT) as InputField[]).filter((field) => !OWN.includes(field));

const columnsOf = (fields: readonly InputField[]) =>
  recordOf(Object.fromEntries(fields.map((field) => [field, INPUT[field]])));

const EACH = `jsonb_to_recordset($2::jsonb) AS x (${recordOf(INPUT)})`;
const ALIKE = `jsonb_to_recordset($2::jsonb) AS x (${columnsOf(OWN)})
    CROSS JOIN jsonb_to_record($3::jsonb) AS y (${columnsOf(SHARED)})`;

/** The own fields of each task, and the fields that all share. Undefined if one of these differs. */
export function sharedBy(tasks: readonly TaskInput[]) {
  const [first] = tasks;
  if (!first || !tasks.every((task) => SHARED.every((field) => isSame(task[field], first[field]))))
    return undefined;
  return { own: tasks.map((task) => picked(task, OWN)), shared: picked(first, SHARED) };
}

function picked(task: TaskInput, fields: readonly InputField[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) values[field] = task[field];
  return values;
}

/** True if two values are surely the same. Defaults are the same object in all tasks. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

const EXTRAS = `
${notedCapabilitySets('input')},
tagged AS (
  INSERT INTO agent_task_tags (workspace_id, task_id, tag)
  SELECT $1, i.id, t.tag FROM input i JOIN created c ON c.id = i.id CROSS
    JOIN LATERAL unnest(i.tags) AS t (tag)
),
edges AS (
  INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy, settled_at)
  SELECT $1, e.task_id, e.depends_on_id, e.policy, CASE WHEN e.settled THEN now() END
  FROM jsonb_to_recordset($3::jsonb) AS e (task_id uuid, depends_on_id uuid, policy text,
    settled boolean)
),`;

function creation(input: string, extras: string): string {
  return `
WITH input AS MATERIALIZED (
  SELECT * FROM ${input}
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, start_at, waits_for_start, waits_for_slot,
    unmet_dependencies, ${NAMES})
  SELECT $1, CASE WHEN ${UNMET} = 0 THEN now() END,
    coalesce("expiresAt", now() + make_interval(secs => "queueExpiresInSeconds")),
    ${START}, ${WAITS_FOR_START}, ${WAITS_FOR_SLOT}, ${UNMET},
    ${VALUES}
  FROM input
  RETURNING id
),${extras}
journaled AS (
  ${journalRow(
    {
      workspace_id: '$1',
      event: "'task.created'",
      task_id: 'id',
      version: '1',
      new_status: "'PENDING'",
      actor_kind: '"actorKind"',
      actor_id: '"actorId"',
    },
    'input',
  )}
)
SELECT now() AS created_at`;
}

const CREATIONS = {
  each: command<CreatedRow>('create_tasks', creation(EACH, '')),
  alike: command<CreatedRow>('create_tasks_alike', creation(ALIKE, '')),
  with_extras: command<CreatedRow>('create_tasks_with_extras', creation(EACH, EXTRAS)),
} satisfies Record<CreationKind, Sql<CreatedRow>>;
