-- Nobody becomes a member unasked: an invitation stands until the user with its address takes it or declines it, a
-- member revokes it, or it ends. It is not tied to a user, so that making one tells nothing of who has an account.
CREATE TABLE workspace_invitations (
  workspace_id uuid NOT NULL,
  -- At random, and shown to the workspace's administrators alone: where an address proves nothing, this does.
  id           uuid NOT NULL,
  email        text NOT NULL
    CONSTRAINT workspace_invitations_email_check CHECK (email = lower(email) AND length(email) BETWEEN 3 AND 320),
  role         text NOT NULL
    CONSTRAINT workspace_invitations_role_check CHECK (role IN ('OWNER', 'ADMIN', 'MEMBER', 'VIEWER')),
  invited_by   uuid NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT workspace_invitations_email_key UNIQUE (workspace_id, email),
  -- A member who goes takes the open invitations along.
  CONSTRAINT workspace_invitations_inviter_fkey FOREIGN KEY (workspace_id, invited_by)
    REFERENCES workspace_members (workspace_id, user_id) ON DELETE CASCADE
);
CREATE INDEX workspace_invitations_addressee_idx ON workspace_invitations (email, id);
CREATE INDEX workspace_invitations_inviter_idx ON workspace_invitations (workspace_id, invited_by);
CREATE INDEX workspace_invitations_expires_at_idx ON workspace_invitations (expires_at);

ALTER TABLE workspace_invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace_invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON workspace_invitations FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON workspace_invitations FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_invitations TO drover_app;
-- It locks what it takes and prunes.
GRANT SELECT, UPDATE, DELETE ON workspace_invitations TO drover_service;
