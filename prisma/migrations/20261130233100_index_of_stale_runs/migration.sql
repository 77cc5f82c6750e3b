-- Most cycles find no stale run, and so need not read the live runs of every agent.
CREATE INDEX task_runs_stale_idx ON task_runs (workspace_id, agent_id) WHERE state = 'STALE';
