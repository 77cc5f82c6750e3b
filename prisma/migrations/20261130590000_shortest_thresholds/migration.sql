-- The coordinator reads the shortest of these, and then only the agents that are silent for longer.
CREATE INDEX agents_stale_threshold_idx ON agents (stale_threshold_seconds);
CREATE INDEX agents_heartbeat_interval_idx ON agents (heartbeat_interval_seconds);
