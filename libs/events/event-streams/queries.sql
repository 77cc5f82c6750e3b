-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- streams_tasks_of_project
SELECT id FROM agent_tasks WHERE workspace_id = $1 AND project_id = $2 AND id = ANY($3::uuid[])
