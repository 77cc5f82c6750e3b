-- A host closes the pull request of a closed change. If the task is retried before the host has said so, the next
-- submission must not take that end for one that a person made.
CREATE OR REPLACE FUNCTION begin_sync() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  IF OLD.state = 'CLOSED' AND NEW.state = 'WORKING' THEN
    UPDATE changes c SET pull_request = NULL, pull_request_url = NULL, pull_request_seen = NULL
    WHERE c.workspace_id = NEW.workspace_id AND c.task_id = NEW.task_id AND c.pull_request IS NOT NULL;
    RETURN NULL;
  END IF;
  UPDATE changes c SET step = 'sync', step_due_at = now()
  WHERE c.workspace_id = NEW.workspace_id AND c.task_id = NEW.task_id AND c.state = NEW.state AND c.step IS NULL
    AND (c.pull_request IS NOT NULL OR c.state = 'IN_REVIEW' AND EXISTS (SELECT FROM repositories r
      WHERE r.workspace_id = c.workspace_id AND r.id = c.repository_id AND r.forge <> 'none'));
  RETURN NULL;
END $$;
