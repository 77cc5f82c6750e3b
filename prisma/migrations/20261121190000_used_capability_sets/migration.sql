-- When a set of capabilities was last known to be asked for, to the half day: what nobody has asked for in
-- a day, and no task that may still run needs, is removed. Creating a task writes it.
ALTER TABLE capability_sets ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
GRANT UPDATE (used_at) ON capability_sets TO drover_app;
