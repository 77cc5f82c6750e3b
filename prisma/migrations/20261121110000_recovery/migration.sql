-- What the recovery of hung runs, conflicts between runs and cycles of dependencies needs to remember and to find.

ALTER TABLE task_runs
  -- The last progress or checkpoint of the run. A move of the run's state, or a beat, is none.
  ADD COLUMN last_progress_at timestamptz,
  -- It seemed to hang, and its agent was told; progress takes it back.
  ADD COLUMN hung_warned_at timestamptz,
  -- Somebody still worked on it after another run of its task had begun; and when that was logged.
  ADD COLUMN conflict_seen_at timestamptz,
  ADD COLUMN conflict_told_at timestamptz;

CREATE INDEX task_runs_hung_idx ON task_runs (hung_warned_at)
  WHERE hung_warned_at IS NOT NULL AND state IN ('WORKING', 'STALE');
CREATE INDEX task_runs_conflict_idx ON task_runs (conflict_seen_at)
  WHERE conflict_seen_at IS NOT NULL AND conflict_told_at IS NULL;
CREATE INDEX agent_tasks_estimate_idx ON agent_tasks (estimated_completion_at)
  WHERE status = 'RUNNING' AND estimated_completion_at IS NOT NULL;
-- Tasks that wait and are waited for: only through them can a cycle run.
CREATE INDEX agent_tasks_between_idx ON agent_tasks (workspace_id, id)
  WHERE status = 'PENDING' AND unmet_dependencies > 0 AND has_dependents;
