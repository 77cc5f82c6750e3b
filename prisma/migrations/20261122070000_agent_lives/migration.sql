-- The process that works as the agent, new at each of its starts: a second one at the same time is told from a restart.
-- Clients that do not say it are not told apart, as before.
ALTER TABLE agents ADD COLUMN boot_id uuid;
