-- Each statement that writes a table reads the trees of all of its CHECK constraints and generated columns from
-- their text again, 25 kB for one claim: a quarter of its time. Behind a function they are read once for each
-- connection. Written in PL/pgSQL, since Postgres would put the body of one in SQL back in its place.

CREATE FUNCTION agent_task_is_whole(
  status text, run_id uuid, agent_id uuid, unmet_dependencies integer, ready_at timestamptz, assigned_at timestamptz,
  started_at timestamptz, paused_at timestamptz, completed_at timestamptz, failed_at timestamptz,
  failure_reason text, aborted_at timestamptz, abort_reason text, archived_at timestamptz
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  -- Each status with what must be there, and must not, while it lasts.
  RETURN CASE status
    WHEN 'PENDING' THEN run_id IS NULL AND (unmet_dependencies > 0 OR ready_at IS NOT NULL)
    WHEN 'ASSIGNED' THEN run_id IS NOT NULL AND agent_id IS NOT NULL AND assigned_at IS NOT NULL
    WHEN 'RUNNING' THEN run_id IS NOT NULL AND agent_id IS NOT NULL AND started_at IS NOT NULL
    WHEN 'PAUSED' THEN paused_at IS NOT NULL
    WHEN 'COMPLETED' THEN run_id IS NULL AND completed_at IS NOT NULL
    WHEN 'FAILED' THEN run_id IS NULL AND failed_at IS NOT NULL AND failure_reason IS NOT NULL
    WHEN 'ABORTED' THEN run_id IS NULL AND aborted_at IS NOT NULL AND abort_reason IS NOT NULL
    WHEN 'ARCHIVED' THEN run_id IS NULL AND archived_at IS NOT NULL
    ELSE false END;
END $$;

CREATE FUNCTION task_run_is_whole(
  state text, started_at timestamptz, stale_at timestamptz, ended_at timestamptz, end_reason text
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE state
    WHEN 'ASSIGNED' THEN ended_at IS NULL
    WHEN 'WORKING' THEN ended_at IS NULL AND started_at IS NOT NULL
    WHEN 'IN_REVIEW' THEN ended_at IS NULL
    WHEN 'APPROVED' THEN ended_at IS NULL
    WHEN 'STALE' THEN ended_at IS NULL AND stale_at IS NOT NULL
    WHEN 'COMPLETED' THEN ended_at IS NOT NULL AND end_reason IS NOT NULL
    WHEN 'FAILED' THEN ended_at IS NOT NULL AND end_reason IS NOT NULL
    WHEN 'RELEASED' THEN ended_at IS NOT NULL AND end_reason IS NOT NULL
    ELSE false END;
END $$;

CREATE FUNCTION agent_is_whole(
  lifecycle text, live_runs integer, draining_at timestamptz, error_at timestamptz, terminated_at timestamptz
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE lifecycle
    WHEN 'STARTING' THEN terminated_at IS NULL
    WHEN 'ACTIVE' THEN terminated_at IS NULL
    WHEN 'DRAINING' THEN terminated_at IS NULL AND draining_at IS NOT NULL
    WHEN 'ERROR' THEN terminated_at IS NULL AND error_at IS NOT NULL
    WHEN 'TERMINATED' THEN terminated_at IS NOT NULL AND live_runs = 0
    ELSE false END;
END $$;

-- What the world sees: an active agent is WORKING while it holds a live run and IDLE otherwise.
CREATE FUNCTION agent_status(lifecycle text, live_runs integer) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN lifecycle <> 'ACTIVE' THEN lifecycle WHEN live_runs > 0 THEN 'WORKING' ELSE 'IDLE' END;
END $$;

CREATE FUNCTION is_journal_event(event text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN split_part(event, '.', 1) IN ('task', 'run', 'agent', 'budget', 'coordinator');
END $$;

CREATE FUNCTION journal_transition_is_whole(
  event text, task_id uuid, version integer, previous_status text, new_status text
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN event <> 'task.status_changed'
    OR task_id IS NOT NULL AND version IS NOT NULL AND previous_status IS NOT NULL AND new_status IS NOT NULL;
END $$;

ALTER TABLE agent_tasks DROP CONSTRAINT agent_tasks_state_is_whole,
  ADD CONSTRAINT agent_tasks_state_is_whole CHECK (agent_task_is_whole(status, run_id, agent_id, unmet_dependencies,
    ready_at, assigned_at, started_at, paused_at, completed_at, failed_at, failure_reason, aborted_at, abort_reason,
    archived_at));
ALTER TABLE task_runs DROP CONSTRAINT task_runs_state_is_whole,
  ADD CONSTRAINT task_runs_state_is_whole
    CHECK (task_run_is_whole(state, started_at, stale_at, ended_at, end_reason));
ALTER TABLE agents DROP CONSTRAINT agents_lifecycle_is_whole,
  ADD CONSTRAINT agents_lifecycle_is_whole
    CHECK (agent_is_whole(lifecycle, live_runs, draining_at, error_at, terminated_at)),
  ALTER COLUMN status SET EXPRESSION AS (agent_status(lifecycle, live_runs));
ALTER TABLE journal DROP CONSTRAINT journal_event_check, DROP CONSTRAINT journal_transition_is_whole,
  ADD CONSTRAINT journal_event_check CHECK (is_journal_event(event)),
  ADD CONSTRAINT journal_transition_is_whole
    CHECK (journal_transition_is_whole(event, task_id, version, previous_status, new_status));
