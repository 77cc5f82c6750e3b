-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- model_of_run
SELECT model FROM task_runs WHERE workspace_id = $1 AND id = $2 AND agent_id = $3

-- note_provider_limit
WITH turn AS MATERIALIZED (SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE)
INSERT INTO provider_limits AS l
  (workspace_id, id, provider, model, covers, kind, until, over_at, run_id, agent_id)
SELECT $1, $2, $3::text, $4::text, $5, $6, u.until,
  u.until + make_interval(secs => greatest(
    least($7::float8 * 0.1, 60), 2)), $8, $9
FROM turn CROSS JOIN task_runs r
CROSS JOIN LATERAL (
  SELECT CASE WHEN $10::boolean THEN now() ELSE coalesce(r.ended_at, now()) END
    + make_interval(secs => $7::float8)) AS u (until)
WHERE r.workspace_id = $1 AND r.id = $8 AND u.until > now()
  AND (SELECT count(*) FILTER (
      WHERE o.provider <> $3::text OR o.model IS DISTINCT FROM $4::text) FROM provider_limits o
    WHERE o.workspace_id = $1 AND o.over_at > now()) < 50
ON CONFLICT (workspace_id, provider, model) DO UPDATE SET
  covers = CASE WHEN l.over_at <= now() THEN excluded.covers
    WHEN $11::text ~ l.covers OR length(l.covers) > 10000 THEN l.covers
    ELSE l.covers || '|' || $12::text END,
  since = CASE WHEN l.over_at <= now() THEN excluded.since ELSE l.since END,
  over_at = CASE WHEN (excluded.until > l.until
    AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))
    THEN greatest(l.over_at, excluded.over_at) ELSE l.over_at END,
  kind = CASE WHEN (excluded.until > l.until
    AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))
    THEN excluded.kind ELSE l.kind END,
  until = CASE WHEN (excluded.until > l.until
    AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))
    THEN excluded.until ELSE l.until END,
  run_id = CASE WHEN (excluded.until > l.until
    AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))
    THEN excluded.run_id ELSE l.run_id END,
  agent_id = CASE WHEN (excluded.until > l.until
    AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))
    THEN excluded.agent_id ELSE l.agent_id END,
  reported_at = CASE WHEN (excluded.until > l.until
    AND ($10::boolean OR l.run_id <> excluded.run_id OR l.over_at <= now()))
    THEN excluded.reported_at ELSE l.reported_at END
WHERE l.over_at <= now() OR l.run_id = excluded.run_id OR EXISTS (
  SELECT FROM task_runs r
  WHERE r.workspace_id = l.workspace_id AND r.id = excluded.run_id AND r.ended_at IS NULL)
RETURNING l.id, l.until

-- open_provider_limits
SELECT l.id, l.provider, l.model, l.kind, l.since, l.until, l.run_id, l.agent_id,
  a.name AS agent_name, l.reported_at
FROM provider_limits l JOIN agents a ON a.workspace_id = l.workspace_id AND a.id = l.agent_id
WHERE l.workspace_id = $1 AND ($2::uuid IS NULL OR l.id = $2) AND l.until > now()
ORDER BY l.until DESC, l.id

-- remove_past_provider_limits
DELETE FROM provider_limits l USING (
  SELECT workspace_id, id FROM provider_limits
  WHERE over_at <= now() AND ($2::uuid IS NULL OR workspace_id = $2)
  ORDER BY over_at LIMIT $1 FOR UPDATE SKIP LOCKED) p
WHERE l.workspace_id = p.workspace_id AND l.id = p.id
RETURNING l.workspace_id

-- remove_provider_limit
DELETE FROM provider_limits WHERE workspace_id = $1 AND id = $2 AND until > now() RETURNING id
