-- A pause can wait for the end of the current turn of a coding agent.

ALTER TABLE task_runs ADD COLUMN pause_after_turn boolean NOT NULL DEFAULT false;
