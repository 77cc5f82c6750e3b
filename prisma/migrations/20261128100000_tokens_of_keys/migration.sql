-- A revoked API key takes the agent tokens that it issued with it.
CREATE INDEX agent_tokens_key_idx ON agent_tokens (workspace_id, issued_by_key) WHERE issued_by_key IS NOT NULL;
