-- One journal: what moves a task, a run or an agent appends one row, which is the audit entry and the event.
-- Nothing updates it; consumers follow it with a cursor, and its partitions are dropped when they are old.

-- ---------------------------------------------------------------------------------------------
-- The journal, and the lines that are no events
-- ---------------------------------------------------------------------------------------------

-- Both tables draw from it, so that a task's log has one order. Ids are drawn under the lock of the task, so
-- those of one task rise with its versions.
CREATE SEQUENCE journal_id_seq AS bigint;

CREATE TABLE journal (
  -- Before the id: a column's default is evaluated in the order of the columns, so whoever has drawn an id
  -- below a number that somebody read has had a transaction id by then (see the relay's horizon).
  xid            xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id             bigint NOT NULL DEFAULT nextval('journal_id_seq'),
  workspace_id   uuid NOT NULL,
  -- What happened, by the name that subscribers know it by: task.status_changed, agent.status_changed ...
  event          text NOT NULL,
  -- Its name in the log of the task, where that is not the event's; '': it is not in the log.
  log_event      text,
  task_id        uuid,
  -- Of the task, or of the agent in an event of agents; NULL where no version changed.
  version        integer,
  previous_status text,
  new_status     text,
  run_id         uuid,
  -- The transition of the run that came with it.
  run_version    integer,
  previous_state text,
  new_state      text,
  end_reason     text,
  generation     integer,
  agent_id       uuid,
  actor_kind     text NOT NULL,
  actor_id       text,
  reason         text,
  level          text,
  message        text,
  details        jsonb,
  session_key    text,
  stack_trace    text,
  retry_at       timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (created_at);
-- The cursor of the consumers, and the log of a task.
CREATE INDEX journal_id_idx ON journal (id);
CREATE INDEX journal_task_idx ON journal (workspace_id, task_id, id) WHERE task_id IS NOT NULL;

CREATE TABLE task_log_lines (
  id           bigint NOT NULL DEFAULT nextval('journal_id_seq'),
  workspace_id uuid NOT NULL,
  task_id      uuid NOT NULL,
  run_id       uuid,
  agent_id     uuid,
  level        log_level NOT NULL DEFAULT 'INFO',
  event        varchar(100) NOT NULL,
  message      text,
  details      jsonb NOT NULL DEFAULT '{}',
  actor_kind   actor_kind NOT NULL,
  actor_id     text,
  session_key  varchar(255),
  created_at   timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (created_at);
CREATE INDEX task_log_lines_task_idx ON task_log_lines (workspace_id, task_id, id);

-- A partition a week, made four weeks ahead. The default one is for a server that nobody has looked after for
-- longer: no row is ever refused.
CREATE TABLE journal_default PARTITION OF journal DEFAULT;
CREATE TABLE task_log_lines_default PARTITION OF task_log_lines DEFAULT;

-- Makes the partitions that are missing. The service role calls it; only the owner of the tables may make some.
CREATE FUNCTION make_journal_partitions(weeks_ahead integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  parent text;
  monday timestamptz;
  name   text;
  made   integer := 0;
BEGIN
  -- One at a time; the table is locked for a moment only, and who waits for it longer tries again in an hour.
  PERFORM pg_advisory_xact_lock(hashtext('journal_partitions'));
  FOR week IN 0..weeks_ahead LOOP
    monday := date_trunc('week', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + make_interval(weeks => week);
    FOREACH parent IN ARRAY ARRAY['journal', 'task_log_lines'] LOOP
      name := parent || to_char(monday AT TIME ZONE 'UTC', '"_"IYYY"w"IW');
      CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
      BEGIN
        EXECUTE format('CREATE TABLE public.%I PARTITION OF public.%I FOR VALUES FROM (%L) TO (%L)',
          name, parent, monday, monday + interval '1 week');
        EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', name);
        made := made + 1;
      EXCEPTION
        -- Another partition has that week, or the default one already has rows of it.
        WHEN invalid_object_definition OR check_violation THEN NULL;
      END;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

-- Drops the partitions whose rows are all older than `keep`, but none that a consumer has yet to read.
CREATE FUNCTION drop_journal_partitions(keep interval) RETURNS text[]
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  part    record;
  unread  boolean;
  dropped text[] := '{}';
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('journal_partitions'));
  FOR part IN
    SELECT c.oid::regclass AS name, p.relname AS parent,
      (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
    WHERE p.oid IN ('public.journal'::regclass, 'public.task_log_lines'::regclass)
  LOOP
    CONTINUE WHEN part.until IS NULL OR part.until >= now() - keep;
    IF part.parent = 'journal' THEN
      EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE id > (SELECT min(position) FROM public.event_consumers))',
        part.name) INTO unread;
      CONTINUE WHEN unread;
    END IF;
    EXECUTE format('DROP TABLE %s', part.name);
    dropped := dropped || part.name::text;
  END LOOP;
  RETURN dropped;
END $$;

-- One row for each consumer of the journal: where it stands, and which process reads for it.
CREATE TABLE event_consumers (
  name         text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 100),
  -- All rows up to it have been dealt with.
  position     bigint NOT NULL DEFAULT 0,
  owner        text,
  leased_until timestamptz
);
INSERT INTO event_consumers (name) VALUES ('channels');

-- How many messages of each workspace a consumer has sent. They are counted in the order of the journal, which is the
-- same at every reading, so a message that is sent again has the number that it had.
CREATE TABLE event_numbers (
  consumer     text NOT NULL REFERENCES event_consumers (name) ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  last_number  bigint NOT NULL,
  PRIMARY KEY (consumer, workspace_id)
);

-- ---------------------------------------------------------------------------------------------
-- Facts that stood in the log only
-- ---------------------------------------------------------------------------------------------

-- In words why the task was aborted last.
ALTER TABLE agent_tasks ADD COLUMN abort_message text;
-- What ended the run: agent, gateway, user, coordinator. NULL: it lives, or ended before this was kept.
ALTER TABLE task_runs ADD COLUMN ended_by text;

ALTER TABLE agent_tasks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE task_runs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE agent_task_logs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE outbox_events NO FORCE ROW LEVEL SECURITY;
ALTER TABLE outbox_counters NO FORCE ROW LEVEL SECURITY;

UPDATE agent_tasks t SET abort_message = (
  SELECT l.message FROM agent_task_logs l
  WHERE l.workspace_id = t.workspace_id AND l.task_id = t.id AND l.new_status = 'ABORTED'
    AND l.task_version IS NOT NULL
  ORDER BY l.task_version DESC LIMIT 1)
WHERE t.aborted_at IS NOT NULL;

UPDATE task_runs r SET ended_by = (
  SELECT CASE WHEN l.actor_kind IN ('agent', 'run') THEN 'agent'
              WHEN l.actor_id LIKE 'gateway:%' THEN 'gateway'
              WHEN l.actor_kind IN ('user', 'api_key') THEN 'user'
              ELSE 'coordinator' END
  FROM agent_task_logs l
  WHERE l.workspace_id = r.workspace_id AND l.task_id = r.task_id AND l.run_id = r.id
    AND l.new_status IN ('ABORTED', 'FAILED', 'COMPLETED', 'PENDING') AND l.task_version IS NOT NULL
  ORDER BY l.task_version DESC LIMIT 1)
WHERE r.ended_at IS NOT NULL;

-- ---------------------------------------------------------------------------------------------
-- What is there moves over
-- ---------------------------------------------------------------------------------------------

-- For this migration alone: it finds the event of each log row.
CREATE INDEX outbox_events_subject_idx ON outbox_events (workspace_id, subject_id, subject_version);

-- The transitions, those first whose event is out already, each lot in the order in which it was written: the position of
-- the channels' consumer stands between the two. Of a transition with its run, one event is the other's companion.
CREATE TEMPORARY TABLE moving ON COMMIT DROP AS
SELECT l.workspace_id, l.id AS log_id, l.created_at, e.id AS event_id, r.id AS run_event_id,
  coalesce(e.published_at IS NULL AND e.id IS NOT NULL OR e.id = ANY(f.in_flight), false)
    OR coalesce(r.published_at IS NULL AND r.id IS NOT NULL OR r.id = ANY(f.in_flight), false) AS unpublished
FROM agent_task_logs l
CROSS JOIN outbox_relay f
LEFT JOIN outbox_events e ON e.subject_kind = 'task' AND e.workspace_id = l.workspace_id
  AND e.subject_id = l.task_id AND e.subject_version = l.task_version
LEFT JOIN LATERAL (
  SELECT x.id, x.published_at FROM outbox_events x
  WHERE x.subject_kind = 'run' AND x.workspace_id = l.workspace_id AND x.subject_id = l.run_id
    AND x.type = 'run.state_changed' AND x.created_at = l.created_at
  LIMIT 1) r ON l.run_id IS NOT NULL
WHERE l.task_version IS NOT NULL;
CREATE INDEX ON moving (log_id);

CREATE FUNCTION pg_temp.move_journal(which boolean) RETURNS void LANGUAGE sql AS $$
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, previous_status, new_status, run_id, run_version,
    previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message, details,
    session_key, stack_trace, retry_at, created_at)
  SELECT l.workspace_id,
    CASE l.event WHEN 'state_transition' THEN 'task.status_changed' WHEN 'task_created' THEN 'task.created' ELSE 'task.updated' END,
    CASE WHEN l.event NOT IN ('state_transition', 'task_created') THEN l.event END,
    l.task_id, l.task_version, l.previous_status, l.new_status, l.run_id,
    r.subject_version, r.payload ->> 'previousState', r.payload ->> 'newState', r.payload ->> 'reason',
    (r.payload ->> 'generation')::int, l.agent_id, l.actor_kind, l.actor_id, e.payload ->> 'reason',
    nullif(l.level, 'INFO'), l.message,
    CASE WHEN e.payload ? 'changed' THEN l.details || jsonb_build_object('changed', e.payload -> 'changed')
         WHEN l.details <> '{}' THEN l.details END,
    l.session_key, l.stack_trace, (e.payload ->> 'retryAt')::timestamptz, l.created_at
  FROM moving m
  JOIN agent_task_logs l ON l.workspace_id = m.workspace_id AND l.id = m.log_id
  LEFT JOIN outbox_events e ON e.id = m.event_id
  LEFT JOIN outbox_events r ON r.id = m.run_event_id
  WHERE m.unpublished = which
  ORDER BY coalesce(m.event_id, 0), l.id;
$$;
SELECT pg_temp.move_journal(false);

UPDATE event_consumers SET position = (SELECT coalesce(max(id), 0) FROM journal);

SELECT pg_temp.move_journal(true);

-- Events without a transition of a task that are still to be sent: progress, agents, warnings, runs alone.
INSERT INTO journal (workspace_id, event, log_event, task_id, version, previous_status, new_status, run_id, run_version,
  previous_state, new_state, end_reason, generation, agent_id, actor_kind, reason, message, details, created_at)
SELECT e.workspace_id, e.type, CASE WHEN (e.payload ->> 'checkpoint')::boolean THEN 'checkpoint' ELSE '' END,
  (e.payload ->> 'taskId')::uuid, CASE WHEN e.subject_kind = 'agent' THEN e.subject_version END,
  e.payload ->> 'previousStatus', e.payload ->> 'newStatus', (e.payload ->> 'runId')::uuid,
  CASE WHEN e.subject_kind = 'run' THEN e.subject_version END, e.payload ->> 'previousState', e.payload ->> 'newState',
  CASE WHEN e.subject_kind = 'run' THEN e.payload ->> 'reason' END, (e.payload ->> 'generation')::int,
  (e.payload ->> 'agentId')::uuid, 'system', CASE WHEN e.subject_kind = 'agent' THEN e.payload ->> 'reason' END,
  e.payload ->> 'currentStep',
  e.payload - '{event,taskId,runId,agentId,workspaceId,timestamp,version,previousStatus,newStatus,previousState,newState,reason,currentStep,checkpoint,generation}'::text[],
  e.created_at
FROM outbox_events e
WHERE (e.published_at IS NULL OR e.id IN (SELECT unnest(in_flight) FROM outbox_relay)) AND e.id NOT IN (
  SELECT event_id FROM moving WHERE event_id IS NOT NULL
  UNION ALL SELECT run_event_id FROM moving WHERE run_event_id IS NOT NULL)
ORDER BY e.id;

INSERT INTO event_numbers (consumer, workspace_id, last_number)
SELECT 'channels', workspace_id, last_seq FROM outbox_counters;

INSERT INTO task_log_lines (workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind,
  actor_id, session_key, created_at)
SELECT workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind, actor_id, session_key, created_at
FROM agent_task_logs WHERE task_version IS NULL
ORDER BY id;

DROP FUNCTION pg_temp.move_journal(boolean);
ALTER TABLE agent_tasks FORCE ROW LEVEL SECURITY;
ALTER TABLE task_runs FORCE ROW LEVEL SECURITY;
DROP TABLE agent_task_logs, outbox_events, outbox_counters, outbox_relay;
DROP DOMAIN event_subject;

-- What was moved lies in the default partitions until then; the weeks ahead have partitions of their own.
ALTER TABLE journal DETACH PARTITION journal_default;
ALTER TABLE task_log_lines DETACH PARTITION task_log_lines_default;
DO $$
DECLARE
  this_week timestamptz := date_trunc('week', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '1 week';
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['journal', 'task_log_lines'] LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', parent || '_default', parent || '_before');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)',
      parent, parent || '_before', this_week);
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', parent || '_default', parent);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', parent || '_before');
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', parent || '_default');
  END LOOP;
END $$;

-- Seed 003's table, as people and the API read it: the transitions beside the lines of the runs.
CREATE VIEW agent_task_logs WITH (security_invoker = true) AS
SELECT workspace_id, id, task_id, run_id, agent_id, version AS task_version, coalesce(level, 'INFO') AS level,
  coalesce(log_event, CASE event WHEN 'task.created' THEN 'task_created' ELSE 'state_transition' END) AS event,
  message, coalesce(details, '{}') AS details, previous_status, new_status, actor_kind, actor_id, session_key,
  stack_trace, created_at
FROM journal
WHERE task_id IS NOT NULL AND log_event IS DISTINCT FROM ''
UNION ALL
SELECT workspace_id, id, task_id, run_id, agent_id, NULL, level, event, message, details, NULL, NULL, actor_kind, actor_id,
  session_key, NULL, created_at
FROM task_log_lines;

-- ---------------------------------------------------------------------------------------------
-- References and indexes that keep no promise
-- ---------------------------------------------------------------------------------------------

-- The values of these are provided by our own statements, under the lock of the row that they name; what a client names
-- (project, milestone, dependency, tag) stays referenced. Their other half was that nobody removes the row that is named:
-- that is refused below, and the invariant no_orphans looks for what would have been missed.
ALTER TABLE agent_tasks DROP CONSTRAINT agent_tasks_workspace_id_fkey, DROP CONSTRAINT agent_tasks_created_by_fkey,
  DROP CONSTRAINT agent_tasks_agent_fkey;
ALTER TABLE task_runs DROP CONSTRAINT task_runs_task_fkey, DROP CONSTRAINT task_runs_agent_fkey,
  DROP CONSTRAINT task_runs_generation_key;
ALTER TABLE session_spawns DROP CONSTRAINT session_spawns_run_fkey;
ALTER TABLE agent_heartbeats DROP CONSTRAINT agent_heartbeats_agent_fkey;

CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are referred to and are never removed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['users', 'workspaces', 'agents', 'agent_tasks', 'task_runs'] LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal()',
      name || '_stay', name);
  END LOOP;
END $$;

-- The task's run_id says which of its runs lives: one at most.
DROP INDEX task_runs_live_key;
CREATE INDEX task_runs_task_idx ON task_runs (workspace_id, task_id, generation);

-- ---------------------------------------------------------------------------------------------
-- Rights
-- ---------------------------------------------------------------------------------------------

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['journal', 'task_log_lines', 'event_numbers'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT ON journal, task_log_lines TO drover_app, drover_service;
GRANT SELECT ON agent_task_logs TO drover_app, drover_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON event_consumers, event_numbers TO drover_service;
GRANT USAGE, SELECT ON SEQUENCE journal_id_seq TO drover_app, drover_service;
REVOKE ALL ON FUNCTION make_journal_partitions(integer), drop_journal_partitions(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_journal_partitions(integer), drop_journal_partitions(interval) TO drover_service;
SELECT make_journal_partitions(4);
