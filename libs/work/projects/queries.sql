-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- servers_of_project
SELECT p.mcp_servers FROM projects p WHERE p.workspace_id = $1 AND p.id = $2
FOR NO KEY UPDATE
