-- A host was about to push the change to its target, and no host has looked since whether it is there.
ALTER TABLE changes ADD COLUMN may_have_landed boolean NOT NULL DEFAULT false;
GRANT UPDATE (may_have_landed) ON changes TO drover_app, drover_service;
UPDATE changes SET may_have_landed = true WHERE state = 'APPROVED' AND landing_commits <> '{}';
