-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- check_of_repository
SELECT r.id, r.check_state, r.check_requested_at, r.checked_at, r.check_findings FROM repositories r WHERE r.workspace_id = $1 AND r.id = $2

-- claim_check
WITH due AS MATERIALIZED (
  SELECT r.id FROM repositories r
  WHERE r.workspace_id = $1 AND r.check_state IN ('waiting', 'running') AND r.archived_at IS NULL
    AND NOT (EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = $1 AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))
    AND (r.check_until IS NULL OR r.check_until <= now())
    AND EXISTS (SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = $2
      AND 'git' = ANY (a.capabilities))
  ORDER BY r.check_requested_at LIMIT 1
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE repositories r SET check_state = 'running', check_agent_id = $2,
  check_generation = r.check_generation + 1,
  check_until = now() + interval '600 seconds'
FROM due d WHERE r.workspace_id = $1 AND r.id = d.id
RETURNING r.id, r.check_generation, r.check_until

-- end_check
UPDATE repositories r SET check_state = 'finished', checked_at = now(), check_findings = $5::jsonb,
  check_agent_id = NULL, check_until = NULL
WHERE r.workspace_id = $1 AND r.id = $2 AND r.check_agent_id = $3
  AND r.check_generation = $4
RETURNING r.id, r.check_state, r.check_requested_at, r.checked_at, r.check_findings

-- lock_repository
SELECT r.url, r.forge, r.forge_url, r.credential_kind FROM repositories r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
FOR NO KEY UPDATE

-- network_of_project
SELECT CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = $1) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN $2::uuid IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = $1 AND p.id = $2::uuid) END
    FROM workspaces w WHERE w.id = $1) END AS levels

-- release_check
UPDATE repositories r SET check_state = 'waiting', check_agent_id = NULL, check_until = NULL
WHERE r.workspace_id = $1 AND r.id = $2 AND r.check_agent_id = $3
  AND r.check_generation = $4
RETURNING r.id, r.check_state, r.check_requested_at, r.checked_at, r.check_findings

-- renew_check
UPDATE repositories r SET check_until = now() + interval '60 seconds'
WHERE r.workspace_id = $1 AND r.id = $2 AND r.check_agent_id = $3
  AND r.check_generation = $4
RETURNING r.check_until

-- repositories_at_forge
SELECT r.id FROM repositories r
WHERE r.workspace_id = $1 AND r.forge = $2
  AND regexp_replace(lower(r.url), '(\.git)?/?$', '') = ANY ($3::text[])

-- request_check
UPDATE repositories r SET check_state = 'waiting', check_requested_at = now(), check_agent_id = NULL,
  check_until = NULL
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
  AND (r.check_until IS NULL OR r.check_until <= now())
RETURNING r.id, r.check_state, r.check_requested_at, r.checked_at, r.check_findings
