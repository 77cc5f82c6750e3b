-- The limits that hold a task or run which can use these models. Each has the fallbacks of its chain; a list of
-- {model, models}. It is held while all models of its chain are refused. `version` is the regular expression of the
-- version at the end of a model's name.
--
-- One row for each limit. `free_at`: when the first model of the chain is free again.
CREATE FUNCTION provider_limits_of_models(workspace uuid, holder uuid, needed text[], chains jsonb, version text)
  RETURNS TABLE (limit_id uuid, free_at timestamptz, of_fallback boolean) LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN QUERY
  WITH asked AS (
    SELECT DISTINCT n.model FROM unnest(needed) AS n (model) WHERE n.model IS NOT NULL
  ), chain AS (
    SELECT a.model, a.model AS name, false AS fallback FROM asked a
    UNION ALL
    SELECT a.model, f.name, true FROM asked a
    CROSS JOIN LATERAL (
      SELECT c.entry FROM jsonb_array_elements(chains) WITH ORDINALITY AS c (entry, place)
      WHERE regexp_replace(c.entry ->> 'model', version, '') = regexp_replace(a.model, version, '')
      ORDER BY c.place LIMIT 1) c
    CROSS JOIN LATERAL jsonb_array_elements_text(c.entry -> 'models') AS f (name)
  ), refused AS (
    SELECT c.model, c.name, c.fallback, l.id, provider_limit_end(l.until, l.over_at, holder) AS ends
    FROM chain c LEFT JOIN provider_limits l ON l.workspace_id = workspace AND c.name ~ l.covers
      AND provider_limit_end(l.until, l.over_at, holder) > now()
  ), models AS (
    SELECT r.model, r.name, max(r.ends) AS ends FROM refused r GROUP BY r.model, r.name
  ), closed AS (
    SELECT m.model, min(m.ends) AS first_end FROM models m GROUP BY m.model HAVING count(*) = count(m.ends)
  )
  SELECT r.id, max(c.first_end), bool_and(r.fallback) FROM refused r JOIN closed c ON c.model = r.model GROUP BY r.id;
END $$;

-- The limits under which a task waits: those of the model that routing would give it, and of the model that its last run
-- worked with. The models of a coding agent have fallbacks. Servers of the version before use provider_limits_of_task.
CREATE FUNCTION limits_of_task(
  workspace uuid, task uuid, server_rules jsonb, server_tiers jsonb, version text,
  task_type text, priority integer, project uuid, complexity integer, tokens bigint, has_fallbacks boolean
) RETURNS TABLE (limit_id uuid, free_at timestamptz, of_fallback boolean) LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  routed text;
  used text;
  chains jsonb;
BEGIN
  SELECT CASE WHEN m.enabled THEN
      routed_model(m.rules || server_rules, server_tiers || m.tiers, task_type, priority, project, complexity, tokens) END,
    CASE WHEN has_fallbacks THEN m.fallbacks END
  INTO routed, chains FROM model_routing m WHERE m.workspace_id = workspace;
  SELECT CASE WHEN r.model IS DISTINCT FROM a.model THEN r.model END
  INTO used FROM task_runs r JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  WHERE r.workspace_id = workspace AND r.task_id = task ORDER BY r.generation DESC LIMIT 1;
  RETURN QUERY SELECT * FROM provider_limits_of_models(workspace, task, ARRAY[routed, used], coalesce(chains, '[]'), version);
END $$;
