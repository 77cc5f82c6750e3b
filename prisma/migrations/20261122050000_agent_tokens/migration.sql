-- The tokens of agents that were issued and are still good, so that they can be listed, and end with the membership of
-- whoever issued them. Nothing of a token is kept but its id. Those that are older than this have no row.
CREATE TABLE agent_tokens (
  workspace_id  uuid NOT NULL,
  id            uuid NOT NULL,
  agent_id      uuid NOT NULL,
  issued_by     uuid NOT NULL,
  -- The API key with which it was done, if it was one; its maker has issued it.
  issued_by_key uuid,
  issued_at     timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT agent_tokens_agent_fkey FOREIGN KEY (workspace_id, agent_id)
    REFERENCES agents (workspace_id, id) ON DELETE RESTRICT,
  -- Nobody issues one while the membership is taken, and no membership goes before what it has issued.
  CONSTRAINT agent_tokens_issuer_fkey FOREIGN KEY (workspace_id, issued_by)
    REFERENCES workspace_members (workspace_id, user_id) ON DELETE RESTRICT
);
CREATE INDEX agent_tokens_agent_idx ON agent_tokens (workspace_id, agent_id);
CREATE INDEX agent_tokens_issuer_idx ON agent_tokens (workspace_id, issued_by);
CREATE INDEX agent_tokens_expires_at_idx ON agent_tokens (expires_at);

ALTER TABLE agent_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agent_tokens FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON agent_tokens FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON agent_tokens TO drover_app;
-- It locks what it prunes.
GRANT SELECT, UPDATE, DELETE ON agent_tokens TO drover_service;

ALTER TABLE token_revocations DROP CONSTRAINT token_revocations_kind_check;
ALTER TABLE token_revocations ADD CONSTRAINT token_revocations_kind_check
  CHECK (kind IN ('user', 'session', 'agent', 'agent_token', 'run', 'api_key', 'workspace'));
