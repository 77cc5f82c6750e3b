ALTER TABLE changes
  -- The wait since step_waits_since has lasted so long that people have heard of it.
  ADD COLUMN step_overdue boolean NOT NULL DEFAULT false;
GRANT UPDATE (step_overdue) ON changes TO drover_app, drover_service;

-- The removal of a branch begins with a wait of its own.
CREATE OR REPLACE FUNCTION follow_task() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  WITH follows (went_to) AS (
    SELECT CASE NEW.status WHEN 'FAILED' THEN 'FAILED' WHEN 'PENDING' THEN 'WORKING' ELSE 'CLOSED' END
  ),
  moved AS (
    UPDATE changes c SET state = f.went_to, version = c.version + 1, updated_at = now(), obstacle = NULL,
      unattended_revisions = 0, review_due_at = NULL, step_generation = c.step_generation + 1,
      step = CASE WHEN f.went_to = 'CLOSED' AND c.branch IS NOT NULL THEN 'remove' END,
      step_due_at = CASE WHEN f.went_to = 'CLOSED' AND c.branch IS NOT NULL THEN
        CASE c.step WHEN 'land' THEN greatest(now(), c.step_until) ELSE now() END END,
      step_agent_id = NULL, step_until = NULL, step_attempts = 0, step_waits_since = NULL,
      step_overdue = false, step_hurried = false,
      closed_at = CASE WHEN f.went_to = 'WORKING' THEN NULL ELSE now() END
    FROM follows f
    WHERE c.workspace_id = NEW.workspace_id AND c.task_id = NEW.id AND CASE f.went_to
      WHEN 'WORKING' THEN c.state NOT IN ('WORKING', 'MERGED')
      WHEN 'FAILED' THEN c.state IN ('WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED')
        OR c.state = 'CLOSED' AND c.closed_at = now()
      ELSE c.state IN ('WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED') END
    RETURNING WITH (OLD AS was) c.*, was.state AS previous_state
  )
  INSERT INTO journal (workspace_id, event, task_id, reason, details, actor_kind)
  SELECT m.workspace_id, CASE m.state WHEN 'FAILED' THEN 'change.failed' WHEN 'WORKING' THEN 'change.returned'
      ELSE 'change.closed' END, m.task_id, 'task_' || lower(NEW.status),
    jsonb_build_object('repositoryId', m.repository_id, 'previousState', m.previous_state, 'newState', m.state,
      'revision', m.revision, 'branch', m.branch, 'headCommit', m.head_commit), 'system'
  FROM moved m;
  RETURN NULL;
END $$;
