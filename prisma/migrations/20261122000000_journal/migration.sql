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
  event          text NOT NULL CHECK (split_part(event, '.', 1) IN ('task', 'run', 'agent', 'budget', 'coordinator')),
  -- Its name in the log of the task, where that is not the event's; '': it is not in the log, as no run that moved
  -- alone is.
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
  actor_kind     actor_kind NOT NULL,
  actor_id       text,
  reason         text,
  level          log_level,
  message        text,
  details        jsonb,
  session_key    text,
  stack_trace    text,
  retry_at       timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now(),
  -- The cursor of the consumers. A key of a partitioned table has to name what it is partitioned by.
  PRIMARY KEY (id, created_at),
  CONSTRAINT journal_transition_is_whole CHECK (event <> 'task.status_changed'
    OR task_id IS NOT NULL AND version IS NOT NULL AND previous_status IS NOT NULL AND new_status IS NOT NULL)
) PARTITION BY RANGE (created_at);
-- The log of a task.
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
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, task_id, id, created_at)
) PARTITION BY RANGE (created_at);

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
    SELECT c.oid::regclass::text AS name, p.relname AS parent,
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
    dropped := dropped || part.name;
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

-- For this migration alone: it finds the events of a log row.
CREATE INDEX outbox_events_subject_idx ON outbox_events (workspace_id, subject_id, subject_version);

-- Each log row, with its event and that of the run that moved with the task, and each event that no log row tells of,
-- in the order in which they were written. What the relay has yet to send comes last, with all that follows it in the log
-- of the same task: the position of the channels' consumer stands between the two. (Events in flight may have arrived.
-- They are sent again, with the next numbers.)
CREATE TEMPORARY TABLE moving ON COMMIT DROP AS
WITH entry AS (
  SELECT l.workspace_id, l.id AS log_id, l.task_id, l.task_version IS NULL AND e.id IS NULL AS is_line,
    e.id AS event_id, r.id AS run_event_id, coalesce(e.waits, false) OR coalesce(r.waits, false) AS waits
  FROM agent_task_logs l
  CROSS JOIN outbox_relay f
  LEFT JOIN LATERAL (
    SELECT x.id, x.published_at IS NULL OR x.id = ANY (f.in_flight) AS waits FROM outbox_events x
    WHERE x.workspace_id = l.workspace_id AND x.created_at = l.created_at AND CASE
      WHEN l.task_version IS NOT NULL
        THEN x.subject_id = l.task_id AND x.subject_version = l.task_version AND x.subject_kind = 'task'
      WHEN l.event IN ('progress_update', 'checkpoint') THEN x.subject_id = l.task_id AND x.type = 'task.progress'
      WHEN l.event IN ('hung_warning', 'split_brain_conflict')
        THEN x.subject_id = l.run_id AND x.type = 'run.' || l.event
      END
    LIMIT 1) e ON true
  LEFT JOIN LATERAL (
    SELECT x.id, x.published_at IS NULL OR x.id = ANY (f.in_flight) AS waits FROM outbox_events x
    WHERE x.workspace_id = l.workspace_id AND x.subject_id = l.run_id AND x.type = 'run.state_changed'
      AND x.created_at = l.created_at AND l.task_version IS NOT NULL
    LIMIT 1) r ON true
),
alone AS (
  SELECT e.workspace_id, e.id AS event_id, e.published_at IS NULL OR e.id = ANY (f.in_flight) AS waits
  FROM outbox_events e CROSS JOIN outbox_relay f
  WHERE NOT EXISTS (SELECT FROM entry n WHERE n.event_id = e.id)
    AND NOT EXISTS (SELECT FROM entry n WHERE n.run_event_id = e.id)
),
ordered AS (
  SELECT workspace_id, log_id, is_line, event_id, run_event_id, bool_or(waits) OVER w AS waits,
    coalesce(max(event_id) OVER w, 0) AS place
  FROM entry WINDOW w AS (PARTITION BY workspace_id, task_id ORDER BY log_id)
  UNION ALL
  SELECT workspace_id, NULL, false, event_id, NULL, waits, event_id FROM alone
)
-- Ids of messages go on rising: they are made from those of the journal.
SELECT *, (SELECT coalesce(max(id), 0) FROM outbox_events) + row_number() OVER (ORDER BY waits, place, log_id) AS id
FROM ordered;
CREATE INDEX ON moving (log_id);

INSERT INTO journal (id, workspace_id, event, log_event, task_id, version, previous_status, new_status, run_id,
  run_version, previous_state, new_state, end_reason, generation, agent_id, actor_kind, actor_id, reason, level, message,
  details, session_key, stack_trace, retry_at, created_at)
SELECT m.id, l.workspace_id,
  CASE WHEN l.task_version IS NULL THEN e.type WHEN l.event = 'state_transition' THEN 'task.status_changed'
    WHEN l.event = 'task_created' THEN 'task.created' ELSE 'task.updated' END,
  CASE WHEN l.event NOT IN ('state_transition', 'task_created') THEN l.event END,
  l.task_id, l.task_version, l.previous_status, l.new_status, l.run_id,
  r.subject_version, r.payload ->> 'previousState', r.payload ->> 'newState', r.payload ->> 'reason',
  (r.payload ->> 'generation')::int, l.agent_id, l.actor_kind, l.actor_id, e.payload ->> 'reason',
  nullif(l.level, 'INFO'), l.message,
  CASE WHEN e.payload ? 'changed' THEN l.details || jsonb_build_object('changedFields', e.payload -> 'changed')
       WHEN l.details <> '{}' THEN l.details END,
  l.session_key, l.stack_trace, (e.payload ->> 'retryAt')::timestamptz, l.created_at
FROM moving m
JOIN agent_task_logs l ON l.workspace_id = m.workspace_id AND l.id = m.log_id
LEFT JOIN outbox_events e ON e.id = m.event_id
LEFT JOIN outbox_events r ON r.id = m.run_event_id
WHERE NOT m.is_line
ORDER BY m.id;

-- Of agents, runs that moved alone, cycles of dependencies.
INSERT INTO journal (id, workspace_id, event, log_event, task_id, version, previous_status, new_status, run_id,
  run_version, previous_state, new_state, end_reason, generation, agent_id, actor_kind, reason, details, created_at)
SELECT m.id, e.workspace_id, e.type, '', (e.payload ->> 'taskId')::uuid,
  CASE WHEN e.subject_kind = 'agent' THEN e.subject_version END,
  e.payload ->> 'previousStatus', e.payload ->> 'newStatus', (e.payload ->> 'runId')::uuid,
  CASE WHEN e.subject_kind = 'run' THEN e.subject_version END, e.payload ->> 'previousState', e.payload ->> 'newState',
  CASE WHEN e.subject_kind = 'run' THEN e.payload ->> 'reason' END, (e.payload ->> 'generation')::int,
  (e.payload ->> 'agentId')::uuid, 'system', CASE WHEN e.subject_kind = 'agent' THEN e.payload ->> 'reason' END,
  nullif(e.payload - '{event,taskId,runId,agentId,workspaceId,timestamp,version,previousStatus,newStatus,previousState,newState,reason,generation}'::text[], '{}'),
  e.created_at
FROM moving m
JOIN outbox_events e ON e.id = m.event_id
WHERE m.log_id IS NULL
ORDER BY m.id;

INSERT INTO task_log_lines (id, workspace_id, task_id, run_id, agent_id, level, event, message, details, actor_kind,
  actor_id, session_key, created_at)
SELECT m.id, l.workspace_id, l.task_id, l.run_id, l.agent_id, l.level, l.event, l.message, l.details, l.actor_kind,
  l.actor_id, l.session_key, l.created_at
FROM moving m
JOIN agent_task_logs l ON l.workspace_id = m.workspace_id AND l.id = m.log_id
WHERE m.is_line;

SELECT setval('journal_id_seq', max(id)) FROM moving;
UPDATE event_consumers SET position = coalesce((SELECT max(id) FROM moving WHERE NOT waits),
  (SELECT min(id) - 1 FROM moving), 0);
INSERT INTO event_numbers (consumer, workspace_id, last_number)
SELECT 'channels', workspace_id, last_seq FROM outbox_counters;

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
  message, coalesce(CASE event WHEN 'task.updated' THEN details - 'changedFields' ELSE details END, '{}') AS details,
  previous_status, new_status, actor_kind, actor_id, session_key, stack_trace, created_at
FROM journal
WHERE task_id IS NOT NULL AND log_event IS DISTINCT FROM '' AND event <> 'run.state_changed'
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
