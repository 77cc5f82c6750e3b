-- A push agent whose sessions can't be started rests: it would end one task after the other.
ALTER TABLE agents
  ADD COLUMN setup_failures natural_number NOT NULL DEFAULT 0,
  ADD COLUMN resting_until timestamptz;
