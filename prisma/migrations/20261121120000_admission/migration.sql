-- Limits on what a workspace may queue and spawn, and switches that keep tasks from being handed out.

-- NULL: the installation's default holds.
CREATE TABLE workspace_limits (
  workspace_id      uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE RESTRICT,
  max_queue_depth   natural_number,
  spawns_per_minute natural_number,
  version           integer NOT NULL DEFAULT 1,
  updated_at        timestamptz NOT NULL DEFAULT now()
);

-- Token buckets of spawns: one for each workspace, and one for the installation.
CREATE TABLE spawn_allowances (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE RESTRICT,
  tokens       double precision NOT NULL CHECK (tokens >= 0),
  filled_at    timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE installation_spawn_allowance (
  id        integer PRIMARY KEY CHECK (id = 1),
  tokens    double precision NOT NULL CHECK (tokens >= 0),
  filled_at timestamptz NOT NULL DEFAULT now()
);

-- While a pause holds, no task that it covers is given to an agent. Runs under way go on.
-- task_type NULL: of all types.
CREATE TABLE pauses (
  workspace_id   uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id             uuid NOT NULL,
  task_type      task_kind,
  reason         varchar(1000) NOT NULL CHECK (length(reason) >= 1),
  paused_by      uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  created_at     timestamptz NOT NULL DEFAULT now(),
  until          timestamptz,
  ended_at       timestamptz,
  -- NULL in one that has ended: its time was over.
  ended_by       uuid REFERENCES users (id) ON DELETE RESTRICT,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT pauses_end_later CHECK (until > created_at)
);
CREATE INDEX pauses_holding_idx ON pauses (workspace_id) WHERE ended_at IS NULL;

-- The same for all workspaces; everybody may see these, operators make them.
CREATE TABLE installation_pauses (
  id         uuid PRIMARY KEY,
  reason     varchar(1000) NOT NULL CHECK (length(reason) >= 1),
  paused_by  uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  created_at timestamptz NOT NULL DEFAULT now(),
  until      timestamptz,
  ended_at   timestamptz,
  ended_by   uuid REFERENCES users (id) ON DELETE RESTRICT,
  CONSTRAINT installation_pauses_end_later CHECK (until > created_at)
);
CREATE INDEX installation_pauses_holding_idx ON installation_pauses (id) WHERE ended_at IS NULL;

-- The queue of a task is named by its capability_key. Tasks of a paused type wait in a queue of their own,
-- with a '!' before its name (no capability begins with one), so that a claim does not have to pass them.
CREATE INDEX agent_tasks_parked_idx ON agent_tasks (workspace_id, task_type, queue_rank)
  WHERE capability_key LIKE '!%';

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspace_limits', 'spawn_allowances', 'pauses'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT ON workspace_limits, spawn_allowances, installation_pauses TO drover_app;
GRANT SELECT, INSERT, UPDATE ON pauses TO drover_app;
GRANT SELECT, INSERT, UPDATE ON workspace_limits, spawn_allowances, installation_spawn_allowance,
  pauses, installation_pauses TO drover_service;
