-- Providers that have refused a workspace, and until when: what needs them waits.

CREATE TABLE provider_limits (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  provider     varchar(100) NOT NULL CHECK (length(provider) >= 1),
  -- NULL: all of the provider's models.
  model        varchar(100) CHECK (length(model) >= 1),
  -- A regular expression: the names of the models that it covers.
  covers       text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('rate_limited', 'quota_exhausted')),
  since        timestamptz NOT NULL DEFAULT now(),
  until        timestamptz NOT NULL,
  -- What waits goes on between `until` and then, each task and each agent at a time of its own.
  over_at      timestamptz NOT NULL,
  -- Who reported it last.
  run_id       uuid NOT NULL,
  agent_id     uuid NOT NULL,
  reported_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT provider_limits_is_one UNIQUE NULLS NOT DISTINCT (workspace_id, provider, model),
  CONSTRAINT provider_limits_times_follow CHECK (since < until AND until <= over_at)
);

CREATE INDEX provider_limits_over_idx ON provider_limits (over_at);

-- Tasks that were paused for a limit.
CREATE INDEX agent_tasks_provider_paused_idx ON agent_tasks (workspace_id, id)
  WHERE status = 'PAUSED' AND paused_by LIKE 'coordinator:provider:%';

-- When a limit ends for a task or an agent. By its id, so that everybody who asks hears the same. The last digits of an
-- id are random.
CREATE FUNCTION provider_limit_end(until timestamptz, over_at timestamptz, id uuid) RETURNS timestamptz
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN until + (over_at - until) * (('x' || right(id::text, 8))::bit(32)::bigint / 4294967296.0::float8);

-- The model that a task is given by the first of the rules that holds. A condition on what is not known does not hold.
CREATE FUNCTION routed_model(
  rules jsonb, tiers jsonb, task_type text, priority integer, project uuid, complexity integer, tokens bigint
) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT coalesce(r.rule ->> 'model', tiers ->> (r.rule ->> 'tier'))
    FROM jsonb_array_elements(rules) WITH ORDINALITY AS r (rule, place)
    WHERE (r.rule ->> 'taskType' IS NULL OR r.rule ->> 'taskType' = task_type)
      AND (r.rule ->> 'projectId' IS NULL OR coalesce((r.rule ->> 'projectId')::uuid = project, false))
      AND (r.rule ->> 'minPriority' IS NULL OR priority >= (r.rule ->> 'minPriority')::integer)
      AND (r.rule ->> 'minComplexity' IS NULL OR coalesce(complexity >= (r.rule ->> 'minComplexity')::integer, false))
      AND (r.rule ->> 'maxEstimatedTokens' IS NULL OR coalesce(tokens <= (r.rule ->> 'maxEstimatedTokens')::bigint, false))
    ORDER BY r.place LIMIT 1);
END $$;

-- The limits under which a task waits: those of the model that routing would give it, and of the model that its last run
-- worked with. What an agent brings along is the agent's, and not the task's.
--
-- plpgsql, here and below: a claim that meets no limit must not pay for setting this up.
CREATE FUNCTION provider_limits_of_task(
  workspace uuid, task uuid, server_rules jsonb, server_tiers jsonb,
  task_type text, priority integer, project uuid, complexity integer, tokens bigint
) RETURNS uuid[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  routed text;
  used text;
BEGIN
  SELECT routed_model(m.rules || server_rules, server_tiers || m.tiers, task_type, priority, project, complexity, tokens)
  INTO routed FROM model_routing m WHERE m.workspace_id = workspace AND m.enabled;
  SELECT CASE WHEN r.model IS DISTINCT FROM a.model THEN r.model END
  INTO used FROM task_runs r JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  WHERE r.workspace_id = workspace AND r.task_id = task ORDER BY r.generation DESC LIMIT 1;
  RETURN ARRAY(
    SELECT l.id FROM provider_limits l
    WHERE l.workspace_id = workspace AND (routed ~ l.covers OR used ~ l.covers)
      AND provider_limit_end(l.until, l.over_at, task) > now());
END $$;

-- When the last of the limits ends that hold an agent's own model; NULL: none does.
CREATE FUNCTION provider_limit_end_of_agent(workspace uuid, agent uuid, own_model text) RETURNS timestamptz
  LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT max(provider_limit_end(l.until, l.over_at, agent)) FROM provider_limits l
    WHERE l.workspace_id = workspace AND own_model ~ l.covers AND provider_limit_end(l.until, l.over_at, agent) > now());
END $$;

ALTER TABLE provider_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE provider_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON provider_limits FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON provider_limits FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON provider_limits TO drover_app, drover_service;
