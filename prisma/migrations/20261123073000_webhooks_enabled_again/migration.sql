-- Since when a webhook is enabled: messages that waited while it was not are given up 24 hours after that, not before.
-- The time of this migration for those that exist: what waits for them is given up a day later at most.
ALTER TABLE webhooks ADD COLUMN enabled_at timestamptz NOT NULL DEFAULT now();
