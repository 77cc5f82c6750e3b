-- A trigger before an update would make `old` in its RETURNING the row of the snapshot, although another transaction has
-- changed it since. This one follows the update.
CREATE OR REPLACE FUNCTION begin_sync() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  UPDATE changes c SET step = 'sync', step_due_at = now()
  WHERE c.workspace_id = NEW.workspace_id AND c.task_id = NEW.task_id AND c.state = NEW.state AND c.step IS NULL
    AND (c.pull_request IS NOT NULL OR c.state = 'IN_REVIEW' AND EXISTS (SELECT FROM repositories r
      WHERE r.workspace_id = c.workspace_id AND r.id = c.repository_id AND r.forge <> 'none'));
  RETURN NULL;
END $$;
DROP TRIGGER changes_begin_sync ON changes;
CREATE TRIGGER changes_begin_sync AFTER UPDATE OF state ON changes FOR EACH ROW
  WHEN (NEW.step IS NULL AND NEW.state IN ('WORKING', 'IN_REVIEW', 'FAILED') AND NEW.state IS DISTINCT FROM OLD.state)
  EXECUTE FUNCTION begin_sync();
