-- Archived workspaces count too, because their rows stay. The creators of older workspaces are unknown, and these count
-- for nobody.
ALTER TABLE workspaces ADD COLUMN created_by uuid
  CONSTRAINT workspaces_created_by_fkey REFERENCES users (id) ON DELETE RESTRICT;
CREATE INDEX workspaces_created_by_idx ON workspaces (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX api_keys_created_by_idx ON api_keys (created_by) WHERE revoked_at IS NULL;
