-- The repository that a task changes. Servers of the version before leave it out.
ALTER TABLE agent_tasks ADD COLUMN repository_id uuid,
  ADD CONSTRAINT agent_tasks_repository_fkey FOREIGN KEY (workspace_id, repository_id)
    REFERENCES repositories (workspace_id, id) ON DELETE RESTRICT NOT VALID;

-- While its change is proven, reviewed or merged a task is PAUSED for `review`.
CREATE OR REPLACE FUNCTION agent_task_is_whole(
  status text, run_id uuid, agent_id uuid, unmet_dependencies integer, ready_at timestamptz, assigned_at timestamptz,
  started_at timestamptz, paused_at timestamptz, paused_by text, paused_for text, completed_at timestamptz,
  failed_at timestamptz, failure_reason text, aborted_at timestamptz, abort_reason text, archived_at timestamptz
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  -- Each status with what must be there, and must not, while it lasts.
  RETURN CASE status
    WHEN 'PENDING' THEN run_id IS NULL AND (unmet_dependencies > 0 OR ready_at IS NOT NULL)
    WHEN 'ASSIGNED' THEN run_id IS NOT NULL AND agent_id IS NOT NULL AND assigned_at IS NOT NULL
    WHEN 'RUNNING' THEN run_id IS NOT NULL AND agent_id IS NOT NULL AND started_at IS NOT NULL
    -- Without paused_for a server of the version before has paused it, and a trigger fills it at once.
    WHEN 'PAUSED' THEN paused_at IS NOT NULL AND (paused_for IS NOT NULL OR paused_by IS NOT NULL)
      AND coalesce(paused_for, 'request') IN ('request', 'question', 'review', 'budget', 'provider')
    WHEN 'COMPLETED' THEN run_id IS NULL AND completed_at IS NOT NULL
    WHEN 'FAILED' THEN run_id IS NULL AND failed_at IS NOT NULL AND failure_reason IS NOT NULL
    WHEN 'ABORTED' THEN run_id IS NULL AND aborted_at IS NOT NULL AND abort_reason IS NOT NULL
    WHEN 'ARCHIVED' THEN run_id IS NULL AND archived_at IS NOT NULL
    ELSE false END;
END $$;

-- A task with a repository has a change from the beginning, however it is created.
CREATE FUNCTION begin_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  INSERT INTO changes (workspace_id, task_id, repository_id, target)
  SELECT NEW.workspace_id, NEW.id, r.id, r.default_branch FROM repositories r
  WHERE r.workspace_id = NEW.workspace_id AND r.id = NEW.repository_id;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tasks_begin_change AFTER INSERT ON agent_tasks FOR EACH ROW
  WHEN (NEW.repository_id IS NOT NULL) EXECUTE FUNCTION begin_change();

-- A change follows its task, whoever moves it: it ends with the task, and a retried task works on it again. A change
-- that was moved before its task, in the same transaction, has arrived already. A FAILED one keeps its branch, also if
-- its task went through ABORTED in the same transaction, as after the last attempt of a run that had not started.
CREATE FUNCTION follow_task() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  WITH follows (went_to) AS (
    SELECT CASE NEW.status WHEN 'FAILED' THEN 'FAILED' WHEN 'PENDING' THEN 'WORKING' ELSE 'CLOSED' END
  ),
  moved AS (
    UPDATE changes c SET state = f.went_to, version = c.version + 1, updated_at = now(), obstacle = NULL,
      unattended_revisions = 0, review_due_at = NULL, step_generation = c.step_generation + 1,
      step = CASE WHEN f.went_to = 'CLOSED' AND c.branch IS NOT NULL THEN 'remove' END,
      step_due_at = CASE WHEN f.went_to = 'CLOSED' AND c.branch IS NOT NULL THEN now() END,
      step_agent_id = NULL, step_until = NULL, step_attempts = 0,
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
CREATE TRIGGER agent_tasks_follow_task AFTER UPDATE OF status ON agent_tasks FOR EACH ROW
  WHEN (NEW.repository_id IS NOT NULL AND (NEW.status IN ('PENDING', 'COMPLETED', 'FAILED')
    OR NEW.status = 'ABORTED' AND NEW.retry_at IS NULL))
  EXECUTE FUNCTION follow_task();
