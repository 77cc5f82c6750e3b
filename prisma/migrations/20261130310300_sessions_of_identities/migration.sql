-- The link to a subject of the issuer that a session began with. The session ends with the link.
ALTER TABLE user_sessions ADD COLUMN identity_id uuid
  CONSTRAINT user_sessions_identity_fkey REFERENCES user_identities (id) ON DELETE CASCADE;
CREATE INDEX user_sessions_identity_id_idx ON user_sessions (identity_id) WHERE identity_id IS NOT NULL;
