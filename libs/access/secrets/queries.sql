-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- agent_originals
SELECT s.workspace_id, s.agent_id, s.column_name, s.key_id, s.sealed FROM agent_secrets s
WHERE s.workspace_id = $1 AND s.agent_id = $2

-- anything_to_reseal_of_agents
SELECT EXISTS (SELECT FROM agent_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_host_credentials
SELECT EXISTS (SELECT FROM host_credential_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_inbound_hooks
SELECT EXISTS (SELECT FROM inbound_hook_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_model_providers
SELECT EXISTS (SELECT FROM model_provider_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_projects
SELECT EXISTS (SELECT FROM project_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_repositories
SELECT EXISTS (SELECT FROM repository_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_schedules
SELECT EXISTS (SELECT FROM schedule_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_task_templates
SELECT EXISTS (SELECT FROM task_template_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_tasks
SELECT EXISTS (SELECT FROM task_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- anything_to_reseal_of_webhooks
SELECT EXISTS (SELECT FROM webhook_secrets WHERE key_id <> $1 AND unreadable_at IS NULL) AS found

-- insert_data_key
INSERT INTO data_keys (id, master_key_id, wrapped) VALUES ($1, $2, $3)

-- lock_data_keys
SELECT pg_advisory_xact_lock(hashtext('drover data keys'))

-- lock_originals_of_agents
SELECT s.workspace_id, s.agent_id, s.column_name, s.key_id, s.sealed
FROM agent_secrets s
WHERE (s.workspace_id, s.agent_id) IN (
    SELECT o.workspace_id, o.agent_id FROM agent_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_host_credentials
SELECT s.workspace_id, s.credential_id, s.column_name, s.key_id, s.sealed
FROM host_credential_secrets s
WHERE (s.workspace_id, s.credential_id) IN (
    SELECT o.workspace_id, o.credential_id FROM host_credential_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_inbound_hooks
SELECT s.workspace_id, s.hook_id, s.column_name, s.key_id, s.sealed
FROM inbound_hook_secrets s
WHERE (s.workspace_id, s.hook_id) IN (
    SELECT o.workspace_id, o.hook_id FROM inbound_hook_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_model_providers
SELECT s.workspace_id, s.provider_id, s.column_name, s.key_id, s.sealed
FROM model_provider_secrets s
WHERE (s.workspace_id, s.provider_id) IN (
    SELECT o.workspace_id, o.provider_id FROM model_provider_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_projects
SELECT s.workspace_id, s.project_id, s.column_name, s.key_id, s.sealed
FROM project_secrets s
WHERE (s.workspace_id, s.project_id) IN (
    SELECT o.workspace_id, o.project_id FROM project_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_repositories
SELECT s.workspace_id, s.repository_id, s.column_name, s.key_id, s.sealed
FROM repository_secrets s
WHERE (s.workspace_id, s.repository_id) IN (
    SELECT o.workspace_id, o.repository_id FROM repository_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_schedules
SELECT s.workspace_id, s.schedule_id, s.column_name, s.key_id, s.sealed
FROM schedule_secrets s
WHERE (s.workspace_id, s.schedule_id) IN (
    SELECT o.workspace_id, o.schedule_id FROM schedule_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_task_templates
SELECT s.workspace_id, s.template_id, s.column_name, s.key_id, s.sealed
FROM task_template_secrets s
WHERE (s.workspace_id, s.template_id) IN (
    SELECT o.workspace_id, o.template_id FROM task_template_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_tasks
SELECT s.workspace_id, s.task_id, s.column_name, s.key_id, s.sealed
FROM task_secrets s
WHERE (s.workspace_id, s.task_id) IN (
    SELECT o.workspace_id, o.task_id FROM task_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- lock_originals_of_webhooks
SELECT s.workspace_id, s.webhook_id, s.column_name, s.key_id, s.sealed
FROM webhook_secrets s
WHERE (s.workspace_id, s.webhook_id) IN (
    SELECT o.workspace_id, o.webhook_id FROM webhook_secrets o
    WHERE o.key_id <> $1 AND o.unreadable_at IS NULL LIMIT $2)
  AND s.key_id <> $1 AND s.unreadable_at IS NULL
FOR NO KEY UPDATE SKIP LOCKED

-- originals_of_tasks
SELECT s.workspace_id, s.task_id, s.column_name, s.key_id, s.sealed FROM task_secrets s
WHERE s.workspace_id = $1 AND s.task_id = ANY ($2::uuid[])

-- project_originals
SELECT s.workspace_id, s.project_id, s.column_name, s.key_id, s.sealed FROM project_secrets s
WHERE s.workspace_id = $1 AND s.project_id = $2

-- read_data_keys
SELECT k.id, k.master_key_id, k.wrapped, k.retired_at IS NOT NULL AS retired,
  k.created_at < now() - make_interval(days => $1) AS aged,
  (EXISTS (SELECT FROM task_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM agent_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM project_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM schedule_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM task_template_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM webhook_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM inbound_hook_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM model_provider_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM host_credential_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM repository_secrets s WHERE s.key_id = k.id)) AS used
FROM data_keys k
WHERE k.wrapped IS NOT NULL
ORDER BY k.created_at DESC, k.id DESC

-- remove_unused_data_keys
DELETE FROM data_keys k
WHERE k.retired_at <= now() - make_interval(secs => $1)
  AND NOT (EXISTS (SELECT FROM task_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM agent_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM project_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM schedule_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM task_template_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM webhook_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM inbound_hook_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM model_provider_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM host_credential_secrets s WHERE s.key_id = k.id)
    OR EXISTS (SELECT FROM repository_secrets s WHERE s.key_id = k.id))
RETURNING k.id

-- retire_data_keys
UPDATE data_keys SET retired_at = now() WHERE id = ANY($1::uuid[]) AND retired_at IS NULL

-- retry_unreadable_of_agents
UPDATE agent_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_host_credentials
UPDATE host_credential_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_inbound_hooks
UPDATE inbound_hook_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_model_providers
UPDATE model_provider_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_projects
UPDATE project_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_repositories
UPDATE repository_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_schedules
UPDATE schedule_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_task_templates
UPDATE task_template_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_tasks
UPDATE task_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- retry_unreadable_of_webhooks
UPDATE webhook_secrets SET unreadable_at = NULL WHERE unreadable_at IS NOT NULL

-- secrets_of_holders
SELECT r.workspace_id, r.agent_id, r.id AS run_id, r.task_id, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = r.workspace_id AND s.task_id = r.task_id) AS originals, (
  SELECT jsonb_agg(to_jsonb(s)) FROM agent_secrets s WHERE s.workspace_id = r.workspace_id AND s.agent_id = r.agent_id) AS of_agent, (
  SELECT jsonb_agg(to_jsonb(s)) FROM agent_tasks t
  JOIN project_secrets s ON s.workspace_id = r.workspace_id AND s.project_id = t.project_id
  WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id) AS of_project
FROM unnest($1::uuid[], $2::uuid[]) AS a (workspace_id, agent_id)
JOIN task_runs r ON r.workspace_id = a.workspace_id AND r.agent_id = a.agent_id AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')

-- secrets_of_runs
SELECT r.id AS run_id, r.task_id, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = r.workspace_id AND s.task_id = r.task_id) AS originals, (
  SELECT jsonb_agg(to_jsonb(s)) FROM agent_secrets s WHERE s.workspace_id = r.workspace_id AND s.agent_id = r.agent_id) AS of_agent, (
  SELECT jsonb_agg(to_jsonb(s)) FROM agent_tasks t
  JOIN project_secrets s ON s.workspace_id = r.workspace_id AND s.project_id = t.project_id
  WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id) AS of_project
FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])

-- set_unreadable_of_agents_aside
UPDATE agent_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, agent_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.agent_id = x.agent_id AND s.column_name = x.column_name

-- set_unreadable_of_host_credentials_aside
UPDATE host_credential_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, credential_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.credential_id = x.credential_id AND s.column_name = x.column_name

-- set_unreadable_of_inbound_hooks_aside
UPDATE inbound_hook_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, hook_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.hook_id = x.hook_id AND s.column_name = x.column_name

-- set_unreadable_of_model_providers_aside
UPDATE model_provider_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, provider_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.provider_id = x.provider_id AND s.column_name = x.column_name

-- set_unreadable_of_projects_aside
UPDATE project_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, project_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.project_id = x.project_id AND s.column_name = x.column_name

-- set_unreadable_of_repositories_aside
UPDATE repository_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, repository_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.repository_id = x.repository_id AND s.column_name = x.column_name

-- set_unreadable_of_schedules_aside
UPDATE schedule_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, schedule_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.schedule_id = x.schedule_id AND s.column_name = x.column_name

-- set_unreadable_of_task_templates_aside
UPDATE task_template_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, template_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.template_id = x.template_id AND s.column_name = x.column_name

-- set_unreadable_of_tasks_aside
UPDATE task_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, task_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.task_id = x.task_id AND s.column_name = x.column_name

-- set_unreadable_of_webhooks_aside
UPDATE webhook_secrets s SET unreadable_at = now()
FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, webhook_id uuid, column_name text)
WHERE s.workspace_id = x.workspace_id AND s.webhook_id = x.webhook_id AND s.column_name = x.column_name

-- task_documents
SELECT t.id, t.title, t.description, t.input_context, t.checkpoint_data, t.output_result, t.metadata, t.secrets, t.answers, t.agent, t.instructions, t.steps, t.deliverables, t.acceptance, t.acceptance_script, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[])

-- valid_host_credential_secrets
SELECT s.workspace_id, s.credential_id AS owner_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN host_credential_secrets s ON s.workspace_id = w.workspace_id AND s.credential_id = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC

-- valid_inbound_hook_secrets
SELECT s.workspace_id, s.hook_id AS owner_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN inbound_hook_secrets s ON s.workspace_id = w.workspace_id AND s.hook_id = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC

-- valid_model_provider_secrets
SELECT s.workspace_id, s.provider_id AS owner_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN model_provider_secrets s ON s.workspace_id = w.workspace_id AND s.provider_id = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC

-- valid_repository_secrets
SELECT s.workspace_id, s.repository_id AS owner_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN repository_secrets s ON s.workspace_id = w.workspace_id AND s.repository_id = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC

-- valid_webhook_secrets
SELECT s.workspace_id, s.webhook_id AS owner_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN webhook_secrets s ON s.workspace_id = w.workspace_id AND s.webhook_id = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC

-- write_agent_secrets
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (agent_id uuid, column_name text, key_id uuid, sealed jsonb)
  JOIN agents t ON t.workspace_id = $1 AND t.id = x.agent_id
  WHERE t.xmin = pg_current_xact_id()::xid
),
removed AS (
  DELETE FROM agent_secrets s USING input i
  WHERE s.workspace_id = $1 AND s.agent_id = i.agent_id AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO agent_secrets (workspace_id, agent_id, column_name, key_id, sealed)
SELECT $1, i.agent_id, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, agent_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL

-- write_host_credential_secret
INSERT INTO host_credential_secrets (workspace_id, credential_id, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, credential_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL

-- write_inbound_hook_secret
INSERT INTO inbound_hook_secrets (workspace_id, hook_id, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, hook_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL

-- write_model_provider_secret
INSERT INTO model_provider_secrets (workspace_id, provider_id, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, provider_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL

-- write_project_secrets
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (project_id uuid, column_name text, key_id uuid, sealed jsonb)
),
removed AS (
  DELETE FROM project_secrets s USING input i
  WHERE s.workspace_id = $1 AND s.project_id = i.project_id AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO project_secrets (workspace_id, project_id, column_name, key_id, sealed)
SELECT $1, i.project_id, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, project_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL

-- write_repository_secret
INSERT INTO repository_secrets (workspace_id, repository_id, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, repository_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL

-- write_resealed_of_agents
UPDATE agent_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, agent_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.agent_id = d.agent_id AND s.column_name = d.column_name

-- write_resealed_of_host_credentials
UPDATE host_credential_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, credential_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.credential_id = d.credential_id AND s.column_name = d.column_name

-- write_resealed_of_inbound_hooks
UPDATE inbound_hook_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, hook_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.hook_id = d.hook_id AND s.column_name = d.column_name

-- write_resealed_of_model_providers
UPDATE model_provider_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, provider_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.provider_id = d.provider_id AND s.column_name = d.column_name

-- write_resealed_of_projects
UPDATE project_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, project_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.project_id = d.project_id AND s.column_name = d.column_name

-- write_resealed_of_repositories
UPDATE repository_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, repository_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.repository_id = d.repository_id AND s.column_name = d.column_name

-- write_resealed_of_schedules
UPDATE schedule_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, schedule_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.schedule_id = d.schedule_id AND s.column_name = d.column_name

-- write_resealed_of_task_templates
UPDATE task_template_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, template_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.template_id = d.template_id AND s.column_name = d.column_name

-- write_resealed_of_tasks
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
  AND d.sealed IS NOT NULL

-- write_resealed_of_webhooks
UPDATE webhook_secrets s SET key_id = $1, sealed = d.sealed
FROM jsonb_to_recordset($2::jsonb) AS d (workspace_id uuid, webhook_id uuid, column_name text, sealed jsonb)
WHERE s.workspace_id = d.workspace_id AND s.webhook_id = d.webhook_id AND s.column_name = d.column_name

-- write_schedule_secrets
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (schedule_id uuid, column_name text, key_id uuid, sealed jsonb)
),
removed AS (
  DELETE FROM schedule_secrets s USING input i
  WHERE s.workspace_id = $1 AND s.schedule_id = i.schedule_id AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO schedule_secrets (workspace_id, schedule_id, column_name, key_id, sealed)
SELECT $1, i.schedule_id, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, schedule_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL

-- write_task_secrets
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (task_id uuid, column_name text, key_id uuid, sealed jsonb)
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = x.task_id
  WHERE t.xmin = pg_current_xact_id()::xid
),
removed AS (
  DELETE FROM task_secrets s USING input i
  WHERE s.workspace_id = $1 AND s.task_id = i.task_id AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO task_secrets (workspace_id, task_id, column_name, key_id, sealed)
SELECT $1, i.task_id, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, task_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL

-- write_task_template_secrets
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (template_id uuid, column_name text, key_id uuid, sealed jsonb)
),
removed AS (
  DELETE FROM task_template_secrets s USING input i
  WHERE s.workspace_id = $1 AND s.template_id = i.template_id AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO task_template_secrets (workspace_id, template_id, column_name, key_id, sealed)
SELECT $1, i.template_id, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, template_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL

-- write_webhook_secret
INSERT INTO webhook_secrets (workspace_id, webhook_id, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, webhook_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL
