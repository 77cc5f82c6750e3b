import { command, query, type Sql, type Step } from '#lib/database';
import { isLiveRun } from '#lib/transitions';
import {
  type Column,
  type ColumnOfAgent,
  type ColumnOfProject,
  type ColumnOfTask,
  type Original,
  SECRET_COLUMNS,
  type SecretColumn,
} from '../domain/originals.js';

/** A written column with its original. Without a key it contains no secret any more. */
export type SecretsInput<Of extends Column = ColumnOfTask> = Of &
  Partial<Pick<Original, 'key_id' | 'sealed'>>;

/**
 * Writes or removes originals. Runs after the statement that writes the columns. Indexes: primary
 * keys. $1 workspace, $2 JSON array of SecretsInput.
 *
 * @param owner the table whose rows the same transaction must have written before: a report of a
 *   run that no longer holds its task writes no originals
 */
function writing(name: string, table: string, id: string, owner?: string): Sql<unknown> {
  const guard =
    owner === undefined
      ? ''
      : `
  JOIN ${owner} t ON t.workspace_id = $1 AND t.id = x.${id}
  WHERE t.xmin = pg_current_xact_id()::xid`;
  return command<unknown>(
    name,
    `
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (${id} uuid, column_name text, key_id uuid, sealed jsonb)${guard}
),
removed AS (
  DELETE FROM ${table} s USING input i
  WHERE s.workspace_id = $1 AND s.${id} = i.${id} AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO ${table} (workspace_id, ${id}, column_name, key_id, sealed)
SELECT $1, i.${id}, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, ${id}, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL`,
  );
}

const writeTaskSecrets = writing('write_task_secrets', 'task_secrets', 'task_id', 'agent_tasks');
export const writeAgentSecrets = writing(
  'write_agent_secrets',
  'agent_secrets',
  'agent_id',
  'agents',
);

export const writeProjectSecrets = writing(
  'write_project_secrets',
  'project_secrets',
  'project_id',
);

export const writeScheduleSecrets = writing(
  'write_schedule_secrets',
  'schedule_secrets',
  'schedule_id',
);

export const writeTaskTemplateSecrets = writing(
  'write_task_template_secrets',
  'task_template_secrets',
  'template_id',
);

/** The steps of a pipeline that write originals: one, or none if there are none. */
export function writeSecrets(workspaceId: string, originals: readonly SecretsInput[]): Step[] {
  if (originals.length === 0) return [];
  return [[writeTaskSecrets, [workspaceId, JSON.stringify(originals)]]];
}

/** Index: primary key. $1 workspace, $2 agent. */
export const agentOriginals = query<Original<ColumnOfAgent>>(
  'agent_originals',
  `
SELECT s.workspace_id, s.agent_id, s.column_name, s.key_id, s.sealed FROM agent_secrets s
WHERE s.workspace_id = $1 AND s.agent_id = $2`,
);

/** Index: primary key. $1 workspace, $2 project. */
export const projectOriginals = query<Original<ColumnOfProject>>(
  'project_originals',
  `
SELECT s.workspace_id, s.project_id, s.column_name, s.key_id, s.sealed FROM project_secrets s
WHERE s.workspace_id = $1 AND s.project_id = $2`,
);

/** The columns of a task with the originals of those that contained secrets. */
export type TaskDocuments = { id: string; originals: Original[] | null } & {
  [Column in SecretColumn]: unknown;
};

/** Indexes: primary keys. $1 workspace, $2 tasks. Columns and originals are of the same moment. */
export const taskDocuments = query<TaskDocuments>(
  'task_documents',
  `
SELECT t.id, ${SECRET_COLUMNS.map((column) => `t.${column}`).join(', ')}, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[])`,
);

/** Index: primary key. $1 workspace, $2 tasks. */
export const originalsOfTasks = query<Original>(
  'originals_of_tasks',
  `
SELECT s.workspace_id, s.task_id, s.column_name, s.key_id, s.sealed FROM task_secrets s
WHERE s.workspace_id = $1 AND s.task_id = ANY ($2::uuid[])`,
);

/** The task of a run with the originals of its columns, of its agent's and of its project's. */
export interface SecretsOfRun {
  run_id: string;
  task_id: string;
  originals: Original[] | null;
  of_agent: Original<ColumnOfAgent>[] | null;
  of_project: Original<ColumnOfProject>[] | null;
}

const OF_RUN = `r.id AS run_id, r.task_id, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = r.workspace_id AND s.task_id = r.task_id) AS originals, (
  SELECT jsonb_agg(to_jsonb(s)) FROM agent_secrets s WHERE s.workspace_id = r.workspace_id AND s.agent_id = r.agent_id) AS of_agent, (
  SELECT jsonb_agg(to_jsonb(s)) FROM agent_tasks t
  JOIN project_secrets s ON s.workspace_id = r.workspace_id AND s.project_id = t.project_id
  WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id) AS of_project`;

/** Indexes: primary keys. $1 workspace, $2 runs. */
export const secretsOfRuns = query<SecretsOfRun>(
  'secrets_of_runs',
  `
SELECT ${OF_RUN}
FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])`,
);

/** A run with its holder. */
export interface SecretsOfHolder extends SecretsOfRun {
  workspace_id: string;
  agent_id: string;
}

/**
 * The same for the live runs of agents, as the service role.
 *
 * Indexes: task_runs_live_agent_idx, primary keys. $1 workspaces and $2 agents, in pairs.
 */
export const secretsOfHolders = query<SecretsOfHolder>(
  'secrets_of_holders',
  `
SELECT r.workspace_id, r.agent_id, ${OF_RUN}
FROM unnest($1::uuid[], $2::uuid[]) AS a (workspace_id, agent_id)
JOIN task_runs r ON r.workspace_id = a.workspace_id AND r.agent_id = a.agent_id AND ${isLiveRun('r')}`,
);
