-- What a task is paused for, which decides how it goes on. So far `paused_by`, who did it, was searched for that.
-- Two migrations: this one locks agent_tasks against everybody, and touches the paused tasks alone: 4 s for 100,000 of
-- them.

-- The budget or the provider limit that it is paused for; `request`: somebody wanted it, and resumes it.
ALTER TABLE agent_tasks
  ADD COLUMN paused_for text,
  ADD COLUMN paused_for_id uuid;

CREATE FUNCTION agent_task_is_whole(
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
      AND coalesce(paused_for, 'request') IN ('request', 'question', 'budget', 'provider')
    WHEN 'COMPLETED' THEN run_id IS NULL AND completed_at IS NOT NULL
    WHEN 'FAILED' THEN run_id IS NULL AND failed_at IS NOT NULL AND failure_reason IS NOT NULL
    WHEN 'ABORTED' THEN run_id IS NULL AND aborted_at IS NOT NULL AND abort_reason IS NOT NULL
    WHEN 'ARCHIVED' THEN run_id IS NULL AND archived_at IS NOT NULL
    ELSE false END;
END $$;

-- The next migration validates it, while others read and write.
ALTER TABLE agent_tasks DROP CONSTRAINT agent_tasks_state_is_whole,
  ADD CONSTRAINT agent_tasks_state_is_whole CHECK (agent_task_is_whole(status, run_id, agent_id, unmet_dependencies,
    ready_at, assigned_at, started_at, paused_at, paused_by, paused_for, completed_at, failed_at, failure_reason,
    aborted_at, abort_reason, archived_at)) NOT VALID;
DROP FUNCTION agent_task_is_whole(text, uuid, uuid, integer, timestamptz, timestamptz, timestamptz, timestamptz,
  timestamptz, timestamptz, text, timestamptz, text, timestamptz);

DROP INDEX agent_tasks_budget_paused_idx, agent_tasks_provider_paused_idx;

-- What servers of the version before mean by paused_by.
CREATE FUNCTION paused_for_of(paused_by text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
  WHEN paused_by LIKE 'run:%' OR paused_by LIKE 'agent:%' THEN 'question'
  WHEN paused_by LIKE 'coordinator:budget:%' THEN 'budget'
  WHEN paused_by LIKE 'coordinator:provider:%' THEN 'provider'
  WHEN paused_by IS NOT NULL THEN 'request' END;
CREATE FUNCTION paused_for_id_of(paused_by text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
  substring(paused_by FROM '^coordinator:(?:budget|provider):([0-9a-f-]{36})$')::uuid;

-- The owner's statements see all workspaces for this. Index: agent_tasks_status_idx.
ALTER TABLE agent_tasks NO FORCE ROW LEVEL SECURITY;
UPDATE agent_tasks SET paused_for = paused_for_of(coalesce(paused_by, '')), paused_for_id = paused_for_id_of(paused_by)
WHERE status = 'PAUSED';
ALTER TABLE agent_tasks FORCE ROW LEVEL SECURITY;

CREATE OR REPLACE TRIGGER agent_tasks_cancel_open_question AFTER UPDATE OF status ON agent_tasks FOR EACH ROW
  WHEN (OLD.status = 'PAUSED' AND NEW.status <> 'PAUSED' AND OLD.paused_for = 'question')
  EXECUTE FUNCTION cancel_open_question();

-- While servers are upgraded one by one, those of the version before change paused_by alone. After the update, and not
-- before it: see agent_tasks_require_command_later. Of what newer servers write the condition is false.
CREATE FUNCTION fill_paused_for() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  UPDATE agent_tasks SET paused_for = paused_for_of(paused_by), paused_for_id = paused_for_id_of(paused_by)
  WHERE workspace_id = NEW.workspace_id AND id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tasks_fill_paused_for AFTER UPDATE OF paused_by, paused_for ON agent_tasks FOR EACH ROW
  WHEN (NEW.status = 'PAUSED' AND NEW.paused_for IS NULL
    OR NEW.paused_by IS DISTINCT FROM OLD.paused_by AND NEW.paused_for IS NOT DISTINCT FROM OLD.paused_for)
  EXECUTE FUNCTION fill_paused_for();
