-- Forges at which changes have pull requests. Servers of the version before leave repositories without one.
ALTER TABLE repositories
  ADD COLUMN forge text NOT NULL DEFAULT 'none' CHECK (forge IN ('none', 'github', 'gitea')),
  -- The address of its API. NULL: the usual one at the host of the repository.
  ADD COLUMN forge_url text,
  ADD COLUMN required_checks text[] NOT NULL DEFAULT '{}';
GRANT UPDATE (forge, forge_url, required_checks) ON repositories TO drover_app;

ALTER TABLE changes
  -- Its number at the forge. NULL: none is known yet.
  ADD COLUMN pull_request integer CHECK (pull_request > 0),
  ADD COLUMN pull_request_url text,
  -- What the last synchronisation has written and read.
  ADD COLUMN pull_request_seen text,
  DROP CONSTRAINT changes_step_check,
  ADD CONSTRAINT changes_step_check CHECK (step IN ('prove', 'land', 'remove', 'sync')) NOT VALID,
  DROP CONSTRAINT changes_steps_of_states,
  -- `sync` brings a pull request and its change together.
  ADD CONSTRAINT changes_steps_of_states CHECK (CASE state
    WHEN 'PROVING' THEN step IS NOT DISTINCT FROM 'prove'
    WHEN 'APPROVED' THEN step IS NOT DISTINCT FROM 'land'
    WHEN 'MERGED' THEN coalesce(step, 'remove') = 'remove'
    WHEN 'CLOSED' THEN coalesce(step, 'remove') = 'remove'
    ELSE coalesce(step, 'sync') = 'sync' END) NOT VALID;
GRANT UPDATE (pull_request, pull_request_url, pull_request_seen) ON changes TO drover_app, drover_service;
-- Events of a forge name a pull request.
CREATE INDEX changes_pull_request_idx ON changes (workspace_id, repository_id, pull_request)
  WHERE pull_request IS NOT NULL AND step IS NOT NULL;

-- What a person said at the forge, once: such as github:review:1.
ALTER TABLE change_reviews ADD COLUMN external_id text;
CREATE UNIQUE INDEX change_reviews_external_key ON change_reviews (workspace_id, task_id, external_id)
  WHERE external_id IS NOT NULL;

-- A change in review is synchronised, and one whose agent works on, if it has a pull request already. It applies to
-- each way by which a change moves.
CREATE FUNCTION begin_sync() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  IF NEW.pull_request IS NOT NULL OR NEW.state = 'IN_REVIEW' AND EXISTS (SELECT FROM repositories r
      WHERE r.workspace_id = NEW.workspace_id AND r.id = NEW.repository_id AND r.forge <> 'none') THEN
    NEW.step := 'sync';
    NEW.step_due_at := now();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER changes_begin_sync BEFORE UPDATE OF state ON changes FOR EACH ROW
  WHEN (NEW.step IS NULL AND NEW.state IN ('WORKING', 'IN_REVIEW', 'FAILED') AND NEW.state IS DISTINCT FROM OLD.state)
  EXECUTE FUNCTION begin_sync();

-- Events of Gitea, and events that make a synchronisation due.
ALTER TABLE inbound_hooks DROP CONSTRAINT inbound_hooks_kind_check,
  ADD CONSTRAINT inbound_hooks_kind_check CHECK (kind IN ('github', 'gitea', 'gitlab', 'generic')) NOT VALID;
ALTER TABLE inbound_hook_deliveries DROP CONSTRAINT inbound_hook_deliveries_outcome_check,
  ADD CONSTRAINT inbound_hook_deliveries_outcome_check
    CHECK (outcome IN ('created', 'resumed', 'synced', 'known', 'ignored', 'refused')) NOT VALID,
  DROP CONSTRAINT inbound_hook_deliveries_names_its_task,
  ADD CONSTRAINT inbound_hook_deliveries_names_its_task
    CHECK ((outcome IN ('created', 'resumed', 'synced', 'known')) = (task_id IS NOT NULL)) NOT VALID;
