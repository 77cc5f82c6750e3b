-- Inbound hooks: events of other systems become tasks.

-- NOT VALID: rows that are there have passed a check that allows less, and the journal is long.
ALTER DOMAIN actor_kind DROP CONSTRAINT actor_kind_check;
ALTER DOMAIN actor_kind ADD CONSTRAINT actor_kind_check
  CHECK (VALUE IN ('user', 'api_key', 'agent', 'run', 'hook', 'coordinator', 'system')) NOT VALID;

CREATE TABLE inbound_hooks (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  -- Who signs, and how.
  kind         text NOT NULL CHECK (kind IN ('github', 'gitlab', 'generic')),
  description  text,
  -- Which events do what; the first that matches decides.
  rules        jsonb NOT NULL CONSTRAINT inbound_hooks_rules_are_a_list CHECK (jsonb_typeof(rules) = 'array'),
  disabled_at  timestamptz,
  created_by   uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);
-- The address of a hook does not name its workspace.
CREATE UNIQUE INDEX inbound_hooks_id_key ON inbound_hooks (id);

CREATE TABLE inbound_hook_secrets (
  workspace_id  uuid NOT NULL,
  hook_id       uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name IN ('secret', 'previous_secret')),
  key_id        uuid NOT NULL CONSTRAINT inbound_hook_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  -- Nothing that is signed with it is taken any more from then on.
  expires_at    timestamptz,
  PRIMARY KEY (workspace_id, hook_id, column_name),
  CONSTRAINT inbound_hook_secrets_hook_fkey FOREIGN KEY (workspace_id, hook_id)
    REFERENCES inbound_hooks (workspace_id, id) ON DELETE CASCADE,
  CONSTRAINT inbound_hook_secrets_previous_expires CHECK ((column_name = 'previous_secret') = (expires_at IS NOT NULL))
);
CREATE INDEX inbound_hook_secrets_key_idx ON inbound_hook_secrets (key_id);

-- One signed event for one hook, and what came of it; never what it said. Those that made a task stay as long as the
-- hook: they link the task to its subject. The others of a hook that was deleted stay, unseen, until they are old.
CREATE TABLE inbound_hook_deliveries (
  workspace_id uuid NOT NULL,
  hook_id      uuid NOT NULL,
  id           uuid NOT NULL,
  -- The sender's own: the same again is the same delivery.
  delivery_id  text NOT NULL CHECK (length(delivery_id) BETWEEN 1 AND 255),
  -- SHA-256 of the body.
  digest       bytea NOT NULL CHECK (length(digest) = 32),
  -- The signature covers the body and not the delivery_id: the same body again is the same delivery.
  known_by_digest boolean NOT NULL,
  event        text NOT NULL,
  -- What the event is about, such as github:owner/repo#12.
  subject      text,
  -- Of the hook's rules, from 0; NULL: none matched.
  rule         integer CHECK (rule >= 0),
  outcome      text NOT NULL CHECK (outcome IN ('created', 'resumed', 'known', 'ignored', 'refused')),
  -- Of a subject there is to be no second task.
  once         boolean NOT NULL DEFAULT false,
  task_id      uuid,
  -- Why nothing was done: a word, or the code of an error; and a sentence.
  reason       text,
  detail       text,
  received_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, hook_id, id),
  CONSTRAINT inbound_hook_deliveries_names_its_task
    CHECK ((outcome IN ('created', 'resumed', 'known')) = (task_id IS NOT NULL)),
  CONSTRAINT inbound_hook_deliveries_has_reason CHECK ((outcome IN ('ignored', 'refused')) = (reason IS NOT NULL)),
  CONSTRAINT inbound_hook_deliveries_once_creates CHECK (NOT once OR outcome = 'created')
);
CREATE UNIQUE INDEX inbound_hook_deliveries_delivery_key ON inbound_hook_deliveries (workspace_id, hook_id, delivery_id);
CREATE UNIQUE INDEX inbound_hook_deliveries_digest_key ON inbound_hook_deliveries (workspace_id, hook_id, digest)
  WHERE known_by_digest;
CREATE UNIQUE INDEX inbound_hook_deliveries_once_key ON inbound_hook_deliveries (workspace_id, hook_id, subject) WHERE once;
CREATE INDEX inbound_hook_deliveries_subject_idx ON inbound_hook_deliveries (workspace_id, hook_id, subject, id)
  WHERE outcome = 'created';
CREATE INDEX inbound_hook_deliveries_age_idx ON inbound_hook_deliveries (received_at)
  WHERE outcome <> 'created';

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['inbound_hooks', 'inbound_hook_secrets', 'inbound_hook_deliveries'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE ON inbound_hooks TO drover_app;
GRANT SELECT ON inbound_hooks TO drover_service;
GRANT SELECT, INSERT, UPDATE (key_id, sealed, unreadable_at, expires_at) ON inbound_hook_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON inbound_hook_secrets TO drover_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON inbound_hook_deliveries TO drover_app;
GRANT SELECT, DELETE ON inbound_hook_deliveries TO drover_service;
