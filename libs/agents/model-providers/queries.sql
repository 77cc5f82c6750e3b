-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- delete_model_provider
DELETE FROM model_providers p
WHERE p.workspace_id = $1 AND p.provider = $2 AND p.project_id IS NOT DISTINCT FROM $3
RETURNING p.id

-- list_model_providers
SELECT p.id, p.provider, p.project_id, p.base_url, p.created_at, p.updated_at FROM model_providers p WHERE p.workspace_id = $1
ORDER BY p.project_id NULLS FIRST, p.provider

-- provider_of_run
SELECT p.id, p.base_url
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN LATERAL (
  SELECT p.id, p.base_url FROM model_providers p
  WHERE p.workspace_id = $1 AND p.provider = $4
    AND (p.project_id IS NULL OR p.project_id = t.project_id)
  ORDER BY p.project_id NULLS LAST LIMIT 1) p ON true
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3

-- write_model_provider
INSERT INTO model_providers AS p (workspace_id, id, provider, project_id, base_url, created_by)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (workspace_id, provider, project_id)
  DO UPDATE SET base_url = excluded.base_url, created_by = excluded.created_by, updated_at = now()
RETURNING p.id, p.provider, p.project_id, p.base_url, p.created_at, p.updated_at
