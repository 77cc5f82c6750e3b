-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- lock_repository
SELECT r.url, r.forge, r.credential_kind FROM repositories r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
FOR NO KEY UPDATE

-- repositories_at_forge
SELECT r.id FROM repositories r
WHERE r.workspace_id = $1 AND r.forge = $2
  AND regexp_replace(lower(r.url), '(\.git)?/?$', '') = ANY ($3::text[])
