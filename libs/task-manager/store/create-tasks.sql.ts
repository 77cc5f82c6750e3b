import { command, type Sql } from '#lib/database';

/** A task with who creates it, and the columns that the statement reads by their names. */
export interface TaskInput extends Record<string, unknown> {
  id: string;
  actor_kind: string;
  actor_id: string | null;
  capability_key: string;
  tags: readonly string[];
  /** The user, if it is one. */
  created_by: string | null;
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

/** The columns of a TaskInput are those of the task, by their names. */
const COLUMNS = {
  id: 'uuid',
  title: 'text',
  description: 'text',
  task_type: 'text',
  project_id: 'uuid',
  milestone_id: 'uuid',
  priority: 'int',
  estimated_duration_minutes: 'int',
  timeout_seconds: 'int',
  max_retries: 'int',
  retry_backoff_seconds: 'int',
  required_capabilities: 'text[]',
  capability_key: 'text',
  unmet_dependencies: 'int',
  has_dependents: 'boolean',
  input_context: 'jsonb',
  metadata: 'jsonb',
  created_by: 'uuid',
} as const;

const NAMES = Object.keys(COLUMNS).join(', ');
const TYPED = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);

const EXTRAS = `
sets AS (
  INSERT INTO capability_sets AS s (workspace_id, key, capabilities)
  SELECT DISTINCT ON (i.capability_key) $1::uuid, i.capability_key, i.required_capabilities FROM input i
  -- Checked first because ON CONFLICT alone would write a row for each call. A set that is about to count
  -- as unused is written as well, so that it stays (see pruneCapabilitySets).
  WHERE NOT EXISTS (SELECT FROM capability_sets c WHERE c.workspace_id = $1 AND c.key = i.capability_key
    AND c.used_at > now() - interval '12 hours')
  ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now()
    WHERE s.used_at <= now() - interval '12 hours'
),
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
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (${TYPED.join(', ')},
    queue_expires_in_seconds int, tags text[], actor_kind text, actor_id text)
),
created AS (
  INSERT INTO agent_tasks (workspace_id, ready_at, queue_expires_at, ${NAMES})
  SELECT $1, CASE WHEN unmet_dependencies = 0 THEN now() END, now() + make_interval(secs => queue_expires_in_seconds),
    ${NAMES}
  FROM input
  RETURNING id
),${extras}
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, new_status, actor_kind, actor_id)
  SELECT $1, 'task.created', id, 1, 'PENDING', actor_kind, actor_id FROM input
)
SELECT now() AS created_at`;
}

const createTasks = command<CreatedRow>('create_plain_tasks', creation(''));
const createTasksWithExtras = command<CreatedRow>('create_tasks', creation(EXTRAS));
