-- Archiving a workspace revokes all its tokens with one row, not with one for each agent, run and member.
ALTER TABLE token_revocations DROP CONSTRAINT token_revocations_kind_check;
ALTER TABLE token_revocations ADD CONSTRAINT token_revocations_kind_check
  CHECK (kind IN ('user', 'session', 'agent', 'run', 'api_key', 'workspace'));
