-- What became of the e-mail with the link. NULL: none is sent, because the invitation has no address or the server no
-- mail server. The mail itself is not stored, because it has the token.
ALTER TABLE workspace_invitations
  ADD COLUMN email_status text
    CONSTRAINT workspace_invitations_email_status_check CHECK (email_status IN ('sending', 'sent', 'failed')),
  ADD COLUMN email_problem text,
  ADD CONSTRAINT workspace_invitations_email_problem_check
    CHECK ((email_problem IS NOT NULL) = (email_status IS NOT DISTINCT FROM 'failed'));
