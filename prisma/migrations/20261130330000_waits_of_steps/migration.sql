ALTER TABLE changes
  -- Since when a step waits for something that ends by itself: an outage, a limit or checks of the forge.
  ADD COLUMN step_waits_since timestamptz,
  -- Something happened at the forge while a host had the step. Hosts of the version before never see it.
  ADD COLUMN step_hurried boolean NOT NULL DEFAULT false;
GRANT UPDATE (step_waits_since, step_hurried) ON changes TO drover_app, drover_service;
