import { command } from '#lib/database';

/** A task with who creates it, and the columns that the statement reads by their names. */
export interface TaskInput extends Record<string, unknown> {
  id: string;
  actor_kind: string;
  actor_id: string | null;
  /** The user, if it is one. */
  created_by: string | null;
}

export interface CreatedRow {
  id: string;
  unmet_dependencies: number;
  created_at: Date;
}

/**
 * Creates tasks, one or a thousand, with their tags, edges, first log rows and events.
 *
 * Callers: TaskCreation (POST /agent-tasks, POST /agent-tasks/batch). Tasks that depend on others are
 * created in a transaction that has locked their prerequisites before (lockPrerequisites).
 * Indexes: only those of the tables it writes.
 *
 * $1 workspace, $2 JSON array of TaskInput, $3 JSON array of edges {task_id, depends_on_id, policy, settled}.
 */
export const createTasks = command<CreatedRow>(
  'create_tasks',
  `
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (
    id uuid, title text, description text, task_type text, project_id uuid, milestone_id uuid,
    priority int, estimated_duration_minutes int, timeout_seconds int, max_retries int,
    retry_backoff_seconds int, required_capabilities text[], capability_key text,
    unmet_dependencies int, has_dependents boolean, queue_expires_in_seconds int,
    input_context jsonb, metadata jsonb, tags text[], actor_kind text, actor_id text, created_by uuid)
),
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
created AS (
  INSERT INTO agent_tasks (workspace_id, id, title, description, task_type, project_id, milestone_id,
    priority, estimated_duration_minutes, timeout_seconds, max_retries, retry_backoff_seconds,
    required_capabilities, capability_key, unmet_dependencies, has_dependents, ready_at,
    queue_expires_at, input_context, metadata, created_by)
  SELECT $1, i.id, i.title, i.description, i.task_type, i.project_id, i.milestone_id,
    i.priority, i.estimated_duration_minutes, i.timeout_seconds, i.max_retries, i.retry_backoff_seconds,
    i.required_capabilities, i.capability_key, i.unmet_dependencies, i.has_dependents,
    CASE WHEN i.unmet_dependencies = 0 THEN now() END,
    now() + make_interval(secs => i.queue_expires_in_seconds), i.input_context, i.metadata, i.created_by
  FROM input i
  RETURNING id, version, status, unmet_dependencies, created_at
),
tagged AS (
  INSERT INTO agent_task_tags (workspace_id, task_id, tag)
  SELECT $1, i.id, t.tag FROM input i CROSS JOIN LATERAL unnest(i.tags) AS t (tag)
),
edges AS (
  INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy, settled_at)
  SELECT $1, e.task_id, e.depends_on_id, e.policy, CASE WHEN e.settled THEN now() END
  FROM jsonb_to_recordset($3::jsonb) AS e (task_id uuid, depends_on_id uuid, policy text, settled boolean)
),
journaled AS (
  INSERT INTO journal (workspace_id, event, task_id, version, new_status, actor_kind, actor_id)
  SELECT $1, 'task.created', c.id, c.version, c.status, i.actor_kind, i.actor_id
  FROM created c JOIN input i ON i.id = c.id
)
SELECT id, unmet_dependencies, created_at FROM created`,
);
