-- The agents of a workspace whose heartbeats stopped. Terminated agents stay in the table.
CREATE INDEX agents_error_idx ON agents (workspace_id) WHERE lifecycle = 'ERROR';
