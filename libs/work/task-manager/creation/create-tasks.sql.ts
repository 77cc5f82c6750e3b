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

/** The parts of a creation beyond the tasks themselves. */
export interface CreationParts {
  /** Tags, edges, or a set of capabilities whose use this process has not recorded recently. */
  extras: boolean;
}

/**
 * Creates one task or a thousand, with their tags, edges and journal rows. Most tasks have no
 * extras, and their statement does not prepare for them.
 *
 * Tasks with dependencies are created in a transaction that has locked their prerequisites
 * (lockPrerequisites). Indexes: only those of the tables it writes.
 *
 * $1 workspace, $2 JSON array of TaskInput, and with extras $3 JSON array of edges {task_id,
 * depends_on_id, policy, settled}.
 */
export function creationOf({ extras }: CreationParts): Sql<CreatedRow> {
  return extras ? createTasksWithExtras : createTasks;
}

const COLUMNS = { ...FOUND, ...GIVEN_ONCE, ...EDITABLE };
const NAMES = Object.keys(COLUMNS).map(columnOf).join(', ');
const VALUES = Object.keys(COLUMNS)
  .map((field) => `"${field}"`)
  .join(', ');
const INPUT = recordOf({
  ...COLUMNS,
  queueExpiresInSeconds: 'int',
  tags: 'text[]',
  actorKind: 'text',
  actorId: 'text',
});

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

function creation(extras: string): string {
  return `
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (${INPUT})
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, ${NAMES})
  SELECT $1, CASE WHEN "unmetDependencies" = 0 THEN now() END,
    now() + make_interval(secs => "queueExpiresInSeconds"),
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

const createTasks = command<CreatedRow>('create_tasks', creation(''));
const createTasksWithExtras = command<CreatedRow>('create_tasks_with_extras', creation(EXTRAS));
