-- Due times whose tasks could not be created. Servers of the version before neither set nor clear the column.

CREATE OR REPLACE FUNCTION is_journal_event(event text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN split_part(event, '.', 1) IN ('task', 'run', 'agent', 'question', 'change', 'budget', 'schedule',
    'coordinator');
END $$;

-- The latest due time, if its tasks could not be created, until one starts or somebody changes the schedule.
ALTER TABLE schedules ADD COLUMN failed_at timestamptz;
CREATE INDEX schedules_failed_idx ON schedules (workspace_id) WHERE failed_at IS NOT NULL;
GRANT UPDATE (failed_at) ON schedules TO drover_app;
