-- The first migration: every table, its constraints, its indexes, and row-level security.
--
-- Conventions
--   * A tenant table's primary key starts with workspace_id, so that references between tenants'
--     rows are composite: a plain one would be satisfied by another tenant's row.
--   * States are text with a CHECK: comparisons of enums are not leakproof, so under row-level
--     security they could not use an index.
--   * Ids are UUID version 7, made by the application: their order is the order of creation.

-- ---------------------------------------------------------------------------------------------
-- Domains
-- ---------------------------------------------------------------------------------------------

-- A bound that concerns one value alone is a domain and not a table's CHECK: a domain is checked when
-- the value is written, a table's CHECKs are set up and evaluated again by every statement that
-- touches the row. On the task table that set-up cost more than the update itself.
CREATE DOMAIN short_name AS text CHECK (length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN task_title AS varchar(255) CHECK (length(VALUE) >= 1);
CREATE DOMAIN task_kind AS varchar(100) CHECK (length(VALUE) >= 1);
CREATE DOMAIN task_priority AS integer CHECK (VALUE BETWEEN 1 AND 10);
CREATE DOMAIN percentage AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN natural_number AS integer CHECK (VALUE >= 0);
CREATE DOMAIN positive_number AS integer CHECK (VALUE >= 1);
CREATE DOMAIN log_level AS text CHECK (VALUE IN ('DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'));
CREATE DOMAIN actor_kind AS text CHECK (VALUE IN ('user', 'api_key', 'agent', 'run', 'coordinator', 'system'));
CREATE DOMAIN event_subject AS text CHECK (VALUE IN ('task', 'run', 'agent', 'budget', 'coordinator'));
CREATE DOMAIN agent_mode AS text CHECK (VALUE IN ('push', 'pull'));

-- ---------------------------------------------------------------------------------------------
-- Identity
-- ---------------------------------------------------------------------------------------------

CREATE TABLE users (
  id            uuid PRIMARY KEY,
  email         text NOT NULL CHECK (email = lower(email) AND length(email) BETWEEN 3 AND 320),
  name          short_name NOT NULL,
  password_hash text,
  is_operator   boolean NOT NULL DEFAULT false,
  disabled_at   timestamptz,
  version       integer NOT NULL DEFAULT 1,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT users_email_key UNIQUE (email)
);

-- A user of another issuer (OIDC): the pair is what the issuer promises never to reuse.
CREATE TABLE user_identities (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  issuer     text NOT NULL,
  subject    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT user_identities_issuer_subject_key UNIQUE (issuer, subject)
);
CREATE INDEX user_identities_user_id_idx ON user_identities (user_id);

-- One row for each sign-in. The refresh token rotates: presenting a used one ends the session.
CREATE TABLE user_sessions (
  id                    uuid PRIMARY KEY,
  user_id               uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  refresh_hash          bytea NOT NULL,
  previous_refresh_hash bytea,
  user_agent            text,
  ip_address            text,
  created_at            timestamptz NOT NULL DEFAULT now(),
  last_used_at          timestamptz NOT NULL DEFAULT now(),
  expires_at            timestamptz NOT NULL,
  revoked_at            timestamptz
);
CREATE INDEX user_sessions_user_id_idx ON user_sessions (user_id);
CREATE UNIQUE INDEX user_sessions_refresh_hash_key ON user_sessions (refresh_hash);
CREATE INDEX user_sessions_previous_refresh_hash_idx ON user_sessions (previous_refresh_hash)
  WHERE previous_refresh_hash IS NOT NULL;

CREATE TABLE workspaces (
  id          uuid PRIMARY KEY,
  name        short_name NOT NULL,
  slug        text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  archived_at timestamptz,
  version     integer NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT workspaces_slug_key UNIQUE (slug)
);

CREATE TABLE workspace_members (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  user_id      uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  role         text NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER', 'VIEWER')),
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX workspace_members_user_id_idx ON workspace_members (user_id);

-- A program's credential. The key is shown once; only its SHA-256 stays.
CREATE TABLE api_keys (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  name         short_name NOT NULL,
  prefix       text NOT NULL,
  key_hash     bytea NOT NULL,
  role         text NOT NULL CHECK (role IN ('ADMIN', 'MEMBER', 'VIEWER')),
  scopes       text[] NOT NULL CHECK (cardinality(scopes) > 0),
  created_by   uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash)
);

-- What every server must refuse although its signature and age are right. Servers read the rows
-- past the last id they saw once a second, so a revocation holds with Valkey up or down.
CREATE TABLE token_revocations (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind       text NOT NULL CHECK (kind IN ('user', 'session', 'agent', 'run', 'api_key')),
  subject    text NOT NULL,
  not_before timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX token_revocations_expires_at_idx ON token_revocations (expires_at);

-- ---------------------------------------------------------------------------------------------
-- Projects and milestones: what a task may name, and what budgets are given to
-- ---------------------------------------------------------------------------------------------

CREATE TABLE projects (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  name         short_name NOT NULL,
  description  text,
  archived_at  timestamptz,
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);

CREATE TABLE milestones (
  workspace_id uuid NOT NULL,
  id           uuid NOT NULL,
  project_id   uuid NOT NULL,
  name         short_name NOT NULL,
  description  text,
  due_at       timestamptz,
  archived_at  timestamptz,
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT milestones_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT
);
-- A task that names both must name a milestone of its project.
CREATE UNIQUE INDEX milestones_project_id_key ON milestones (workspace_id, project_id, id);

-- ---------------------------------------------------------------------------------------------
-- Agents
-- ---------------------------------------------------------------------------------------------

CREATE TABLE agents (
  workspace_id               uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id                         uuid NOT NULL,
  name                       short_name NOT NULL,
  mode                       agent_mode NOT NULL DEFAULT 'pull',
  model                      text,
  -- Written by the agent door only. `status` is what the world sees: an active agent is WORKING
  -- while it holds a live run and IDLE otherwise, so the two can never disagree.
  lifecycle                  text NOT NULL DEFAULT 'STARTING',
  live_runs                  natural_number NOT NULL DEFAULT 0,
  status                     text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN lifecycle <> 'ACTIVE' THEN lifecycle
         WHEN live_runs > 0 THEN 'WORKING'
         ELSE 'IDLE' END) STORED,
  capabilities               text[] NOT NULL DEFAULT '{}',
  coordinator_enabled        boolean NOT NULL DEFAULT true,
  max_concurrent_tasks       positive_number NOT NULL DEFAULT 1,
  heartbeat_interval_seconds positive_number NOT NULL DEFAULT 30,
  stale_threshold_seconds    positive_number NOT NULL DEFAULT 180,
  host_name                  text,
  pid                        integer,
  agent_version              text,
  restart_count              integer NOT NULL DEFAULT 0,
  token_version              integer NOT NULL DEFAULT 1,
  metadata                   jsonb NOT NULL DEFAULT '{}',
  created_by                 uuid REFERENCES users (id) ON DELETE RESTRICT,
  termination_reason         text,
  draining_at                timestamptz,
  error_at                   timestamptz,
  terminated_at              timestamptz,
  version                    integer NOT NULL DEFAULT 1,
  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT agents_threshold_exceeds_interval
    CHECK (stale_threshold_seconds > heartbeat_interval_seconds),
  CONSTRAINT agents_lifecycle_is_whole CHECK (CASE lifecycle
    WHEN 'STARTING' THEN terminated_at IS NULL
    WHEN 'ACTIVE' THEN terminated_at IS NULL
    WHEN 'DRAINING' THEN terminated_at IS NULL AND draining_at IS NOT NULL
    WHEN 'ERROR' THEN terminated_at IS NULL AND error_at IS NOT NULL
    WHEN 'TERMINATED' THEN terminated_at IS NOT NULL AND live_runs = 0
    ELSE false END)
) WITH (fillfactor = 70);
-- Agent tokens name the agent; the workspace is looked up by it.
CREATE UNIQUE INDEX agents_id_key ON agents (id);

-- The latest beat of each agent, flushed from Valkey in batches; one row an agent, rewritten in
-- place (no index holds a column that a beat changes), so health costs no table growth.
CREATE TABLE agent_heartbeats (
  workspace_id     uuid NOT NULL,
  agent_id         uuid NOT NULL,
  status           text NOT NULL CHECK (status IN ('healthy', 'degraded', 'stale')),
  current_task_id  uuid,
  progress_percent percentage,
  current_step     text,
  memory_mb        natural_number,
  cpu_percent      natural_number,
  last_seen_at     timestamptz NOT NULL DEFAULT now(),
  next_expected_at timestamptz,
  metadata         jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, agent_id),
  CONSTRAINT agent_heartbeats_agent_fkey FOREIGN KEY (workspace_id, agent_id)
    REFERENCES agents (workspace_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------
-- Tasks, dependencies, runs, logs
-- ---------------------------------------------------------------------------------------------

-- The distinct sets of capabilities that tasks of a workspace ask for. A claim picks the sets that
-- its agent satisfies (few rows) and reads each one's queue from its head, so a backlog that the
-- agent can't serve costs it nothing.
CREATE TABLE capability_sets (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  key          text NOT NULL,
  capabilities text[] NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);

-- Lower is sooner: the moment a task became ready, in microseconds, less 15 minutes for each step of
-- priority. Of two waiting tasks the order never changes while they wait (both age alike), so an
-- index can hold it, and a task of priority 1 overtakes a newer one of priority 10 after 135 minutes.
CREATE FUNCTION queue_rank(ready_at timestamptz, priority integer) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (extract(epoch FROM ready_at) * 1000000)::bigint - priority * 900000000::bigint;

CREATE TABLE agent_tasks (
  workspace_id               uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id                         uuid NOT NULL,
  title                      task_title NOT NULL,
  description                text,
  task_type                  task_kind NOT NULL,
  project_id                 uuid,
  milestone_id               uuid,

  -- Written by the task door only.
  status                     text NOT NULL DEFAULT 'PENDING',
  version                    integer NOT NULL DEFAULT 1,
  priority                   task_priority NOT NULL DEFAULT 5,

  -- The live run, and the agent of the live or last one.
  run_id                     uuid,
  agent_id                   uuid,
  session_key                varchar(255),
  generation                 integer NOT NULL DEFAULT 0,

  progress_percent           percentage NOT NULL DEFAULT 0,
  current_step               text,
  estimated_duration_minutes positive_number,
  estimated_completion_at    timestamptz,
  timeout_seconds            positive_number,

  retry_count                integer NOT NULL DEFAULT 0,
  max_retries                natural_number NOT NULL DEFAULT 3,
  retry_backoff_seconds      natural_number NOT NULL DEFAULT 300,
  retry_at                   timestamptz,
  last_error                 text,
  abort_reason               text,
  failure_reason             text,

  required_capabilities      text[] NOT NULL DEFAULT '{}',
  capability_key             text NOT NULL DEFAULT '',
  unmet_dependencies         natural_number NOT NULL DEFAULT 0,
  ready_at                   timestamptz,
  queue_rank                 bigint GENERATED ALWAYS AS (queue_rank(ready_at, priority)) STORED,
  queue_expires_at           timestamptz,
  has_dependents             boolean NOT NULL DEFAULT false,
  dependents_unsettled       boolean NOT NULL DEFAULT false,

  input_context              jsonb NOT NULL DEFAULT '{}',
  output_result              jsonb,
  summary                    text,
  checkpoint_data            jsonb NOT NULL DEFAULT '{}',
  metadata                   jsonb NOT NULL DEFAULT '{}',

  paused_by                  text,
  pause_reason               text,

  created_by                 uuid REFERENCES users (id) ON DELETE RESTRICT,
  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  assigned_at                timestamptz,
  started_at                 timestamptz,
  paused_at                  timestamptz,
  completed_at               timestamptz,
  failed_at                  timestamptz,
  aborted_at                 timestamptz,
  archived_at                timestamptz,

  PRIMARY KEY (workspace_id, id),
  CONSTRAINT agent_tasks_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT agent_tasks_milestone_fkey FOREIGN KEY (workspace_id, project_id, milestone_id)
    REFERENCES milestones (workspace_id, project_id, id) ON DELETE RESTRICT,
  CONSTRAINT agent_tasks_agent_fkey FOREIGN KEY (workspace_id, agent_id)
    REFERENCES agents (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT agent_tasks_milestone_has_project CHECK (milestone_id IS NULL OR project_id IS NOT NULL),
  -- Each status with what must be there, and must not, while it lasts.
  CONSTRAINT agent_tasks_state_is_whole CHECK (CASE status
    WHEN 'PENDING' THEN run_id IS NULL AND (unmet_dependencies > 0 OR ready_at IS NOT NULL)
    WHEN 'ASSIGNED' THEN run_id IS NOT NULL AND agent_id IS NOT NULL AND assigned_at IS NOT NULL
    WHEN 'RUNNING' THEN run_id IS NOT NULL AND agent_id IS NOT NULL AND started_at IS NOT NULL
    WHEN 'PAUSED' THEN paused_at IS NOT NULL
    WHEN 'COMPLETED' THEN run_id IS NULL AND completed_at IS NOT NULL
    WHEN 'FAILED' THEN run_id IS NULL AND failed_at IS NOT NULL AND failure_reason IS NOT NULL
    WHEN 'ABORTED' THEN run_id IS NULL AND aborted_at IS NOT NULL AND abort_reason IS NOT NULL
    WHEN 'ARCHIVED' THEN run_id IS NULL AND archived_at IS NOT NULL
    ELSE false END),
  CONSTRAINT agent_tasks_retry_waits_aborted CHECK (retry_at IS NULL OR status = 'ABORTED')
) WITH (fillfactor = 80);

-- The queue: what a claim reads, in exactly the order it wants.
CREATE INDEX agent_tasks_queue_idx ON agent_tasks (workspace_id, capability_key, queue_rank)
  WHERE status = 'PENDING' AND unmet_dependencies = 0;
CREATE INDEX agent_tasks_retry_due_idx ON agent_tasks (retry_at) WHERE status = 'ABORTED' AND retry_at IS NOT NULL;
CREATE INDEX agent_tasks_queue_expiry_idx ON agent_tasks (queue_expires_at)
  WHERE status = 'PENDING' AND queue_expires_at IS NOT NULL;
CREATE INDEX agent_tasks_unsettled_idx ON agent_tasks (workspace_id, id) WHERE dependents_unsettled;
CREATE INDEX agent_tasks_status_idx ON agent_tasks (workspace_id, status, id);
CREATE INDEX agent_tasks_agent_idx ON agent_tasks (workspace_id, agent_id, id) WHERE agent_id IS NOT NULL;
CREATE INDEX agent_tasks_project_idx ON agent_tasks (workspace_id, project_id, id) WHERE project_id IS NOT NULL;

-- A table and not an array: array operators are not leakproof, so under row-level security an
-- index on an array would go unused.
CREATE TABLE agent_task_tags (
  workspace_id uuid NOT NULL,
  task_id      uuid NOT NULL,
  tag          varchar(100) NOT NULL CHECK (length(tag) >= 1),
  PRIMARY KEY (workspace_id, task_id, tag),
  CONSTRAINT agent_task_tags_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT
);
CREATE INDEX agent_task_tags_tag_idx ON agent_task_tags (workspace_id, tag, task_id);

-- task_id waits for depends_on_id. Settled once the prerequisite's end has been taken account of.
CREATE TABLE task_dependencies (
  workspace_id  uuid NOT NULL,
  task_id       uuid NOT NULL,
  depends_on_id uuid NOT NULL,
  policy        text NOT NULL DEFAULT 'block' CHECK (policy IN ('block', 'fail', 'ignore')),
  settled_at    timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, task_id, depends_on_id),
  CONSTRAINT task_dependencies_not_itself CHECK (task_id <> depends_on_id),
  CONSTRAINT task_dependencies_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT task_dependencies_depends_on_fkey FOREIGN KEY (workspace_id, depends_on_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT
);
CREATE INDEX task_dependencies_depends_on_idx ON task_dependencies (workspace_id, depends_on_id);

CREATE TABLE task_runs (
  workspace_id       uuid NOT NULL,
  id                 uuid NOT NULL,
  task_id            uuid NOT NULL,
  agent_id           uuid NOT NULL,
  generation         positive_number NOT NULL,
  -- Written by the run door only.
  state              text NOT NULL DEFAULT 'ASSIGNED',
  version            integer NOT NULL DEFAULT 1,
  session_key        varchar(255),
  lease_seconds      positive_number NOT NULL,
  lease_expires_at   timestamptz NOT NULL,
  -- A run whose agent beats has its lease carried by the beats; one claimed by hand is not.
  lease_by_heartbeat boolean NOT NULL DEFAULT true,
  renewals           natural_number NOT NULL DEFAULT 0,
  deadline_at        timestamptz,
  pause_requested_at timestamptz,
  -- Why it ended: completed, failed, released, cancelled, lease_expired, agent_stale, timeout ...
  end_reason         text,
  error              text,
  error_class        text,
  exit_code          integer,
  signal             text,
  stack_trace        text,
  branch             text,
  review_url         text,
  assigned_at        timestamptz NOT NULL DEFAULT now(),
  started_at         timestamptz,
  stale_at           timestamptz,
  ended_at           timestamptz,
  last_report_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT task_runs_generation_key UNIQUE (workspace_id, task_id, generation),
  CONSTRAINT task_runs_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT task_runs_agent_fkey FOREIGN KEY (workspace_id, agent_id)
    REFERENCES agents (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT task_runs_state_is_whole CHECK (CASE state
    WHEN 'ASSIGNED' THEN ended_at IS NULL
    WHEN 'WORKING' THEN ended_at IS NULL AND started_at IS NOT NULL
    WHEN 'IN_REVIEW' THEN ended_at IS NULL
    WHEN 'APPROVED' THEN ended_at IS NULL
    WHEN 'STALE' THEN ended_at IS NULL AND stale_at IS NOT NULL
    WHEN 'COMPLETED' THEN ended_at IS NOT NULL AND end_reason IS NOT NULL
    WHEN 'FAILED' THEN ended_at IS NOT NULL AND end_reason IS NOT NULL
    WHEN 'RELEASED' THEN ended_at IS NOT NULL AND end_reason IS NOT NULL
    ELSE false END)
) WITH (fillfactor = 80);
-- A task has at most one live run.
CREATE UNIQUE INDEX task_runs_live_key ON task_runs (workspace_id, task_id)
  WHERE state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE');
CREATE INDEX task_runs_live_agent_idx ON task_runs (workspace_id, agent_id)
  WHERE state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE');
CREATE INDEX task_runs_lease_idx ON task_runs (lease_expires_at)
  WHERE NOT lease_by_heartbeat AND state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE');
CREATE INDEX task_runs_deadline_idx ON task_runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND state IN ('ASSIGNED', 'WORKING', 'STALE');

-- Append-only. task_version is set on state transitions, one row for each version of the task.
CREATE TABLE agent_task_logs (
  workspace_id    uuid NOT NULL,
  id              uuid NOT NULL DEFAULT uuidv7(),
  task_id         uuid NOT NULL,
  run_id          uuid,
  agent_id        uuid,
  task_version    integer,
  level           log_level NOT NULL DEFAULT 'INFO',
  event           varchar(100) NOT NULL,
  message         text,
  details         jsonb NOT NULL DEFAULT '{}',
  previous_status text,
  new_status      text,
  actor_kind      actor_kind NOT NULL,
  actor_id        text,
  session_key     varchar(255),
  stack_trace     text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, task_id, id),
  CONSTRAINT agent_task_logs_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT agent_task_logs_transition_is_whole CHECK ((task_version IS NULL) = (new_status IS NULL))
);
CREATE UNIQUE INDEX agent_task_logs_version_key ON agent_task_logs (workspace_id, task_id, task_version)
  WHERE task_version IS NOT NULL;
CREATE INDEX agent_task_logs_trouble_idx ON agent_task_logs (workspace_id, id)
  WHERE level IN ('ERROR', 'CRITICAL');

-- ---------------------------------------------------------------------------------------------
-- Outbox and idempotency
-- ---------------------------------------------------------------------------------------------

-- The only source of events. The relay numbers them by workspace in the order it publishes them.
CREATE TABLE outbox_events (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id    uuid NOT NULL,
  type            text NOT NULL,
  subject_kind    event_subject NOT NULL,
  subject_id      uuid,
  subject_version integer,
  payload         jsonb NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  workspace_seq   bigint,
  published_at    timestamptz,
  CONSTRAINT outbox_events_published_is_numbered CHECK ((published_at IS NULL) = (workspace_seq IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX outbox_events_unpublished_idx ON outbox_events (id) WHERE published_at IS NULL;
CREATE UNIQUE INDEX outbox_events_seq_key ON outbox_events (workspace_id, workspace_seq)
  WHERE workspace_seq IS NOT NULL;

CREATE TABLE outbox_counters (
  workspace_id uuid PRIMARY KEY,
  last_seq     bigint NOT NULL DEFAULT 0
);

-- One row. Whoever holds its lease is the one relay. The events in flight have their numbers, and may
-- or may not have reached the channels yet: the next relay publishes them again.
CREATE TABLE outbox_relay (
  id           integer PRIMARY KEY CHECK (id = 1),
  owner        text,
  leased_until timestamptz,
  in_flight    bigint[] NOT NULL DEFAULT '{}'
);
INSERT INTO outbox_relay (id) VALUES (1);

CREATE TABLE idempotency_keys (
  workspace_id  uuid NOT NULL,
  key           varchar(255) NOT NULL,
  request_hash  bytea NOT NULL,
  status_code   integer,
  response_body jsonb,
  locked_until  timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);

-- ---------------------------------------------------------------------------------------------
-- Coordinator
-- ---------------------------------------------------------------------------------------------

-- One row. The epoch rises with each change of leader; every write of a cycle checks it.
CREATE TABLE coordinator_leadership (
  id          integer PRIMARY KEY CHECK (id = 1),
  epoch       bigint NOT NULL DEFAULT 0,
  instance_id text,
  acquired_at timestamptz,
  -- Who can not ask Valkey for the lock may lead once this has passed.
  leased_until timestamptz,
  last_cycle_at timestamptz,
  last_cycle  jsonb,
  cycle_count bigint NOT NULL DEFAULT 0
);
INSERT INTO coordinator_leadership (id) VALUES (1);

CREATE TABLE coordinator_logs (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id uuid,
  instance_id  text NOT NULL,
  level        log_level NOT NULL DEFAULT 'INFO',
  event        varchar(100) NOT NULL,
  message      text,
  details      jsonb NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX coordinator_logs_workspace_idx ON coordinator_logs (workspace_id, id);

-- ---------------------------------------------------------------------------------------------
-- Row-level security
-- ---------------------------------------------------------------------------------------------

-- drover_app serves requests: it sees the tenant that its transaction names, and with none named
-- it sees nothing. drover_service serves the coordinator, the relay and the look-ups that come
-- before a tenant is known (sign-in, API keys). Neither owns anything nor bypasses a policy.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_app') THEN
    BEGIN CREATE ROLE drover_app NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'drover_service') THEN
    BEGIN CREATE ROLE drover_service NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO drover_app, drover_service;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspace_members', 'api_keys', 'projects', 'milestones', 'agents',
    'agent_heartbeats', 'capability_sets', 'agent_tasks', 'agent_task_tags', 'task_dependencies',
    'task_runs', 'agent_task_logs', 'outbox_events', 'outbox_counters', 'idempotency_keys',
    'coordinator_logs']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

ALTER TABLE workspaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON workspaces FOR ALL TO drover_app
  USING (id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON workspaces FOR ALL TO drover_service USING (true) WITH CHECK (true);

-- A request sees the people of its own workspace, and nobody else.
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE users FORCE ROW LEVEL SECURITY;
CREATE POLICY fellow_members ON users FOR SELECT TO drover_app
  USING (id IN (SELECT user_id FROM workspace_members));
CREATE POLICY service ON users FOR ALL TO drover_service USING (true) WITH CHECK (true);

-- Rows that record what happened are appended, never edited or removed, by a request.
GRANT SELECT, INSERT, UPDATE ON workspace_members, api_keys, projects, milestones, agents,
  agent_heartbeats, agent_tasks, task_runs, task_dependencies, idempotency_keys TO drover_app;
GRANT DELETE ON workspace_members, agent_task_tags, task_dependencies, idempotency_keys TO drover_app;
GRANT SELECT, INSERT ON capability_sets, agent_task_tags, agent_task_logs, outbox_events TO drover_app;
GRANT SELECT, UPDATE ON workspaces TO drover_app;
-- Names and addresses of the members that a request may see; never a password's hash.
GRANT SELECT (id, email, name, is_operator, disabled_at, created_at) ON users TO drover_app;
GRANT INSERT, SELECT ON token_revocations TO drover_app;
GRANT SELECT ON coordinator_leadership TO drover_app;
GRANT SELECT ON coordinator_logs TO drover_app;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO drover_service;
REVOKE UPDATE, DELETE ON agent_task_logs, task_runs, agent_tasks FROM drover_service;
GRANT UPDATE ON task_runs, agent_tasks TO drover_service;
-- The record of migrations is theirs to read. (A shadow database of Prisma's has none.)
DO $$
BEGIN
  IF to_regclass('_prisma_migrations') IS NOT NULL THEN
    REVOKE INSERT, UPDATE, DELETE ON _prisma_migrations FROM drover_service;
  END IF;
END $$;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO drover_app, drover_service;
