-- Beats are numbered within each life of a gateway: one that arrives late must not undo what newer ones said.
ALTER TABLE gateways ADD COLUMN last_sequence bigint NOT NULL DEFAULT 0 CHECK (last_sequence >= 0);

-- The last beat that the gateway had made when it answered for the session: all later ones know of it.
ALTER TABLE session_spawns
  ADD COLUMN gateway_sequence bigint NOT NULL DEFAULT 0 CHECK (gateway_sequence >= 0);
