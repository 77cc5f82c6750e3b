-- Tasks that start later, and tasks of a key of which few run at once. Each of the two counts in `unmet_dependencies`
-- while it holds the task back, so such tasks are not in the queue, and claims do not read them. Servers of the version
-- before create tasks without either. A check refuses their repair of the count, which knows dependencies alone.
ALTER TABLE agent_tasks
  ADD COLUMN start_at timestamptz,
  ADD COLUMN waits_for_start boolean NOT NULL DEFAULT false,
  ADD COLUMN concurrency_key text,
  ADD COLUMN concurrency_limit integer,
  ADD COLUMN waits_for_slot boolean NOT NULL DEFAULT false,
  ADD COLUMN debounce_key text,
  ADD CONSTRAINT agent_tasks_concurrency_limit_check CHECK (concurrency_limit > 0) NOT VALID,
  ADD CONSTRAINT agent_tasks_slot_has_key CHECK ((concurrency_key IS NULL) = (concurrency_limit IS NULL)
    AND (concurrency_key IS NOT NULL OR NOT waits_for_slot)) NOT VALID,
  ADD CONSTRAINT agent_tasks_start_has_time CHECK (start_at IS NOT NULL OR NOT waits_for_start) NOT VALID,
  ADD CONSTRAINT agent_tasks_holds_are_counted CHECK (unmet_dependencies >= waits_for_start::int + waits_for_slot::int)
    NOT VALID;

CREATE INDEX agent_tasks_start_idx ON agent_tasks (start_at)
  WHERE waits_for_start AND status IN ('PENDING', 'PAUSED');
CREATE INDEX agent_tasks_debounce_idx ON agent_tasks (workspace_id, debounce_key)
  WHERE debounce_key IS NOT NULL AND waits_for_start AND status = 'PENDING';
-- Those that wait for a slot alone, and those that have one.
CREATE INDEX agent_tasks_slot_idx ON agent_tasks (workspace_id, concurrency_key, priority DESC, created_at, id)
  WHERE waits_for_slot AND status = 'PENDING' AND unmet_dependencies = 1;
CREATE INDEX agent_tasks_slot_taken_idx ON agent_tasks (workspace_id, concurrency_key)
  WHERE concurrency_key IS NOT NULL AND NOT waits_for_slot
    AND status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED', 'ABORTED');
