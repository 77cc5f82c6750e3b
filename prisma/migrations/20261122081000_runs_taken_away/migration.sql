-- An agent that does not name its runs is told of those that were taken from it a moment ago. Most runs are ended by
-- their agent, and have no place in the index.
CREATE INDEX task_runs_taken_idx ON task_runs (workspace_id, agent_id, ended_at) WHERE ended_by <> 'agent';
