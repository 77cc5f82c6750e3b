-- A pause that also ends the live runs of its tasks. Servers of the version before only hold tasks back under it.
ALTER TABLE pauses ADD COLUMN ends_runs boolean NOT NULL DEFAULT false;
ALTER TABLE installation_pauses ADD COLUMN ends_runs boolean NOT NULL DEFAULT false;
