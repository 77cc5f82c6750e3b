import { columnOf, command, recordOf, type Sql } from '#lib/database';
import { journalRow } from '#lib/transitions';
import { notedCapabilitySets } from '../store/capability-sets.js';
import { EDITABLE, FOUND, GIVEN_ONCE } from '../domain/task-fields.js';
import type { NewTask } from '../domain/new-task.js';

/** A task with who creates it. */
export interface TaskInput extends Omit<NewTask, 'edges' | 'originals'> {
  edges?: undefined;
  originals?: undefined;
  capabilityKey: string;
  unmetDependencies: number;
  hasDependents: boolean;
  actorKind: string;
  actorId: string | null;
  /** The user, if it is one. */
  createdBy: string | null;
  /** Of the request's span; absent when it is not traced. */
  traceparent?: string | undefined;
}

export interface CreatedRow {
  created_at: Date;
}

/** What of a creation is more than the tasks themselves. */
export interface CreationParts {
  /** Tags, edges, or a set of capabilities that this process has not seen in use lately. */
  extras: boolean;
}

/**
 * Creates tasks, one or a thousand, with their tags, edges and the rows of the journal. Most tasks are nothing but
 * themselves: their statement does not set up what the others need.
 *
 * Tasks that depend on others are created in a transaction that has locked their prerequisites before
 * (lockPrerequisites). Indexes: only those of the tables it writes.
 *
 * $1 workspace, $2 JSON array of TaskInput, and with extras $3 JSON array of edges
 * {task_id, depends_on_id, policy, settled}.
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
  SELECT $1, i.id, t.tag FROM input i JOIN created c ON c.id = i.id CROSS JOIN LATERAL unnest(i.tags) AS t (tag)
),
edges AS (
  INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy, settled_at)
  SELECT $1, e.task_id, e.depends_on_id, e.policy, CASE WHEN e.settled THEN now() END
  FROM jsonb_to_recordset($3::jsonb) AS e (task_id uuid, depends_on_id uuid, policy text, settled boolean)
),`;

function creation(extras: string): string {
  return `
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (${INPUT})
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, ${NAMES})
  SELECT $1, CASE WHEN "unmetDependencies" = 0 THEN now() END, now() + make_interval(secs => "queueExpiresInSeconds"),
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
