-- Schedules: tasks that are created at due times.

-- NOT VALID: rows that are there have passed a check that allows less, and the journal is long.
ALTER DOMAIN actor_kind DROP CONSTRAINT actor_kind_check;
ALTER DOMAIN actor_kind ADD CONSTRAINT actor_kind_check
  CHECK (VALUE IN ('user', 'api_key', 'agent', 'run', 'hook', 'schedule', 'coordinator', 'system')) NOT VALID;

CREATE TABLE schedules (
  workspace_id   uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id             uuid NOT NULL,
  name           text NOT NULL CHECK (name <> ''),
  -- A cron expression in a time zone, or an interval.
  cron           text,
  time_zone      text,
  every_seconds  integer CHECK (every_seconds > 0),
  -- The due times of an interval are this time plus multiples of it.
  anchored_at    timestamptz NOT NULL,
  -- Bodies of POST /agent-tasks/batch, whose titles can be absent.
  tasks          jsonb NOT NULL CONSTRAINT schedules_tasks_are_a_list CHECK (jsonb_typeof(tasks) = 'array'),
  overlap        text NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow', 'cancel')),
  missed         text NOT NULL CHECK (missed IN ('none', 'last', 'all')),
  missed_limit   integer NOT NULL CHECK (missed_limit > 0),
  jitter_seconds integer NOT NULL CHECK (jitter_seconds >= 0),
  -- The next due time, and the time at which it starts. NULL: it is paused, or never due again.
  due_at         timestamptz,
  start_at       timestamptz,
  paused_at      timestamptz,
  pause_reason   text,
  created_by     uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  version        integer NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT schedules_have_one_rule CHECK ((cron IS NULL) <> (every_seconds IS NULL)
    AND (cron IS NULL) = (time_zone IS NULL)),
  CONSTRAINT schedules_start_when_due CHECK ((due_at IS NULL) = (start_at IS NULL)
    AND (due_at IS NULL OR paused_at IS NULL)),
  CONSTRAINT schedules_pause_has_time CHECK (pause_reason IS NULL OR paused_at IS NOT NULL)
);
CREATE UNIQUE INDEX schedules_name_key ON schedules (workspace_id, name);
CREATE INDEX schedules_start_idx ON schedules (start_at) WHERE start_at IS NOT NULL;

-- What became of each due time. The key makes a second task for one impossible.
CREATE TABLE schedule_occurrences (
  workspace_id uuid NOT NULL,
  schedule_id  uuid NOT NULL,
  due_at       timestamptz NOT NULL,
  -- Somebody started it by hand, at this time.
  manual       boolean NOT NULL DEFAULT false,
  outcome      text NOT NULL CHECK (outcome IN ('started', 'skipped', 'missed', 'failed')),
  -- The first of its tasks.
  task_id      uuid,
  reason       text,
  detail       text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, schedule_id, due_at),
  CONSTRAINT schedule_occurrences_schedule_fkey FOREIGN KEY (workspace_id, schedule_id)
    REFERENCES schedules (workspace_id, id) ON DELETE CASCADE,
  CONSTRAINT schedule_occurrences_start_a_task CHECK ((outcome = 'started') = (task_id IS NOT NULL))
);
CREATE INDEX schedule_occurrences_age_idx ON schedule_occurrences (created_at);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['schedules', 'schedule_occurrences'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, DELETE ON schedules TO drover_app;
GRANT UPDATE (name, cron, time_zone, every_seconds, anchored_at, tasks, overlap, missed, missed_limit, jitter_seconds,
  due_at, start_at, paused_at, pause_reason, version, updated_at) ON schedules TO drover_app;
GRANT SELECT ON schedules TO drover_service;
GRANT SELECT, INSERT ON schedule_occurrences TO drover_app;
GRANT SELECT, DELETE ON schedule_occurrences TO drover_service;

-- The schedule that created a task, and the due time. A schedule can be deleted before its tasks. Servers of the
-- version before create tasks without them.
ALTER TABLE agent_tasks
  ADD COLUMN schedule_id uuid,
  ADD COLUMN scheduled_for timestamptz,
  ADD CONSTRAINT agent_tasks_schedule_has_time CHECK ((schedule_id IS NULL) = (scheduled_for IS NULL)) NOT VALID;
CREATE INDEX agent_tasks_schedule_idx ON agent_tasks (workspace_id, schedule_id, id)
  WHERE schedule_id IS NOT NULL;
-- Those that have not finished, or wait for their retry.
CREATE INDEX agent_tasks_schedule_open_idx ON agent_tasks (workspace_id, schedule_id)
  WHERE schedule_id IS NOT NULL AND status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED', 'ABORTED');
