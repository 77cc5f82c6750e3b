-- The replay of an attempt is an attempt at the same change, so that no second one is approved.
CREATE FUNCTION follow_replay() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  UPDATE changes c SET attempts_id = o.attempts_id FROM changes o
  WHERE c.workspace_id = NEW.workspace_id AND c.task_id = NEW.id
    AND o.workspace_id = NEW.workspace_id AND o.task_id = NEW.replays_id AND o.attempts_id IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tasks_follow_replay AFTER UPDATE OF replays_id ON agent_tasks FOR EACH ROW
  WHEN (NEW.repository_id IS NOT NULL AND NEW.replays_id IS NOT NULL)
  EXECUTE FUNCTION follow_replay();
