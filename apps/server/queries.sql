-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- metrics_read_gauges
WITH pending AS MATERIALIZED (
  SELECT (SELECT count(*) FROM agent_tasks WHERE status = 'PENDING') AS all_of_them,
    (SELECT count(*) FROM agent_tasks t WHERE (t.status = 'PENDING' AND t.unmet_dependencies = 0)) AS ready
),
unread AS MATERIALIZED (
  SELECT c.name, u.count, u.oldest FROM event_consumers c CROSS JOIN LATERAL (
    SELECT count(*) AS count, min(created_at) AS oldest FROM (
      SELECT j.created_at FROM journal j WHERE j.id > c.position ORDER BY j.id LIMIT 100001) next) u
  UNION ALL
  SELECT 'usage', count(*), min(logged_at) FROM (
    SELECT l.logged_at FROM agent_usage_logs l
    WHERE l.seq > (SELECT position FROM usage_rollup_progress) ORDER BY l.seq LIMIT 100001) next
),
waiting AS MATERIALIZED (
  SELECT CASE WHEN w.disabled_at IS NOT NULL THEN 'disabled' WHEN w.failures > 0 THEN 'failing'
    ELSE 'healthy' END AS webhook,
    sum(n.count) AS count
  FROM webhooks w CROSS JOIN LATERAL (
    SELECT count(*) FROM (SELECT FROM webhook_deliveries d
      WHERE (d.workspace_id, d.webhook_id) = (w.workspace_id, w.id)
      AND d.state = 'pending' LIMIT 10001) next) n
  GROUP BY 1
),
newest_key AS MATERIALIZED (
  SELECT id FROM data_keys WHERE retired_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1
)
SELECT 'tasks' AS gauge, v.label, v.value::float8 FROM pending, LATERAL (VALUES
  ('ready', pending.ready),
  ('blocked', pending.all_of_them - pending.ready),
  ('assigned', (SELECT count(*) FROM agent_tasks WHERE status = 'ASSIGNED')),
  ('running', (SELECT count(*) FROM agent_tasks WHERE status = 'RUNNING')),
  ('paused', (SELECT count(*) FROM agent_tasks WHERE status = 'PAUSED')),
  ('retrying', (SELECT count(*) FROM agent_tasks t WHERE (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)))
) AS v (label, value)
UNION ALL
SELECT 'runs', state, count(*)::float8 FROM task_runs r
WHERE r.state IN ('ASSIGNED', 'WORKING', 'STALE') GROUP BY state
UNION ALL
SELECT 'questions', 'open', count(*)::float8 FROM questions WHERE status = 'open'
UNION ALL
SELECT 'pauses', p.scope || ' ' || p.ends_runs, count(*)::float8 FROM (
  SELECT CASE WHEN o.task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope, o.ends_runs
  FROM pauses o JOIN workspaces w ON w.id = o.workspace_id AND w.archived_at IS NULL
  WHERE o.ended_at IS NULL AND (o.until IS NULL OR o.until > now())
  UNION ALL
  SELECT 'everything', ends_runs FROM installation_pauses
  WHERE ended_at IS NULL AND (until IS NULL OR until > now())) p
GROUP BY 2
UNION ALL
SELECT 'agents', status, count(*)::float8 FROM agents a WHERE a.lifecycle <> 'TERMINATED' GROUP BY status
UNION ALL
SELECT 'outbox_events', name, count::float8 FROM unread
UNION ALL
SELECT 'outbox_lag', name, coalesce(extract(epoch FROM now() - oldest), 0)::float8 FROM unread
UNION ALL
SELECT 'webhook_deliveries', webhook, count::float8 FROM waiting
UNION ALL
SELECT 'webhook_lag', v.webhook, greatest(coalesce(extract(epoch FROM now() - v.due), 0), 0)::float8
  FROM (VALUES
  ('healthy', (SELECT min(due_at) FROM webhooks WHERE due_at IS NOT NULL AND failures = 0)),
  ('failing', (SELECT min(due_at) FROM webhooks WHERE due_at IS NOT NULL
    AND failures > 0))) AS v (webhook, due)
UNION ALL
SELECT 'budgets', CASE WHEN is_used_up THEN 'all' WHEN consumed >= 0.9 * allocated THEN 'from_90'
  WHEN consumed >= 0.75 * allocated THEN 'from_75' ELSE 'below_75' END, count(*)::float8
FROM usage_budgets b WHERE (b.period_start <= now() AND b.covers_until > now()) GROUP BY 2
UNION ALL
SELECT 'budget_scopes', CASE WHEN b.period_end > now() THEN 'ends_soon' ELSE 'ended' END,
  count(DISTINCT (b.workspace_id, b.scope_id))::float8
FROM usage_budgets b
WHERE (b.every IS NULL AND b.period_start <= now() AND b.period_end
    - least((b.period_end - b.period_start) / 10, interval '3 days') <= now()
  AND NOT EXISTS (SELECT FROM usage_budgets f
    WHERE f.workspace_id = b.workspace_id AND f.scope_id = b.scope_id AND f.id <> b.id
      AND tstzrange(f.period_start, f.covers_until)
        && tstzrange(b.period_end, b.period_end + interval '1 minute', '[]')) AND NOT EXISTS (SELECT FROM agent_tasks t
    WHERE t.workspace_id = b.workspace_id AND t.id = b.task_id AND t.status IN ('COMPLETED', 'ARCHIVED'))
  AND NOT EXISTS (SELECT FROM usage_budgets f
    WHERE f.workspace_id = b.workspace_id AND f.scope_id = b.scope_id AND f.id <> b.id
      AND (f.period_start <= now() AND f.covers_until > now()))) AND b.period_end > now() - interval '7 days'
GROUP BY 2
UNION ALL
SELECT 'sealed_tasks', key, count(*)::float8 FROM (
  SELECT CASE WHEN s.unreadable_at IS NOT NULL THEN 'unreadable'
    WHEN s.key_id = (SELECT id FROM newest_key) THEN 'current' ELSE 'older' END AS key
  FROM (SELECT key_id, unreadable_at FROM task_secrets
  UNION ALL SELECT key_id, unreadable_at FROM agent_secrets
  UNION ALL SELECT key_id, unreadable_at FROM project_secrets
  UNION ALL SELECT key_id, unreadable_at FROM schedule_secrets
  UNION ALL SELECT key_id, unreadable_at FROM task_template_secrets
  UNION ALL SELECT key_id, unreadable_at FROM webhook_secrets
  UNION ALL SELECT key_id, unreadable_at FROM inbound_hook_secrets
  UNION ALL SELECT key_id, unreadable_at FROM model_provider_secrets
  UNION ALL SELECT key_id, unreadable_at FROM host_credential_secrets
  UNION ALL SELECT key_id, unreadable_at FROM repository_secrets) s
  UNION ALL SELECT CASE WHEN split_part(f.sealed, ':', 1) = ($1::text[])[1] THEN 'current'
    WHEN split_part(f.sealed, ':', 1) = ANY($1::text[]) THEN 'older' ELSE 'unreadable' END FROM user_factors f) sealed
GROUP BY key
UNION ALL
SELECT 'api_keys', v.state, v.count::float8 FROM (
  SELECT count(*) FILTER (WHERE k.revoked_at IS NULL AND k.last_used_at IS NOT NULL
  AND k.expires_at > now() AND k.expires_at <= now() + interval '14 days') AS ending,
    count(*) FILTER (WHERE k.revoked_at IS NULL AND k.expires_at <= now() AND k.last_used_at > now() - interval '14 days') AS ended
  FROM api_keys k) n, LATERAL (VALUES ('ending', n.ending), ('ended', n.ended)) AS v (state, count)

-- server_probe
SELECT 1

-- short_ids_agents
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM agents
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_api_keys
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM api_keys
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_artifacts
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM artifacts
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_budgets
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM usage_budgets
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_inbound_hooks
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM inbound_hooks
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_invitations
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM workspace_invitations
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_members
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT user_id AS id FROM workspace_members
  WHERE workspace_id = $1 AND user_id BETWEEN range.low AND range.high
  ORDER BY user_id
  LIMIT 6
) AS found

-- short_ids_milestones
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM milestones
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_pauses
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM pauses
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_projects
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM projects
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_provider_limits
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM provider_limits
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_questions
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM questions
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_repositories
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM repositories
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_runs
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM task_runs
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_schedules
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM schedules
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_task_templates
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM task_templates
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_tasks
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM agent_tasks
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found

-- short_ids_webhooks
SELECT range.nth::int, found.id
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS range (low, high, nth)
CROSS JOIN LATERAL (
  SELECT id AS id FROM webhooks
  WHERE workspace_id = $1 AND id BETWEEN range.low AND range.high
  ORDER BY id
  LIMIT 6
) AS found
