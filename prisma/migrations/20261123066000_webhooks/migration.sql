-- Webhooks: where events are sent, what is to be sent, and what came of each attempt.

CREATE TABLE webhooks (
  workspace_id    uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id              uuid NOT NULL,
  url             text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  -- Names of events, or `task.*`, or `*`.
  events          text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 50),
  description     text,
  -- Whether GitHub's signature goes with each message as well.
  hub_signature   boolean NOT NULL DEFAULT false,
  disabled_at     timestamptz,
  disabled_reason text CHECK (disabled_reason IN ('user', 'gone')),
  version         integer NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  -- When something is to be sent; NULL: nothing waits, or it is disabled.
  due_at          timestamptz,
  -- Nothing is sent before: too many attempts in a row have failed.
  paused_until    timestamptz,
  -- Attempts in a row that have failed.
  failures        integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  -- Of the sender that is at it: one at a time.
  lease           uuid,
  leased_until    timestamptz,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT webhooks_disabled_has_reason CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  CONSTRAINT webhooks_disabled_is_not_due CHECK (disabled_at IS NULL OR due_at IS NULL),
  CONSTRAINT webhooks_lease_ends CHECK ((lease IS NULL) = (leased_until IS NULL))
);
-- Those that fail are looked for apart, so that they take no place from others.
CREATE INDEX webhooks_due_idx ON webhooks (due_at) WHERE due_at IS NOT NULL AND failures = 0;
CREATE INDEX webhooks_failing_due_idx ON webhooks (due_at) WHERE due_at IS NOT NULL AND failures > 0;

CREATE TABLE webhook_secrets (
  workspace_id  uuid NOT NULL,
  webhook_id    uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name IN ('secret', 'previous_secret')),
  key_id        uuid NOT NULL CONSTRAINT webhook_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  -- Nothing is signed with it any more from then on.
  expires_at    timestamptz,
  PRIMARY KEY (workspace_id, webhook_id, column_name),
  CONSTRAINT webhook_secrets_webhook_fkey FOREIGN KEY (workspace_id, webhook_id)
    REFERENCES webhooks (workspace_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_secrets_previous_expires CHECK ((column_name = 'previous_secret') = (expires_at IS NOT NULL))
);
CREATE INDEX webhook_secrets_key_idx ON webhook_secrets (key_id);

-- One message for one webhook. Those of a webhook that was deleted stay, unseen, until they are old: to remove them with it
-- could take minutes.
CREATE TABLE webhook_deliveries (
  workspace_id    uuid NOT NULL,
  webhook_id      uuid NOT NULL,
  -- The id of the message: the same event read again is the same delivery.
  event_id        bigint NOT NULL,
  event           text NOT NULL,
  -- The body, byte by byte as it is sent at each attempt.
  payload         text NOT NULL,
  occurred_at     timestamptz NOT NULL,
  state           text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts        integer NOT NULL DEFAULT 0,
  -- Since it came, or was replayed.
  failures        integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz DEFAULT now(),
  give_up_at      timestamptz NOT NULL DEFAULT now() + interval '24 hours',
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, webhook_id, event_id),
  CONSTRAINT webhook_deliveries_pending_has_time CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
  CONSTRAINT webhook_deliveries_counts CHECK (failures >= 0 AND attempts >= failures)
);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (workspace_id, webhook_id, next_attempt_at, event_id)
  WHERE state = 'pending';
CREATE INDEX webhook_deliveries_open_idx ON webhook_deliveries (workspace_id, webhook_id, state, event_id)
  WHERE state <> 'delivered';
CREATE INDEX webhook_deliveries_age_idx ON webhook_deliveries (created_at);

CREATE TABLE webhook_attempts (
  workspace_id uuid NOT NULL,
  webhook_id   uuid NOT NULL,
  event_id     bigint NOT NULL,
  number       integer NOT NULL CHECK (number >= 1),
  started_at   timestamptz NOT NULL,
  duration_ms  integer NOT NULL,
  url          text NOT NULL,
  -- Of the answer; NULL: there was none, for this reason.
  status       integer,
  error        text,
  answer       text,
  PRIMARY KEY (workspace_id, webhook_id, event_id, number),
  CONSTRAINT webhook_attempts_has_result CHECK ((status IS NULL) = (error IS NOT NULL)),
  CONSTRAINT webhook_attempts_delivery_fkey FOREIGN KEY (workspace_id, webhook_id, event_id)
    REFERENCES webhook_deliveries (workspace_id, webhook_id, event_id) ON DELETE CASCADE
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['webhooks', 'webhook_secrets', 'webhook_deliveries', 'webhook_attempts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks TO drover_app;
GRANT SELECT, UPDATE ON webhooks TO drover_service;
GRANT SELECT, INSERT, UPDATE (key_id, sealed, unreadable_at, expires_at) ON webhook_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON webhook_secrets TO drover_service;
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO drover_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries TO drover_service;
GRANT SELECT ON webhook_attempts TO drover_app;
GRANT SELECT, INSERT, DELETE ON webhook_attempts TO drover_service;
