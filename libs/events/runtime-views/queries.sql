-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- views_changed_agents
SELECT a.workspace_id, a.id, a.status,
  (extract(epoch FROM h.last_seen_at) * 1000)::float8 AS last_seen_at, l.held
FROM unnest($1::uuid[], $2::uuid[]) AS c (workspace_id, id)
JOIN agents a ON a.workspace_id = c.workspace_id AND a.id = c.id
LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
CROSS JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('task_id', r.task_id,
    'assigned_at', extract(epoch FROM r.assigned_at) * 1000) ORDER BY r.assigned_at, r.id), '[]')
    AS held
  FROM task_runs r
  WHERE r.workspace_id = a.workspace_id AND r.agent_id = a.id AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')) l

-- views_changed_runs
SELECT r.workspace_id, r.id, r.task_id, r.agent_id, r.session_key, r.state IN ('ASSIGNED', 'WORKING', 'STALE') AS is_live,
  (extract(epoch FROM r.started_at) * 1000)::float8 AS started_at,
  (5 - extract(epoch FROM now() - r.assigned_at))::float8 * 1000 AS lock_ms
FROM unnest($1::uuid[], $2::uuid[]) AS c (workspace_id, id)
JOIN task_runs r ON r.workspace_id = c.workspace_id AND r.id = c.id

-- views_changed_tasks
SELECT t.workspace_id, t.id, t.status, t.priority,
  (extract(epoch FROM t.created_at) * 1000)::float8 AS created_at
FROM unnest($1::uuid[], $2::uuid[]) AS c (workspace_id, id)
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.id

-- views_live_runs
SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.state IN ('ASSIGNED', 'WORKING', 'STALE')

-- views_present_agents
SELECT a.id FROM agents a WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED'

-- views_viewed_workspaces
SELECT id FROM workspaces ORDER BY id

-- views_waiting_retries
SELECT w.id AS workspace_id, ARRAY(
  SELECT t.id::text FROM agent_tasks t
  WHERE t.workspace_id = w.id AND t.status = 'ABORTED' AND t.retry_at IS NOT NULL
  ORDER BY t.retry_at, t.id LIMIT 1000) AS tasks
FROM unnest($1::uuid[]) AS w (id)

-- views_waiting_tasks
SELECT t.id FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.status = 'PENDING' AND ($2::uuid IS NULL OR t.id > $2::uuid)
ORDER BY t.id LIMIT $3
