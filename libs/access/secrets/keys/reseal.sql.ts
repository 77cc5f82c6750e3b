import { command, query, type Sql } from '#lib/database';
import type { Column, Original } from '../domain/originals.js';
import { SEALED_TABLE_NAMES, SEALED_TABLES, type SealedTable } from './sealed-tables.js';

/**
 * Locks the originals of some tasks or agents under a key that is not current. Originals that
 * another transaction writes are left for the next time. A writer of a task waits for this only if
 * it writes originals.
 *
 * Indexes: task_secrets_key_idx, task_secrets (primary key); for agents, projects, webhooks and
 * inbound hooks likewise. $1 current key, $2 maximum number of tasks or agents.
 */
const locking = (name: string, table: SealedTable, id = SEALED_TABLES[table]) =>
  query<Original<Column>>(
    name,
    `
SELECT s.workspace_id, s.${id}, s.column_name, s.key_id, s.sealed
FROM ${table} s
WHERE (s.workspace_id, s.${id}) IN (
    SELECT o.workspace_id, o.${id} FROM ${table} o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED`,
  );

/**
 * Writes resealed originals of tasks. Originals from before sealing existed are examined for the
 * first time: their redacted form goes to the task, and they are removed if they contain no secret.
 * No version is raised, because the task's content is the same.
 *
 * Indexes: primary keys. $1 current key, $2 JSON array of {workspace_id, task_id, column_name,
 * sealed or null, shown or null}.
 */
const writeResealedOfTasks = command<unknown>(
  'write_resealed_of_tasks',
  `
WITH done AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (workspace_id uuid, task_id uuid, column_name text,
    sealed jsonb, shown jsonb)
),
shown AS (
  UPDATE agent_tasks t SET
    input_context = coalesce(d.shown -> 'input_context', t.input_context),
    checkpoint_data = coalesce(d.shown -> 'checkpoint_data', t.checkpoint_data),
    output_result = coalesce(d.shown -> 'output_result', t.output_result),
    metadata = coalesce(d.shown -> 'metadata', t.metadata)
  FROM (SELECT workspace_id, task_id, jsonb_object_agg(column_name, shown) AS shown
    FROM done WHERE shown IS NOT NULL GROUP BY 1, 2) d
  WHERE t.workspace_id = d.workspace_id AND t.id = d.task_id
),
harmless AS (
  DELETE FROM task_secrets s USING done d WHERE s.workspace_id = d.workspace_id AND s.task_id = d.task_id
    AND s.column_name = d.column_name AND d.sealed IS NULL
)
UPDATE task_secrets s SET key_id = $1, sealed = d.sealed FROM done d
WHERE s.workspace_id = d.workspace_id AND s.task_id = d.task_id AND s.column_name = d.column_name
  AND d.sealed IS NOT NULL`,
);

/** The same for tables in which all originals are encrypted. */
const writingResealed = (name: string, table: SealedTable, id = SEALED_TABLES[table]) =>
  command<unknown>(
    name,
    `
UPDATE ${table} s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, ${id} uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.${id} = d.${id} AND s.column_name = d.column_name`,
  );

/**
 * Sets locked originals aside that cannot be opened. Their keys stay.
 *
 * Index: the primary key. $1 JSON array of their columns.
 */
const settingAside = (name: string, table: SealedTable, id = SEALED_TABLES[table]) =>
  command<unknown>(
    name,
    `
UPDATE ${table} s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, ${id} uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.${id} = x.${id} AND s.column_name = x.column_name`,
  );

/** Puts originals that were set aside back. Once a rotation. It reads the whole table. */
const retrying = (name: string, table: SealedTable) =>
  command<unknown>(
    name,
    `
UPDATE ${table} SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL`,
  );

/** Whether anything is left to reseal. $1 current key. */
const anythingLeft = (name: string, table: SealedTable) =>
  query<{ found: boolean }>(
    name,
    `
SELECT EXISTS (SELECT FROM ${table} WHERE key_id <> $1 AND unreadable_at IS NULL) AS found`,
  );

interface Statements {
  writeResealed: Sql;
  lockOriginals: Sql<Original<Column>>;
  setUnreadableAside: Sql;
  anythingToReseal: Sql<{ found: boolean }>;
  retryUnreadable: Sql;
}

const STATEMENTS: Record<SealedTable, Statements> = {
  task_secrets: {
    writeResealed: writeResealedOfTasks,
    lockOriginals: locking('lock_originals_of_tasks', 'task_secrets'),
    setUnreadableAside: settingAside('set_unreadable_of_tasks_aside', 'task_secrets'),
    anythingToReseal: anythingLeft('anything_to_reseal_of_tasks', 'task_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_tasks', 'task_secrets'),
  },
  agent_secrets: {
    writeResealed: writingResealed('write_resealed_of_agents', 'agent_secrets'),
    lockOriginals: locking('lock_originals_of_agents', 'agent_secrets'),
    setUnreadableAside: settingAside('set_unreadable_of_agents_aside', 'agent_secrets'),
    anythingToReseal: anythingLeft('anything_to_reseal_of_agents', 'agent_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_agents', 'agent_secrets'),
  },
  project_secrets: {
    writeResealed: writingResealed('write_resealed_of_projects', 'project_secrets'),
    lockOriginals: locking('lock_originals_of_projects', 'project_secrets'),
    setUnreadableAside: settingAside('set_unreadable_of_projects_aside', 'project_secrets'),
    anythingToReseal: anythingLeft('anything_to_reseal_of_projects', 'project_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_projects', 'project_secrets'),
  },
  schedule_secrets: {
    writeResealed: writingResealed('write_resealed_of_schedules', 'schedule_secrets'),
    lockOriginals: locking('lock_originals_of_schedules', 'schedule_secrets'),
    setUnreadableAside: settingAside('set_unreadable_of_schedules_aside', 'schedule_secrets'),
    anythingToReseal: anythingLeft('anything_to_reseal_of_schedules', 'schedule_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_schedules', 'schedule_secrets'),
  },
  task_template_secrets: {
    writeResealed: writingResealed('write_resealed_of_task_templates', 'task_template_secrets'),
    lockOriginals: locking('lock_originals_of_task_templates', 'task_template_secrets'),
    setUnreadableAside: settingAside(
      'set_unreadable_of_task_templates_aside',
      'task_template_secrets',
    ),
    anythingToReseal: anythingLeft('anything_to_reseal_of_task_templates', 'task_template_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_task_templates', 'task_template_secrets'),
  },
  webhook_secrets: {
    writeResealed: writingResealed('write_resealed_of_webhooks', 'webhook_secrets'),
    lockOriginals: locking('lock_originals_of_webhooks', 'webhook_secrets'),
    setUnreadableAside: settingAside('set_unreadable_of_webhooks_aside', 'webhook_secrets'),
    anythingToReseal: anythingLeft('anything_to_reseal_of_webhooks', 'webhook_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_webhooks', 'webhook_secrets'),
  },
  inbound_hook_secrets: {
    writeResealed: writingResealed('write_resealed_of_inbound_hooks', 'inbound_hook_secrets'),
    lockOriginals: locking('lock_originals_of_inbound_hooks', 'inbound_hook_secrets'),
    setUnreadableAside: settingAside(
      'set_unreadable_of_inbound_hooks_aside',
      'inbound_hook_secrets',
    ),
    anythingToReseal: anythingLeft('anything_to_reseal_of_inbound_hooks', 'inbound_hook_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_inbound_hooks', 'inbound_hook_secrets'),
  },
  model_provider_secrets: {
    writeResealed: writingResealed('write_resealed_of_model_providers', 'model_provider_secrets'),
    lockOriginals: locking('lock_originals_of_model_providers', 'model_provider_secrets'),
    setUnreadableAside: settingAside(
      'set_unreadable_of_model_providers_aside',
      'model_provider_secrets',
    ),
    anythingToReseal: anythingLeft(
      'anything_to_reseal_of_model_providers',
      'model_provider_secrets',
    ),
    retryUnreadable: retrying('retry_unreadable_of_model_providers', 'model_provider_secrets'),
  },
  host_credential_secrets: {
    writeResealed: writingResealed('write_resealed_of_host_credentials', 'host_credential_secrets'),
    lockOriginals: locking('lock_originals_of_host_credentials', 'host_credential_secrets'),
    setUnreadableAside: settingAside(
      'set_unreadable_of_host_credentials_aside',
      'host_credential_secrets',
    ),
    anythingToReseal: anythingLeft(
      'anything_to_reseal_of_host_credentials',
      'host_credential_secrets',
    ),
    retryUnreadable: retrying('retry_unreadable_of_host_credentials', 'host_credential_secrets'),
  },
  repository_secrets: {
    writeResealed: writingResealed('write_resealed_of_repositories', 'repository_secrets'),
    lockOriginals: locking('lock_originals_of_repositories', 'repository_secrets'),
    setUnreadableAside: settingAside('set_unreadable_of_repositories_aside', 'repository_secrets'),
    anythingToReseal: anythingLeft('anything_to_reseal_of_repositories', 'repository_secrets'),
    retryUnreadable: retrying('retry_unreadable_of_repositories', 'repository_secrets'),
  },
};

/** The statements of each table. */
export const RESEALED = SEALED_TABLE_NAMES.map((table) => STATEMENTS[table]);
