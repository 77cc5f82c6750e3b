-- The second factor of local accounts: one TOTP secret a user, sealed by a master key, and recovery codes as hashes.
-- Only the service role sees them.
CREATE TABLE user_factors (
  user_id      uuid PRIMARY KEY REFERENCES users (id) ON DELETE RESTRICT,
  sealed       text NOT NULL CHECK (sealed <> ''),
  -- NULL: the user is setting it up.
  confirmed_at timestamptz,
  -- The time step of the last accepted code. An earlier or equal one is a replay.
  last_step    bigint,
  created_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT user_factors_confirmed_by_a_code CHECK (confirmed_at IS NULL OR last_step IS NOT NULL)
);

CREATE TABLE user_recovery_codes (
  user_id uuid NOT NULL REFERENCES user_factors (user_id) ON DELETE CASCADE,
  hash    bytea NOT NULL CONSTRAINT user_recovery_codes_hash_check CHECK (length(hash) = 32),
  PRIMARY KEY (user_id, hash)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON user_factors, user_recovery_codes TO drover_service;
