-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- credentials_of_run
SELECT DISTINCT ON (c.host) c.id, c.host, c.scheme, c.header
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN host_credentials c ON c.workspace_id = $1
  AND (c.project_id IS NULL OR c.project_id = t.project_id)
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
ORDER BY c.host, c.project_id NULLS LAST

-- delete_host_credential
DELETE FROM host_credentials c
WHERE c.workspace_id = $1 AND c.host = $2 AND c.project_id IS NOT DISTINCT FROM $3
RETURNING c.id

-- list_host_credentials
SELECT c.id, c.host, c.scheme, c.header, c.project_id, c.created_at, c.updated_at FROM host_credentials c WHERE c.workspace_id = $1
ORDER BY c.host, c.project_id NULLS FIRST

-- write_host_credential
INSERT INTO host_credentials AS c (workspace_id, id, host, project_id, scheme, header, created_by)
SELECT $1::uuid, $2::uuid, $3::text, $4::uuid, $5::text, $6::text, $7::uuid
WHERE (SELECT count(*) FROM host_credentials o WHERE o.workspace_id = $1
  AND NOT (o.host = $3 AND o.project_id IS NOT DISTINCT FROM $4)) < $8
ON CONFLICT (workspace_id, host, project_id) DO UPDATE SET scheme = excluded.scheme,
  header = excluded.header, created_by = excluded.created_by, updated_at = now()
RETURNING c.id, c.host, c.scheme, c.header, c.project_id, c.created_at, c.updated_at
