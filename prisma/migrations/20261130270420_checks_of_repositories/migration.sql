-- The check of a repository by a host: whether agents could work on it. Servers of the version before know none.
ALTER TABLE repositories
  ADD COLUMN check_state text CONSTRAINT repositories_check_state_check
    CHECK (check_state IN ('waiting', 'running', 'finished')),
  ADD COLUMN check_generation integer NOT NULL DEFAULT 0,
  ADD COLUMN check_requested_at timestamptz,
  ADD COLUMN check_agent_id uuid,
  ADD COLUMN check_until timestamptz,
  ADD COLUMN checked_at timestamptz,
  ADD COLUMN check_findings jsonb NOT NULL DEFAULT '[]'
    CONSTRAINT repositories_check_findings_check CHECK (jsonb_typeof(check_findings) = 'array'),
  ADD CONSTRAINT repositories_check_lease_check CHECK ((check_state = 'running') IS TRUE = (check_agent_id IS NOT NULL)
    AND (check_agent_id IS NULL) = (check_until IS NULL));
CREATE INDEX repositories_check_idx ON repositories (workspace_id) WHERE check_state IN ('waiting', 'running');
GRANT UPDATE (check_state, check_generation, check_requested_at, check_agent_id, check_until, checked_at, check_findings)
  ON repositories TO drover_app;
