-- Sessions that a gateway runs or queues for others than us: they take places that no task can have.
ALTER TABLE gateways ADD COLUMN others natural_number NOT NULL DEFAULT 0;
