-- Invitations are links. The token is stored as its hash. Invitations of servers of the version before have none.
ALTER TABLE workspace_invitations ADD COLUMN token_hash bytea
  CONSTRAINT workspace_invitations_token_hash_check CHECK (length(token_hash) = 32);
CREATE UNIQUE INDEX workspace_invitations_token_hash_key ON workspace_invitations (token_hash);
-- NULL: anybody who has the link can accept.
ALTER TABLE workspace_invitations ALTER COLUMN email DROP NOT NULL,
  ADD CONSTRAINT workspace_invitations_have_an_addressee CHECK (email IS NOT NULL OR token_hash IS NOT NULL);

-- Whether the owner of the address is known to be the user. The holder of a link can enter any address.
ALTER TABLE users ADD COLUMN email_verified boolean NOT NULL DEFAULT true;
