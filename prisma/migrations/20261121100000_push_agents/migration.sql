-- Push agents: what the gateway runs for them, the gateways that were heard of, and the intents to spawn.

-- What a session of the agent runs: an argument vector, never a shell's line.
-- Empty for agents that no gateway spawns.
ALTER TABLE agents ADD COLUMN command text[] NOT NULL DEFAULT '{}'
  CONSTRAINT agents_command_is_short CHECK (cardinality(command) <= 100);
CREATE INDEX agents_push_idx ON agents (workspace_id, id) WHERE mode = 'push';

-- One row for each gateway that has ever beaten. Of the installation, not of a tenant.
CREATE TABLE gateways (
  id           text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 100),
  -- New at each start: a beat with another one says that the gateway has restarted.
  boot_id      uuid NOT NULL,
  started_at   timestamptz NOT NULL,
  version      text,
  capacity     natural_number NOT NULL,
  running      natural_number NOT NULL,
  queued       natural_number NOT NULL,
  draining     boolean NOT NULL DEFAULT false,
  restarts     natural_number NOT NULL DEFAULT 0,
  last_seen_at timestamptz NOT NULL DEFAULT now()
);

-- The intent to spawn a session for a run, written with the run itself, and what became of it.
--   PENDING    to be sent, or sent with an answer that never came: the gateway knows the run again
--   SPAWNED    the gateway has the session
--   FAILED     the gateway would not, or could not be reached in time
--   CANCELLED  the run ended before its session was there
--   ENDED      the run ended after that
CREATE TABLE session_spawns (
  workspace_id    uuid NOT NULL,
  run_id          uuid NOT NULL,
  task_id         uuid NOT NULL,
  agent_id        uuid NOT NULL,
  state           text NOT NULL DEFAULT 'PENDING'
    CHECK (state IN ('PENDING', 'SPAWNED', 'FAILED', 'CANCELLED', 'ENDED')),
  attempts        natural_number NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  -- While this has not passed a server is asking the gateway.
  locked_until    timestamptz,
  gateway_id      text,
  gateway_boot_id uuid,
  session_key     varchar(255),
  last_error      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  settled_at      timestamptz,
  PRIMARY KEY (workspace_id, run_id),
  CONSTRAINT session_spawns_run_fkey FOREIGN KEY (workspace_id, run_id)
    REFERENCES task_runs (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT session_spawns_state_is_whole CHECK (CASE state
    WHEN 'PENDING' THEN settled_at IS NULL
    WHEN 'SPAWNED' THEN settled_at IS NOT NULL AND gateway_id IS NOT NULL AND session_key IS NOT NULL
    ELSE settled_at IS NOT NULL END)
) WITH (fillfactor = 80);
CREATE INDEX session_spawns_due_idx ON session_spawns (next_attempt_at) WHERE state = 'PENDING';
CREATE INDEX session_spawns_spawned_idx ON session_spawns (gateway_id) WHERE state = 'SPAWNED';
-- The gateway names its sessions by their runs alone.
CREATE INDEX session_spawns_run_idx ON session_spawns (run_id);

ALTER TABLE session_spawns ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_spawns FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON session_spawns FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON session_spawns FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT ON session_spawns, gateways TO drover_app;
GRANT SELECT, INSERT, UPDATE ON session_spawns TO drover_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateways TO drover_service;
